"""What each client can enforce of the gate's answers; what it cannot, a person is told before they approve.

The gate answers everywhere. Whether its answer binds depends on the client: one with hooks asks before each
tool and obeys; one that only speaks MCP reads the answer and may go on. The table says what was built and
tested, not what a client could do.

Not here: the gate's rules (`gate`), a client's tool names (`capabilities`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec


class Enforcement(msgspec.Struct, frozen=True, kw_only=True):
    """`deny` and `ask` bind a tool call, `rewrite` runs a command in the sandbox, `set_mode` widens the client's
    own permission mode as the verdict says."""

    deny: bool = False
    ask: bool = False
    rewrite: bool = False
    set_mode: bool = False


NOTHING: Final = Enforcement()
BY_HOOKS: Final[Mapping[str, Enforcement]] = {"claude-code": Enforcement(deny=True, ask=True)}
"""Clients whose hooks are known, by the name of their sessions."""


def enforced(client: str, *, own_plan_mode: bool, attended: bool) -> Enforcement:
    """What holds in a session. `own_plan_mode` is declared by the client's hooks: without it none were heard.

    In an unattended session nothing is ever asked, so nothing is bound by asking.
    """
    found = BY_HOOKS.get(client, NOTHING) if own_plan_mode else NOTHING
    return found if attended else msgspec.structs.replace(found, ask=False)
