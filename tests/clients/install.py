"""The real clients, pinned: installed from their locks into the project's cache, which git ignores.

`packages/CLIENT` holds a client's lock. `CLIENTS` says where each one's program is. Node 22
comes from npm, too, because Pi and Qwen need it and machines have an older one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tests.support.npm import installed

PACKAGES = Path(__file__).parent / "packages"
CLIENTS: Mapping[str, str] = {
    "claude": "claude",
    "codex": "codex",
    "pi": "pi",
    "opencode": "opencode",
    "gemini": "gemini",
    "qwen": "qwen",
}


def node() -> Path:
    """The folder with the pinned `node`."""
    return _programs("node")


def program(client: str) -> Path:
    """A client's program, installed now if it is not there. Skips where its registry cannot be reached."""
    return _programs(client) / CLIENTS[client]


def package(client: str) -> Path:
    """The folder that a client's packages are installed in."""
    return installed(PACKAGES / client, f"the real client {client} is not driven")


def _programs(client: str) -> Path:
    return package(client) / "node_modules" / ".bin"
