"""The `/mcp` endpoint as an ASGI application whose heavy half arrives late.

Theory of operation
-------------------
The MCP SDK takes longer to import than the host takes to start. So this module is light: the endpoint is
mounted at once, the SDK is imported in a thread by `warm()` (which the host calls right after it is ready) or
by the first request, whichever comes first, and both wait for the same load. The SDK's session manager must
be entered and left in one task; a small owner task does that for the endpoint's whole life.

Invariants
- One endpoint, one manager, mounted once: sessions of both eras and of all transports live in it.
- A failed load is reported to the request that asked and tried again by the next one.
- After `aclose()` every request is answered 503; open sessions end.

Not here: authentication. Mount the endpoint behind the HTTP layer's token check; whatever the token, what is
served is the agent's surface.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

from standfast.serve.surface import ToolSurface

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

LOCAL_HOSTS = ("localhost", "localhost:*", "127.0.0.1", "127.0.0.1:*", "[::1]", "[::1]:*")
LOCAL_ORIGINS = ("http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*")


class _Manager(Protocol):
    """What is used of the SDK's session manager."""

    async def handle_request(self, scope: Scope, receive: Receive, send: Send) -> None: ...


class McpEndpoint:
    """ASGI application that serves one `ToolSurface` over streamable HTTP in both protocol eras.

    `allowed_hosts` and `allowed_origins` are exact values or `name:*`; a request with another `Host` is
    answered 421, with another `Origin` 403. Use `running()` (or call `aclose()` yourself) so that open
    sessions end with the host.
    """

    def __init__(
        self,
        surface: ToolSurface,
        *,
        allowed_hosts: Sequence[str] = LOCAL_HOSTS,
        allowed_origins: Sequence[str] = LOCAL_ORIGINS,
    ) -> None:
        self._surface = surface
        self._allowed_hosts = tuple(allowed_hosts)
        self._allowed_origins = tuple(allowed_origins)
        self._owner: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[_Manager] | None = None
        self._stop = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one HTTP request; the first one waits for the SDK."""
        if self._stop.is_set():
            await _plain(send, 503, b"The host is stopping.")
            return
        manager = await self._loaded()
        await manager.handle_request(_trimmed(scope), receive, send)

    async def warm(self) -> None:
        """Import the SDK and start the manager now; returns when both are there. Raises ImportError."""
        await self._loaded()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """The endpoint's life, for an ASGI lifespan."""
        try:
            yield
        finally:
            await self.aclose()

    async def aclose(self) -> None:
        """End every session and stop. Idempotent."""
        self._stop.set()
        if self._owner is not None:
            await asyncio.wait({self._owner})

    async def _loaded(self) -> _Manager:
        if self._ready is None or (self._ready.done() and self._ready.exception() is not None):
            self._ready = asyncio.get_running_loop().create_future()
            self._owner = asyncio.create_task(self._own(self._ready), name="mcp-endpoint")
        # A waiter that is cancelled must not cancel the load for the others.
        return await asyncio.shield(self._ready)

    async def _own(self, ready: asyncio.Future[_Manager]) -> None:
        """Import, enter the manager, hand it out, and stay until the endpoint closes."""
        try:
            handlers = await asyncio.to_thread(importlib.import_module, "standfast.serve.mcp_handlers")
            manager = handlers.build_manager(
                self._surface, allowed_hosts=self._allowed_hosts, allowed_origins=self._allowed_origins
            )
        except Exception as problem:
            ready.set_exception(problem)
            return
        async with manager.run():
            ready.set_result(manager)
            await self._stop.wait()


def _trimmed(scope: Scope) -> Scope:
    """The scope with header values as HTTP means them: httptools keeps the white space after a value."""
    if scope["type"] != "http":
        return scope
    return {**scope, "headers": [(name, value.strip(b" \t")) for name, value in scope["headers"]]}


async def _plain(send: Send, status: int, body: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": body})
