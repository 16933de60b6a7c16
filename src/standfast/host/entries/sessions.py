"""Sessions, turns and the mode gate."""

from __future__ import annotations

from typing import Final

from standfast.host import branches, sessions, turns, upkeep
from standfast.host.operation import Operation

OPERATIONS: Final = (
    Operation(
        name="session.start",
        summary="Start or take up a client's session.",
        input=sessions.StartSession,
        handler=sessions.start,
        prepare=sessions.prepare_start,
        reveal=sessions.reveal_token,
    ),
    Operation(
        name="session.get",
        summary="Show one session.",
        input=sessions.NameSession,
        handler=sessions.get,
        effect="read",
    ),
    Operation(
        name="session.list",
        summary="List the newest sessions.",
        input=sessions.ListSessions,
        handler=sessions.list_all,
        effect="read",
    ),
    Operation(
        name="session.configure",
        summary="Change a session's configuration.",
        input=sessions.Configure,
        handler=sessions.configure,
    ),
    Operation(
        name="session.close",
        summary="Close a session and interrupt what it left pending.",
        input=sessions.NameSession,
        handler=sessions.close,
    ),
    Operation(
        name="session.compacted",
        summary="Report that the client compacted its context.",
        input=sessions.NameSession,
        handler=sessions.compacted,
    ),
    Operation(
        name="session.branch",
        summary="Report history entries and select a branch.",
        input=branches.SelectBranch,
        handler=branches.select,
    ),
    Operation(
        name="session.fork",
        summary="Start a session forked from another.",
        input=branches.Fork,
        handler=branches.fork,
        reveal=sessions.reveal_token,
    ),
    Operation(
        name="session.credential",
        summary="Issue a coordinator's credential for a session.",
        input=upkeep.NameCredential,
        handler=upkeep.credential,
        effect="read",
        reveal=upkeep.reveal_credential,
    ),
    Operation(
        name="session.disconnect",
        summary="Report that a session's connection ended.",
        input=turns.CloseConnection,
        handler=turns.close_connection,
    ),
    Operation(name="turn.start", summary="Begin a turn.", input=turns.StartTurn, handler=turns.start_turn),
    Operation(name="turn.end", summary="End a turn.", input=turns.EndTurn, handler=turns.end_turn),
    Operation(
        name="gate.check",
        summary="May this tool run now?",
        input=sessions.Gate,
        handler=sessions.check_gate,
        effect="read",
    ),
)
