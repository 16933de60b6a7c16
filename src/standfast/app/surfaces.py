"""Every surface of a host, mounted once."""

from __future__ import annotations

from pathlib import Path

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from standfast.domain.errors import Refusal
from standfast.host.door import Host
from standfast.serve.agent import AgentSurface
from standfast.serve.auth import Keys, identify
from standfast.serve.conversations import Conversations
from standfast.serve.hooks.route import Hooks
from standfast.serve.http import Api, guarded, refused, respond
from standfast.serve.mcp import McpEndpoint
from standfast.serve.mcp_headers import context_of
from standfast.serve.web.routes import Page


class Surfaces(msgspec.Struct, frozen=True):
    """The routes and the MCP endpoint, whose life the process holds."""

    routes: list[Route]
    mcp: McpEndpoint


class Guard:
    """The MCP endpoint behind the token check. Whatever the token's role, the surface is the agent's."""

    def __init__(self, inner: McpEndpoint, keys: Keys) -> None:
        self._inner = inner
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers 401 without a token of this home."""
        request = Request(scope, receive)
        try:
            identify({**request.headers, "standfast-session": ""}, self._keys)
        except Refusal as refusal:
            await refused(refusal)(scope, receive, send)
            return
        await self._inner(scope, receive, send)


def build(host: Host, keys: Keys, home: Path) -> Surfaces:
    """The surfaces of a host."""
    api = Api(host, keys)
    conversations = Conversations()
    agent = AgentSurface(api, conversations)
    mcp = McpEndpoint(agent)

    async def closed(request: Request) -> Response:
        identify({**request.headers, "standfast-session": ""}, keys)
        await agent.disconnected(context_of(request.headers, "", client_name=None, protocol_version="", meta={}))
        return respond({"ok": True})

    routes = [
        *api.routes(),
        *Page(api, keys).routes(),
        *Hooks(api, keys, conversations).routes(),
        Route("/v1/connection/closed", guarded(closed), methods=["POST"]),
        Route("/mcp", endpoint=Guard(mcp, keys)),
    ]
    return Surfaces(routes, mcp)
