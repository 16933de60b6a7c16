"""The doors through which a behaviour is tried: in process, over HTTP, and over MCP for the agent's steps.

A door takes a caller and a call and gives what was said. Each drives the real thing: the host's own `call`, a
uvicorn server on a unix socket, and the MCP endpoint behind it. Where an operation has no tool, or a step needs what
a model cannot say (a tool call's id), the MCP door goes over HTTP, as a client's hooks do.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import tempfile
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

import uvicorn
from starlette.applications import Starlette

from standfast.app.surfaces import build
from standfast.domain.change import Actor
from standfast.domain.errors import Refusal
from standfast.host.catalogue import CATALOGUE
from standfast.host.door import Host
from standfast.host.tokens import coordinator_token, session_token
from standfast.serve.auth import Keys

SECRET = b"s" * 32
TOKENS = {"operator": "o" * 64, "agent": "a" * 64, "observer": "b" * 64, "worker": "w" * 64}
MCP_VERSION = "2026-07-28"
CLIENT = "test"


@dataclass(frozen=True)
class Caller:
    """Who speaks: a role, the session that it is bound to, and the connection that carries it."""

    role: str
    session: str | None = None
    name: str = ""
    workspace: str = ""


@dataclass(frozen=True)
class Said:
    """An answer, or a refusal with its code. `text` is what a model reads."""

    code: str | None = None
    text: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    replayed: bool = False
    receipt: str = ""

    def ok(self) -> Said:
        """The same, when it was no refusal."""
        assert self.code is None, f"{self.code}: {self.text}"
        return self


class Door(Protocol):
    """One way to a host."""

    def call(self, caller: Caller, operation: str, payload: Mapping[str, Any], key: str | None) -> Said:
        """One call and its answer."""


def told(operation: str, result: Mapping[str, Any]) -> str:
    """What a model would read of a result."""
    tool = CATALOGUE[operation].tool
    return tool.text(result) if tool is not None else ""


class InProcess:
    """The host's own call."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def call(self, caller: Caller, operation: str, payload: Mapping[str, Any], key: str | None) -> Said:
        """One call and its answer."""
        actor = Actor(role=caller.role, session=caller.session, name=caller.name or caller.role, connection=caller.name)
        try:
            answer = self._host.call(operation, payload, actor, key)
        except Refusal as refusal:
            return Said(refusal.code, refusal.message, details=refusal.details)
        return Said(
            text=told(operation, answer.result), result=answer.result, replayed=answer.replayed, receipt=answer.receipt
        )


class _Socket(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=60)
        self._path = path

    def connect(self) -> None:
        """Connects to the socket file."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(60)
        self.sock.connect(self._path)


class Http:
    """The HTTP interface over a unix socket."""

    def __init__(self, path: str) -> None:
        self._path = path

    def call(self, caller: Caller, operation: str, payload: Mapping[str, Any], key: str | None) -> Said:
        """One call and its answer."""
        headers = {"Authorization": f"Bearer {token(caller)}"}
        if caller.session is not None and caller.role != "coordinator":
            proof = session_token(SECRET, caller.session) if caller.role == "agent" else caller.session
            headers["Standfast-Session"] = proof
        if caller.name:
            headers["Standfast-Client-Session"] = caller.name
        if key is not None:
            headers["Idempotency-Key"] = key
        status, body = self.post(f"/v1/op/{operation}", payload, headers)
        if status != 200:
            error = body["error"]
            return Said(error["code"], error["message"], details=error["details"])
        result = body["result"]
        return Said(text=told(operation, result), result=result, replayed=body["replayed"], receipt=body["receipt"])

    def post(self, path: str, payload: Mapping[str, Any], headers: Mapping[str, str]) -> tuple[int, Any]:
        """One POST; status and JSON body."""
        with contextlib.closing(_Socket(self._path)) as connection:
            connection.request("POST", path, json.dumps(payload), dict(headers))
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())


def token(caller: Caller) -> str:
    """The bearer of a caller."""
    if caller.role == "coordinator":
        assert caller.session is not None, "a coordinator has a session"
        return coordinator_token(SECRET, caller.session)
    return TOKENS[caller.role]


class Mcp(Http):
    """As `Http`; an agent's tools are called over MCP."""

    def call(self, caller: Caller, operation: str, payload: Mapping[str, Any], key: str | None) -> Said:
        """One call and its answer; what a tool answers is text only."""
        tool = CATALOGUE[operation].tool if operation in CATALOGUE else None
        if caller.role != "agent" or not caller.workspace or tool is None or set(payload) & set(tool.hidden):
            return super().call(caller, operation, payload, key)
        headers = {
            "Authorization": f"Bearer {TOKENS['operator']}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Mcp-Protocol-Version": MCP_VERSION,
            "Mcp-Method": "tools/call",
            "Mcp-Name": tool.name,
            "Standfast-Client-Session": quote(caller.name),
            "Standfast-Client": CLIENT,
            "Standfast-Workspace": quote(caller.workspace),
        }
        if key is not None:
            headers["Idempotency-Key"] = key
        meta = {
            "io.modelcontextprotocol/protocolVersion": MCP_VERSION,
            "io.modelcontextprotocol/clientInfo": {"name": CLIENT, "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        params = {"name": tool.name, "arguments": dict(payload), "_meta": meta}
        _, body = self.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, headers)
        result = body["result"]
        text = result["content"][0]["text"]
        if result.get("isError"):
            code, _, message = text.partition(": ")
            return Said(code, message)
        return Said(text=text)


@contextlib.contextmanager
def served(host: Host, home: Path) -> Iterator[str]:
    """A server for the host; the path of its socket."""
    surfaces = build(host, Keys(TOKENS, SECRET), home)

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with surfaces.mcp.running():
            yield

    with tempfile.TemporaryDirectory(prefix="sf-") as folder:
        path = str(Path(folder) / "s")
        app = Starlette(routes=surfaces.routes, lifespan=lifespan)
        server = uvicorn.Server(uvicorn.Config(app, uds=path, log_level="error", timeout_graceful_shutdown=1))
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
            listening.bind(path)
            listening.listen(64)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
            thread.start()
            try:
                yield path
            finally:
                server.should_exit = True
                thread.join(20)
                assert not thread.is_alive(), "the server ended"
