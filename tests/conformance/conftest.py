"""Installs the official conformance suite and the Node that runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.npm import installed


@pytest.fixture(scope="session")
def suite() -> list[str]:
    """The command of the installed suite."""
    modules = installed(Path(__file__).parent, "MCP conformance suite left out") / "node_modules"
    return [str(modules / ".bin/node"), str(modules / "@modelcontextprotocol/conformance/dist/index.js")]
