"""The official SDK's client over the pipe: somebody else's reading of the protocol, in both eras."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_pipe import RUN_PIPE, SOURCE, host_command, kill_host


@pytest.fixture
def server(tmp_path: Path) -> Iterator[StdioServerParameters]:
    """How the client starts the pipe."""
    home = tmp_path / "home"
    arguments = ["-c", RUN_PIPE, repr(host_command(home)), "--home", str(home)]
    yield StdioServerParameters(command=sys.executable, args=arguments, env={"PYTHONPATH": str(SOURCE)})
    kill_host(home)


@pytest.mark.requirement("MCP-10")
@pytest.mark.parametrize(("mode", "version"), [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_the_official_client_does_not_notice_that_the_host_dies(
    server: StdioServerParameters, mode: Literal["auto", "legacy"], version: str
) -> None:
    async def talk() -> list[str]:
        async with Client(stdio_client(server), mode=mode) as client:
            assert client.protocol_version == version
            assert "count" in [tool.name for tool in (await client.list_tools()).tools]
            answers = [await client.call_tool(name, {}) for name in ("count", "count_and_die", "count")]
            return [answer.content[0].text for answer in answers]

    assert asyncio.run(talk()) == ["count 1", "count 2", "count 3"]
