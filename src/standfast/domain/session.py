"""Sessions, turns and branch entries: who is talking, and where in their history.

A session is one conversation of one client, known by `(client, client_session_id)`. It has at most one active
turn (a partial unique index repeats that). Ticks are facts of the branch entry at which they happened; mode,
permission mode, verdicts and executions belong to the session and do not move with the branch.

A turn is known by `(session, process, client turn id)`. Where a client reports turns, a new id closes the
older turn as `lost`; where nothing reports them the connection is the turn, and it makes nothing busy.

Not here: plans (`plan`), what a tool may do (`gate`).
"""

from __future__ import annotations

from typing import Final

import msgspec

from standfast.domain.change import Change, Context, Event, Put, Row
from standfast.domain.errors import Refusal
from standfast.domain.machine import Machine

KINDS: Final = ("interactive", "scheduled", "ephemeral", "configuration")
MODES: Final = ("agent", "plan")
PERMISSION_MODES: Final = ("client", "ask", "accept_edits", "auto")
TURN_SOURCES: Final = ("prompt", "message", "connection")
STOP_REASONS: Final = ("completed", "aborted", "error", "lost")
FORMER_PROCESSES: Final = 8
START_SOURCES: Final = ("startup", "resume", "clear", "compact", "fork", "connect")

SESSION: Final = Machine(
    "session",
    "open",
    {("open", "close"): "closed", ("closed", "start"): "open"},
)
TURN: Final = Machine("turn", "active", {("active", "end"): "ended"})


class Project(Row, frozen=True):
    """What worktrees share. `identity` is the git common directory, a declared id, or the path."""

    id: str
    identity: str
    plan_seq: int
    created_at: int


class Session(Row, frozen=True):
    """One conversation of one agent client.

    `leaf_entry` is the selected branch's newest entry, None where the client has no tree. `marker_shown` is
    the newest marker that is still in the model's context; `marker_due` says that it must be shown again.
    `reports_turns` becomes true with the first turn that the client itself reports. `view_shown` is the digest
    of the newest resume view that is still in the model's context, empty without one.
    """

    id: str
    status: str
    client: str
    client_session_id: str
    project_id: str | None
    checkout: str | None
    kind: str
    mode: str
    permission_mode: str
    model: str
    attended: bool
    own_plan_mode: bool
    reports_turns: bool
    shared: bool
    process: str
    former_processes: tuple[str, ...]
    parent_id: str | None
    fork_entry: str | None
    leaf_entry: str | None
    marker_shown: str
    marker_due: bool
    compactions: int
    created_at: int
    updated_at: int
    view_shown: str = ""


class Turn(Row, frozen=True):
    """One response cycle. `source` is `prompt`, `message` or `connection`; an end is immutable."""

    id: str
    session_id: str
    status: str
    source: str
    process: str
    client_turn_id: str
    stop_reason: str | None
    started_at: int
    ended_at: int | None


class Entry(Row, frozen=True):
    """One node of a client's history tree; `parent` is None at its root."""

    session_id: str
    entry_id: str
    parent: str | None
    created_at: int


def aggregate(session_id: str) -> str:
    """The name of a session's hash chain."""
    return f"session:{session_id}"


def changed(
    before: Session, ctx: Context, kind: str, data: dict[str, object], **fields: object
) -> tuple[Session, Event]:
    """The session with `fields` replaced and the event that says so."""
    after = msgspec.structs.replace(before, updated_at=ctx.now, **fields)
    return after, Event(kind, aggregate(before.id), before.id, data, (Put(before, after),))


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """How a session is first known: identity, workspace as located on disk, and what its starter declares."""

    client: str
    client_session_id: str
    project_id: str | None = None
    checkout: str | None = None
    kind: str = "interactive"
    attended: bool = True
    own_plan_mode: bool = False
    process: str = ""
    parent_id: str | None = None
    fork_entry: str | None = None


def opened(opening: Opening, ctx: Context, leaf_entry: str | None = None) -> tuple[Session, Event]:
    """A new session in agent mode, with the client's own permission mode."""
    session = Session(
        id=ctx.new_id("ses"),
        status=SESSION.initial,
        client=opening.client,
        client_session_id=opening.client_session_id,
        project_id=opening.project_id,
        checkout=opening.checkout,
        kind=opening.kind,
        mode="agent",
        permission_mode="client",
        model="",
        attended=opening.attended,
        own_plan_mode=opening.own_plan_mode,
        reports_turns=False,
        shared=False,
        process=opening.process,
        former_processes=(),
        parent_id=opening.parent_id,
        fork_entry=opening.fork_entry,
        leaf_entry=leaf_entry,
        marker_shown="",
        marker_due=True,
        compactions=0,
        created_at=ctx.now,
        updated_at=ctx.now,
    )
    data: dict[str, object] = {"client": opening.client, "kind": opening.kind, "parent": opening.parent_id}
    return session, Event("session.started", aggregate(session.id), session.id, data, (Put(None, session),))


