"""The catalogue: every operation, once. HTTP, MCP, CLI, OpenAPI and the reference are derived from it."""

from __future__ import annotations

from typing import Final

from standfast.host.entries import contexts, plans, sessions, todos, upkeep, watching
from standfast.host.operation import Operation

_GROUPS: Final = (sessions, plans, todos, contexts, upkeep, watching)

CATALOGUE: Final[dict[str, Operation]] = {entry.name: entry for group in _GROUPS for entry in group.OPERATIONS}
