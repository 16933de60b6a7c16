"""The endpoint's life: a late SDK, a warm start, a failed start, an orderly end."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from mcp_standin import StandinSurface

from standfast.serve.mcp import McpEndpoint

PARAMS = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
INITIALIZE = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": PARAMS}).encode()


async def ask(endpoint: McpEndpoint, *, host: str = "localhost", origin: str | None = None) -> int:
    """Send one initialize and return the HTTP status."""
    headers = [(b"host", host.encode()), (b"content-type", b"application/json")]
    headers.append((b"accept", b"application/json, text/event-stream"))
    if origin is not None:
        headers.append((b"origin", origin.encode()))
    body = [{"type": "http.request", "body": INITIALIZE, "more_body": False}]
    sent: list[Any] = []

    async def receive() -> Any:
        if body:
            return body.pop()
        return await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/mcp", "query_string": b"", "headers": headers}
    scope |= {"scheme": "http", "server": None, "client": None, "http_version": "1.1", "root_path": ""}
    await endpoint(scope, receive, send)
    return int(sent[0]["status"])


def test_the_first_requests_share_one_load_and_the_end_is_told_with_503(tmp_path: Path) -> None:
    async def life() -> None:
        endpoint = McpEndpoint(StandinSurface(tmp_path))
        async with endpoint.running():
            assert await asyncio.gather(*(ask(endpoint) for _ in range(4)), endpoint.warm()) == [200] * 4 + [None]
        assert await ask(endpoint) == 503
        await endpoint.aclose()

    asyncio.run(life())


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("127.0.0.1:4747", "http://127.0.0.1:4747", 200),
        ("[::1]:4747", None, 200),
        ("rebound.example:4747", None, 421),
        ("localhost.example", None, 421),
        ("localhost:4747", "http://page.example", 403),
        ("localhost:4747", "null", 403),
    ],
)
def test_only_local_hosts_and_origins_are_served(tmp_path: Path, host: str, origin: str | None, status: int) -> None:
    async def life() -> int:
        endpoint = McpEndpoint(StandinSurface(tmp_path))
        async with endpoint.running():
            return await ask(endpoint, host=host, origin=origin)

    assert asyncio.run(life()) == status


def test_a_load_that_fails_is_told_and_tried_again(tmp_path: Path) -> None:
    class Late(StandinSurface):
        broken = True

        @property
        def instructions(self) -> str:
            if self.broken:
                raise RuntimeError("not yet")
            return "now"

    async def life() -> None:
        surface = Late(tmp_path)
        endpoint = McpEndpoint(surface)
        async with endpoint.running():
            with pytest.raises(RuntimeError, match="not yet"):
                await endpoint.warm()
            surface.broken = False
            assert await ask(endpoint) == 200

    asyncio.run(life())