def resumed(session: Session, source: str, process: str, ctx: Context) -> tuple[Session, tuple[Event, ...]]:
    """A known session started again: reopened, and its marker is due wherever the model's context was lost.

    `connect` is a connection that came back, for example after a restart of the host: it proves nothing about
    the client's process or its context.
    """
    session, events = (session, ()) if source == "connect" else taken_over(session, process, ctx)
    fields: dict[str, object] = {}
    if session.status == "closed":
        fields["status"] = SESSION.step(session.status, "start", f"session {session.id}")
    if source == "compact":
        fields |= {"marker_shown": "", "view_shown": "", "marker_due": True, "compactions": session.compactions + 1}
    elif source not in ("startup", "connect"):
        fields["marker_due"] = True
    if not fields or all(getattr(session, name) == value for name, value in fields.items()):
        return session, events
    after, event = changed(session, ctx, "session.resumed", {"source": source}, **fields)
    return after, (*events, event)


def taken_over(session: Session, process: str, ctx: Context) -> tuple[Session, tuple[Event, ...]]:
    """Notes which process speaks for the session.

    A process that reports again after another has taken over flags the session as shared: two programs
    write into one conversation, and a person should know.
    """
    if not process or process == session.process:
        return session, ()
    former = tuple(name for name in (*session.former_processes, session.process) if name)[-FORMER_PROCESSES:]
    shared = session.shared or process in former
    data: dict[str, object] = {"process": process, "was": session.process, "shared": shared}
    kind = "session.shared" if shared and not session.shared else "session.taken_over"
    after, event = changed(session, ctx, kind, data, process=process, former_processes=former, shared=shared)
    return after, (event,)


class TurnReport(msgspec.Struct, frozen=True, kw_only=True):
    """A turn as its starter names it. `reported` is true where the client itself says that it began."""

    process: str
    client_turn_id: str
    source: str = "prompt"
    reported: bool = True


def begin_turn(
    session: Session, active: Turn | None, report: TurnReport, ctx: Context
) -> tuple[Turn, str | None, tuple[Event, ...]]:
    """The turn that `report` names, and as what the older one was closed by it (None when it was not).

    The same id is the same turn. A reported new id closes the older turn as `lost`; a turn started through
    the API beside another one is `session_busy`. A connection's turn makes nothing busy and ends `completed`
    when a real one begins.
    """
    events: tuple[Event, ...] = ()
    closed: str | None = None
    if active is not None:
        same = active.client_turn_id == report.client_turn_id and active.source == report.source
        if same and (active.process == report.process or report.source != "connection"):
            return active, None, ()
        if active.source != "connection" and not report.reported:
            raise Refusal(
                "session_busy",
                f"Session {session.id} has an active turn; end it first or wait for it.",
                turn=active.id,
            )
        taken_over = active.source == "connection" and report.source != "connection"
        closed = "completed" if taken_over else "lost"
        events = end_turn(active, closed, ctx)
    turn = Turn(
        id=ctx.new_id("trn"),
        session_id=session.id,
        status=TURN.initial,
        source=report.source,
        process=report.process,
        client_turn_id=report.client_turn_id,
        stop_reason=None,
        started_at=ctx.now,
        ended_at=None,
    )
    data: dict[str, object] = {"turn": turn.id, "source": turn.source}
    begun = Event("turn.started", aggregate(session.id), session.id, data, (Put(None, turn),))
    return turn, closed, (*events, begun)


def end_turn(turn: Turn, stop_reason: str, ctx: Context) -> tuple[Event, ...]:
    """The end of a turn. Repeating an end adopts it (no event); a different one is `conflict`."""
    if turn.status == "ended":
        if turn.stop_reason == stop_reason:
            return ()
        raise Refusal(
            "conflict",
            f"Turn {turn.id} already ended as {turn.stop_reason}; an end is final.",
            turn=turn.id,
            stop_reason=turn.stop_reason,
        )
    status = TURN.step(turn.status, "end", f"turn {turn.id}")
    after = msgspec.structs.replace(turn, status=status, stop_reason=stop_reason, ended_at=ctx.now)
    data: dict[str, object] = {"turn": turn.id, "stop_reason": stop_reason}
    return (Event("turn.ended", aggregate(turn.session_id), turn.session_id, data, (Put(turn, after),)),)


CONFIGURABLE: Final = ("mode", "permission_mode", "model", "attended", "kind")


def configure(
    session: Session, fields: dict[str, object], busy: str | None, pending: str | None, ctx: Context
) -> Change:
    """A new configuration; a call that changes nothing passes always.

    `busy` says why the session is busy (an active turn, a live execution), `pending` names a pending plan;
    either refuses a call that would change something.
    """
    wanted = {name: value for name, value in fields.items() if getattr(session, name) != value}
    if not wanted:
        return Change({"session": session.id, "changed": []})
    if pending is not None:
        raise Refusal(
            "plan_already_pending",
            f"{pending} waits for its verdict; the session's configuration changes after it.",
            plan=pending,
        )
    if busy is not None:
        raise Refusal("session_busy", f"Session {session.id} is busy: {busy}. Change it afterwards.")
    if wanted.get("mode") == "plan" and session.checkout is None:
        raise Refusal("workspace_required", "Plan mode needs a session with a workspace.")
    _, event = changed(session, ctx, "session.configured", dict(wanted), **wanted)
    return Change({"session": session.id, "changed": sorted(wanted)}, (event,))


def scheduled_refusal() -> Refusal:
    """Why a scheduled session cannot plan, and what to do."""
    return Refusal(
        "PLAN_REQUIRES_INTERACTIVE_SESSION",
        "A scheduled session has nobody to approve a plan; change it to agent mode, or start it interactively.",
    )
