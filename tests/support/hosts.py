"""A real host process on a temporary home, and callers that speak to it as programs do.

`running_host` starts `standfast up --foreground` and stops it by its own process id. `Caller` is a plain HTTP
client over the unix socket or loopback TCP; nothing of the product's own client is used, so that the wire
itself is tested. `Agent` speaks MCP through a real `standfast mcp` process.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.processes import Process, running, wait_until

PLAN = "# Plan\n\n## Steps\n\n- [ ] one\n- [ ] two\n- [ ] three\n"
PYTHON = [sys.executable, "-P", "-m", "standfast"]


class _Local(http.client.HTTPConnection):
    """HTTP over a unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=60)
        self._path = path

    def connect(self) -> None:
        """Connects to the socket file instead of a port."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(60)
        self.sock.connect(str(self._path))


@dataclass(frozen=True)
class Reply:
    """An HTTP answer: its status, headers (lower case) and body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The refusal's code."""
        return str(self.json["error"]["code"])


@dataclass
class Running:
    """A running host. `pid` is its own; after `kill` a new one must be started."""

    home: Path
    process: Process
    environ: dict[str, str] = field(default_factory=dict)

    @property
    def facts(self) -> dict[str, Any]:
        """What the host announced."""
        facts: dict[str, Any] = json.loads((self.home / "host.json").read_bytes())
        return facts

    def token(self, role: str) -> str:
        """A role's token."""
        return (self.home / "tokens" / role).read_text()

    def request(self, verb: str, path: str, body: Any = None, *, tcp: bool = False, **headers: str) -> Reply:
        """One request; header names with underscores for dashes."""
        connection: http.client.HTTPConnection
        if tcp:
            connection = http.client.HTTPConnection("127.0.0.1", self.facts["port"], timeout=60)
        else:
            connection = _Local(self.home / "host.sock")
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        with contextlib.closing(connection):
            connection.request(verb, path, data, sent)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Reply(answer.status, found, answer.read())

    def op(self, operation: str, payload: Mapping[str, Any], role: str = "operator", **headers: str) -> Reply:
        """One operation under a role's token."""
        bearer = f"Bearer {self.token(role)}"
        return self.request("POST", f"/v1/op/{operation}", dict(payload), tcp=False, Authorization=bearer, **headers)

    def done(self, operation: str, payload: Mapping[str, Any], role: str = "operator", **headers: str) -> Any:
        """An operation that must succeed; its result."""
        reply = self.op(operation, payload, role, **headers)
        assert reply.status == 200, reply.body
        return reply.json["result"]

    def session(self, workspace: Path, name: str = "one", **more: Any) -> tuple[str, str]:
        """A started session: its id and its token."""
        workspace.mkdir(exist_ok=True)
        payload = {"client": "test", "client_session_id": name, "workspace": str(workspace), **more}
        result = self.done("session.start", payload, "agent")
        return result["session"], result["token"]

    def approved(self, workspace: Path, markdown: str = PLAN, name: str = "one") -> tuple[dict[str, Any], str]:
        """A plan submitted by an agent and approved by the operator; the plan and the session's token."""
        _, token = self.session(workspace, name)
        wish = {"title": "Plan", "question": "Go?", "markdown": markdown}
        plan = self.done("plan.submit", wish, "agent", Standfast_Session=token)
        verdict = {"plan": plan["plan"], "version": plan["version"], "sha256": plan["sha256"], "mode": "ask"}
        self.done("plan.approve", verdict)
        return plan, token


def stop_any(home: Path) -> None:
    """Stops the host that an agent's pipe started on demand, by the process id that it announced."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        pid = int(json.loads((home / "host.json").read_bytes())["pid"])
        os.kill(pid, signal.SIGTERM)

        def gone() -> bool:
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                return True
            status = Path(f"/proc/{pid}/stat")
            return status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z"

        wait_until(gone, "the host that was started on demand to end", 30)


@contextlib.contextmanager
def running_host(home: Path, *options: str, program: Sequence[str] | None = None) -> Iterator[Running]:
    """A host in the foreground on `home`, ready when the block begins; `program` instead of `standfast up`."""
    environ = {**os.environ, "STANDFAST_HOME": str(home)}
    command = program or [*PYTHON, "up", "--foreground", "--home", str(home), "--port", "0", *options]
    with running(command, env=environ) as process:
        announced = home / "host.json"
        pid = str(process.pid).encode()

        def ready() -> bool:
            assert process.running(), process.output()
            return announced.exists() and pid in announced.read_bytes()

        wait_until(ready, "the host to announce itself", 30)
        yield Running(home, process, environ)


class Agent:
    """An MCP client of one `standfast mcp` process."""

    def __init__(self, home: Path, workspace: Path, name: str | None = None, *options: str) -> None:
        environ = {**os.environ, "STANDFAST_HOME": str(home)}
        if name is not None:
            environ["STANDFAST_CLIENT_SESSION"] = name
        workspace.mkdir(exist_ok=True)
        self._pipe = subprocess.Popen(
            [*PYTHON, "mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=workspace, env=environ
        )
        self._ordinal = 0
        client = {"name": "test-agent", "version": "1"}
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def request(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """One request; its result."""
        self._ordinal += 1
        self._send({"jsonrpc": "2.0", "id": self._ordinal, "method": method, "params": params})
        assert self._pipe.stdout is not None
        while line := self._pipe.stdout.readline():
            answer = json.loads(line)
            if answer.get("id") == self._ordinal:
                assert "result" in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
        raise AssertionError("the pipe ended")

    def tool(self, name: str, **arguments: Any) -> str:
        """A tool's text; a refusal's text begins with its code."""
        result = self.request("tools/call", {"name": name, "arguments": arguments})
        return str(result["content"][0]["text"])

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._pipe.stdin is not None
        self._pipe.stdin.write(json.dumps(message).encode() + b"\n")
        self._pipe.stdin.flush()

    def close(self) -> int:
        """Closes the pipe's input, as a client does; its exit status."""
        assert self._pipe.stdin is not None
        assert self._pipe.stdout is not None
        self._pipe.stdin.close()
        code = self._pipe.wait(20)
        self._pipe.stdout.close()
        return code

    def __enter__(self) -> Agent:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()
