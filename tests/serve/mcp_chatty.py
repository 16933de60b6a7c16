"""A host that speaks of its own accord, as the protocol allows and the endpoint may do one day.

    mcp_chatty.py HOME

It knows one session at a time, and a session only after `notifications/initialized`; `forget` makes it
forget. On any other call it sends progress, asks the client for its roots, and answers with what the client
said; on the session's own stream it announces that its tools have changed. Every answer is an event stream,
cut into awkward pieces.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route


class Chatty:
    """One session's worth of talk."""

    def __init__(self) -> None:
        self._said = asyncio.Queue[object]()
        self._session = 0
        self._initialized = False

    async def post(self, request: Request) -> Response:
        """Answer what the client says."""
        message = await request.json()
        if message.get("method") != "initialize" and request.headers.get("mcp-session-id") != str(self._session):
            return Response(status_code=404)
        if "result" in message:
            await self._said.put(message["result"])
            return Response(status_code=202)
        match message["method"]:
            case "initialize":
                result = {
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {"listChanged": True}},
                    "serverInfo": {"name": "chatty", "version": "1"},
                }
                body = {"jsonrpc": "2.0", "id": message["id"], "result": result}
                self._session += 1
                self._initialized = False
                return JSONResponse(body, headers={"Mcp-Session-Id": str(self._session)})
            case "notifications/initialized":
                self._initialized = True
            case "tools/call" if not self._initialized:
                error = {"code": -32600, "message": "not initialized"}
                return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "error": error})
            case "tools/call" if message["params"]["name"] == "forget":
                self._session += 1
                result = {"content": [{"type": "text", "text": "forgotten"}]}
                return JSONResponse({"jsonrpc": "2.0", "id": message["id"], "result": result})
            case "tools/call":
                return stream(self._talk(message))
        return Response(status_code=202)

    async def get(self, request: Request) -> Response:
        """The session's own stream."""
        if request.headers.get("mcp-session-id") != str(self._session):
            return Response(status_code=404)
        return stream(self._announce())

    async def _talk(self, message: dict[str, object]) -> AsyncIterator[object]:
        yield {"method": "notifications/progress", "params": {"progressToken": 1, "progress": 0.5}}
        # The same id as the client's own request: only the direction tells them apart.
        yield {"id": message["id"], "method": "roots/list"}
        yield {
            "id": message["id"],
            "result": {"content": [{"type": "text", "text": json.dumps(await self._said.get())}]},
        }

    async def _announce(self) -> AsyncIterator[object]:
        yield {"method": "notifications/tools/list_changed"}
        await asyncio.Event().wait()


def stream(messages: AsyncIterator[object]) -> StreamingResponse:
    """An event stream in pieces of a few bytes, with comments and ids between the events."""

    async def pieces() -> AsyncIterator[bytes]:
        yield b": hello\r\n\r\nid: 1\r\ndata:\r\n\r\n"
        async for message in messages:
            text = json.dumps({"jsonrpc": "2.0", **message}, indent=1).replace("\n", "\ndata: ")
            event = f"event: message\ndata: {text}\n\n".encode()
            for start in range(0, len(event), 7):
                yield event[start : start + 7]

    return StreamingResponse(pieces(), media_type="text/event-stream")


if __name__ == "__main__":
    home = Path(sys.argv[1])
    chatty = Chatty()
    routes = [Route("/mcp", chatty.post, methods=["POST"]), Route("/mcp", chatty.get, methods=["GET"])]
    uvicorn.run(Starlette(routes=routes), uds=str(home / "host.sock"), log_level="warning")
