"""A small host for tests of the wire: the real endpoint on a real uvicorn, over tools that a test steers.

It keeps what a host must keep over a SIGKILL (a counter, and receipts by idempotency key) as files in its
home and refuses a wrong token. It is not a model of the product: what the tools do is only what the tests of
the pipe and the conformance suite need.

    mcp_standin.py HOME            on HOME/host.sock, needs the token in HOME/tokens/agent
    mcp_standin.py HOME --tcp      on a free loopback port (printed), without a token
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from standfast.serve.mcp import McpEndpoint, Receive, Scope, Send
from standfast.serve.surface import (
    BadPromptArguments,
    CallContext,
    PromptArgument,
    PromptSpec,
    ResourceSpec,
    ResourceText,
    ToolAnswer,
    ToolSpec,
    UnknownPrompt,
    UnknownResource,
    UnknownTool,
)

TOKEN = "token-of-the-agent"
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
NOTHING: dict[str, object] = {"type": "object", "properties": {}}


class StandinSurface:
    """Tools that count, wait, fail and kill."""

    name = "standin"
    version = "0.0.1"
    instructions = "Tools for tests."

    def __init__(self, home: Path) -> None:
        self._home = home
        self._released = asyncio.Event()

    def tools(self, profile: str) -> Sequence[ToolSpec]:
        if profile == "narrow":
            return [ToolSpec("echo", "Say it back.", TEXT)]
        return [
            ToolSpec("echo", "Say it back.", TEXT, read_only=True),
            ToolSpec("count", "Count once; the same key counts once.", NOTHING),
            ToolSpec("count_and_die", "Count, then die before answering; the receipt answers later.", NOTHING),
            ToolSpec("die", "Die without having done anything, the first time.", NOTHING),
            ToolSpec("die_always", "Die every time.", NOTHING),
            ToolSpec("wait", "Wait until released.", NOTHING),
            ToolSpec("release", "Release who waits.", NOTHING),
            ToolSpec("refuse", "Refuse with a text.", NOTHING),
            ToolSpec("test_error_handling", "The conformance suite's name for a tool that refuses.", NOTHING),
            ToolSpec("break", "Fail inside.", NOTHING),
            ToolSpec("context", "What the surface was told about the caller, as JSON.", NOTHING),
        ]

    async def call(self, name: str, arguments: Mapping[str, object], context: CallContext) -> ToolAnswer:
        self._note("calls", name)
        match name:
            case "echo":
                text = arguments.get("text")
                return ToolAnswer(text) if isinstance(text, str) else ToolAnswer("invalid: send text", is_error=True)
            case "count" | "count_and_die":
                return self._count(context.idempotency_key, die=name == "count_and_die")
            case "die":
                self._die_unless_died()
                return ToolAnswer("alive")
            case "die_always":
                os.kill(os.getpid(), signal.SIGKILL)
            case "wait":
                return await self._wait()
            case "release":
                self._released.set()
                return ToolAnswer("released")
            case "refuse" | "test_error_handling":
                return ToolAnswer("not_open: send plan_enter first", is_error=True)
            case "break":
                raise RuntimeError("a secret of the inside")
            case "context":
                return ToolAnswer(json.dumps(asdict(context)))
        raise UnknownTool(name)

    def resources(self, context: CallContext) -> Sequence[ResourceSpec]:
        return [
            ResourceSpec("standin://state", "state", "A small resource."),
            ResourceSpec("standin://item/{id}", "item", "One item.", template=True),
        ]

    async def read(self, uri: str, context: CallContext) -> ResourceText:
        if uri != "standin://state":
            raise UnknownResource(uri)
        return ResourceText(uri, "# State")

    def prompts(self) -> Sequence[PromptSpec]:
        return [PromptSpec("greet", "A small prompt.", (PromptArgument("who", "Whom to greet.", required=True),))]

    async def prompt(self, name: str, arguments: Mapping[str, str], context: CallContext) -> str:
        if name != "greet":
            raise UnknownPrompt(name)
        if "who" not in arguments:
            raise BadPromptArguments("greet needs the argument who")
        return f"Greet {arguments['who']}."

    async def _wait(self) -> ToolAnswer:
        self._note("waits", "began")
        try:
            await self._released.wait()
        except asyncio.CancelledError:
            self._note("waits", "cancelled")
            raise
        return ToolAnswer("released")

    def _count(self, key: str | None, *, die: bool) -> ToolAnswer:
        receipt = self._home / "receipts" / str(key)
        if not receipt.exists():
            counter = self._home / "counter"
            number = int(counter.read_text()) + 1 if counter.exists() else 1
            counter.write_text(str(number))
            receipt.parent.mkdir(exist_ok=True)
            receipt.write_text(f"count {number}")
            if die:
                os.kill(os.getpid(), signal.SIGKILL)
        return ToolAnswer(receipt.read_text())

    def _die_unless_died(self) -> None:
        mark = self._home / "died"
        if not mark.exists():
            mark.write_text("")
            os.kill(os.getpid(), signal.SIGKILL)

    def _note(self, file: str, text: str) -> None:
        with (self._home / f"{file}.log").open("a") as log:
            log.write(f"{text}\n")


class TokenCheck:
    """What the host's HTTP layer does in front of the endpoint."""

    def __init__(self, app: McpEndpoint) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if dict(scope["headers"]).get(b"authorization") != f"Bearer {TOKEN}".encode():
            await Response("no token", 401)(scope, receive, send)
            return
        await self._app(scope, receive, send)


def application(home: Path, *, checked: bool) -> Starlette:
    """The application: the endpoint, and the place where a pipe says that it has gone."""
    endpoint = McpEndpoint(StandinSurface(home))

    async def closed(request: Request) -> Response:
        with (home / "closed.log").open("a") as log:
            log.write(request.headers["standfast-client-session"] + "\n")
        return Response(status_code=204)

    return Starlette(
        routes=[
            Route("/mcp", endpoint=TokenCheck(endpoint) if checked else endpoint),
            Route("/v1/connection/closed", closed, methods=["POST"]),
        ],
        lifespan=lambda app: endpoint.running(),
    )


def main(home: Path, *, tcp: bool) -> None:
    """Serve until killed."""
    home.mkdir(exist_ok=True)
    (home / "host.pid").write_text(str(os.getpid()))
    with (home / "starts.log").open("a") as log:
        log.write(f"{os.getpid()}\n")
    app = application(home, checked=not tcp)
    options = {"log_level": "warning", "timeout_graceful_shutdown": 1}
    if not tcp:
        (home / "tokens").mkdir(exist_ok=True)
        (home / "tokens" / "agent").write_text(TOKEN)
        uvicorn.run(app, uds=str(home / "host.sock"), **options)
        return
    listening = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    uvicorn.Server(uvicorn.Config(app, **options)).run(sockets=[listening])


if __name__ == "__main__":
    main(Path(sys.argv[1]), tcp="--tcp" in sys.argv)
