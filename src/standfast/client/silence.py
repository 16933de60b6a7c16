"""The stdio server where Standfast is switched off.

A client that starts the stdio server all the same gets one that offers nothing: no tools, no host, no files,
no complaint. It reads no configuration and touches no disk.
"""

import json
import sys
from typing import IO

from standfast.client.jsonrpc import error_line

METHOD_NOT_FOUND = -32601
_LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


def serve_nothing(out: IO[bytes]) -> None:
    """Answers the client on stdin until its input ends, with nothing to offer."""
    for line in sys.stdin.buffer:
        answer = _answer(line)
        if answer is not None:
            out.write(answer + b"\n")
            out.flush()


def _answer(line: bytes) -> bytes | None:
    try:
        message = json.loads(line)
    except ValueError:
        return None
    if not isinstance(message, dict) or "id" not in message or "method" not in message:
        return None
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        result = {
            "protocolVersion": params.get("protocolVersion", ""),
            "capabilities": {},
            "serverInfo": {"name": "standfast", "version": "off"},
        }
    elif method == "ping":
        result = {}
    elif method in _LISTS:
        result = {_LISTS[method]: []}
    else:
        return error_line(message["id"], METHOD_NOT_FOUND, "Standfast is switched off here.")
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()
