"""A scripted agent for the demonstration: it speaks MCP through the real stdio pipe and knows only texts.

It forgets on command: after a compaction all that it has is what the `resume` tool gives back.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PROTOCOL = "2025-11-25"
_NEXT = re.compile(
    r'^Next action: (?:do|go on with) (P-\d+\.\d+) "(.*?)"(?: \(use id\))?, then tick it\.$', re.MULTILINE
)


class ToolError(Exception):
    """A tool answered with a refusal; the text says the code and what to do."""


class DemoAgent:
    """One agent process's worth of conversation over one pipe."""

    def __init__(self, home: Path, workspace: Path) -> None:
        environment = {**os.environ, "STANDFAST_HOME": str(home)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "standfast", "mcp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=workspace,
            env=environment,
        )
        self._ordinal = 0
        self.request(
            "initialize",
            {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": {"name": "demo-agent", "version": "1"}},
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def request(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """One request and its answer."""
        self._ordinal += 1
        self._send({"jsonrpc": "2.0", "id": self._ordinal, "method": method, "params": params})
        assert self._process.stdout is not None, "opened with a pipe"
        while line := self._process.stdout.readline():
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id") == self._ordinal:
                return answer
        raise ToolError("the pipe ended")

    def tool(self, name: str, **arguments: Any) -> str:
        """A tool call; its text. Raises `ToolError` with the text of a refusal."""
        answer = self.request("tools/call", {"name": name, "arguments": arguments})
        if "error" in answer:
            raise ToolError(str(answer["error"]["message"]))
        text = str(answer["result"]["content"][0]["text"])
        if answer["result"].get("isError"):
            raise ToolError(text)
        return text

    def next_task(self) -> tuple[str, str] | None:
        """Id and printed title of the next task, read from the resume view; None when there is none."""
        found = _NEXT.search(self.tool("resume"))
        return (found.group(1), found.group(2)) if found else None

    def close(self) -> None:
        """Ends the conversation as a client does: by closing the pipe's input."""
        assert self._process.stdin is not None, "opened with a pipe"
        self._process.stdin.close()
        self._process.wait(timeout=15)
        assert self._process.stdout is not None, "opened with a pipe"
        self._process.stdout.close()

    def _send(self, message: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None, "opened with a pipe"
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()
