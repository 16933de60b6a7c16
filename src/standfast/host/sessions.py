"""Sessions as operations: start, show, configure, close, compaction; and the mode gate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from standfast.domain import execution, gate, verdict
from standfast.domain import session as domain
from standfast.domain.change import Actor, Change, Event, Put
from standfast.domain.errors import Refusal
from standfast.domain.plan import Execution, Plan
from standfast.domain.session import (
    KINDS,
    MODES,
    PERMISSION_MODES,
    START_SOURCES,
    Opening,
    Project,
    Session,
)
from standfast.host.operation import Input
from standfast.host.tokens import session_token
from standfast.host.turns import close_active
from standfast.host.work import Work
from standfast.host.workspace import Located, locate

if TYPE_CHECKING:
    from standfast.host.door import Host

MAX_NAME = 200


class StartSession(Input, frozen=True):
    """A client's conversation begins or is taken up again.

    `workspace` is a directory, absent for a session without one. `source` is what the client calls it:
    startup, resume, clear, compact or fork, or connect where only a connection came. `own_plan_mode` says that
    the client has a plan mode of its own.
    """

    client: str
    client_session_id: str
    workspace: str | None = None
    kind: str = "interactive"
    attended: bool = True
    own_plan_mode: bool = False
    process: str = ""
    source: str = "startup"


class Place:
    """The workspace, located on disk before the transaction."""

    def __init__(self, located: Located | None) -> None:
        self.located = located

    def settle(self, result: Mapping[str, Any] | None) -> None:
        """Nothing to undo."""


def prepare_start(host: Host, command: StartSession, actor: Actor, key: str | None) -> Place:
    """Finds project and checkout; refuses a workspace that is not a directory."""
    return Place(None if command.workspace is None else locate(command.workspace))


def start(work: Work, command: StartSession) -> Change:
    """The session of this client and id, created or taken up; its next start closes a turn left open."""
    _named("client", command.client)
    _named("client_session_id", command.client_session_id)
    _one_of("kind", command.kind, KINDS)
    _one_of("source", command.source, START_SOURCES)
    known = work.tx.first(
        Session, "session_by_client", client=command.client, client_session_id=command.client_session_id
    )
    if known is not None:
        return _taken_up(work, known, command)
    events: list[Event] = []
    located: Located | None = work.prepared.located
    project_id = None
    if located is not None:
        project_id, made = _project(work, located.project)
        events += made
    opening = Opening(
        client=command.client,
        client_session_id=command.client_session_id,
        project_id=project_id,
        checkout=None if located is None else located.checkout,
        kind=command.kind,
        attended=command.attended and command.kind == "interactive",
        own_plan_mode=command.own_plan_mode,
        process=command.process or work.actor.connection,
    )
    session, opened = domain.opened(opening, work.ctx)
    return Change(view(session) | {"created": True, "lost_turn": False}, (*events, opened))


def _taken_up(work: Work, session: Session, command: StartSession) -> Change:
    if session.kind == "scheduled" and session.mode == "plan":
        raise domain.scheduled_refusal()
    process = command.process or work.actor.connection
    ended: tuple[Event, ...] = ()
    active = work.active_turn(session.id)
    same = active is not None and active.source == "connection" and active.process == process
    if command.source not in ("compact", "connect") and not same:
        ended = close_active(work, session, "lost")
    after, events = domain.resumed(session, command.source, process, work.ctx)
    return Change(view(after) | {"created": False, "lost_turn": bool(ended)}, (*ended, *events))


def _project(work: Work, identity: str) -> tuple[str, tuple[Event, ...]]:
    found = work.tx.first(Project, "project_by_identity", identity=identity)
    if found is not None:
        return found.id, ()
    project = Project(work.ctx.new_id("prj"), identity, 0, work.ctx.now)
    data: dict[str, object] = {"project": project.id}
    return project.id, (Event("project.known", f"project:{project.id}", None, data, (Put(None, project),)),)


def reveal_token(host: Host, result: Mapping[str, Any]) -> Mapping[str, Any]:
    """Adds the session's token to an answer; it is computed, never stored."""
    return {**result, "token": session_token(host.secret, result["session"])}


def view(session: Session) -> dict[str, object]:
    """A session as callers see it."""
    return {
        "session": session.id,
        "status": session.status,
        "client": session.client,
        "client_session_id": session.client_session_id,
        "project": session.project_id,
        "checkout": session.checkout,
        "kind": session.kind,
        "mode": session.mode,
        "permission_mode": session.permission_mode,
        "model": session.model,
        "attended": session.attended,
        "shared": session.shared,
        "parent": session.parent_id,
        "leaf": session.leaf_entry,
        "compactions": session.compactions,
        "created_at": session.created_at,
        "updated_at": session.updated_at,
    }


class NameSession(Input, frozen=True):
    """A session by its id; a session's own connection may leave it out."""

    session: str | None = None


def get(work: Work, command: NameSession) -> Change:
    """One session, with its active turn and what it waits for."""
    session = work.session(command.session)
    turn = work.active_turn(session.id)
    pending = work.tx.first(Plan, "plan_pending", session=session.id)
    project = work.tx.get(Project, session.project_id) if session.project_id else None
    extra = {
        "turn": turn.id if turn else None,
        "turn_source": turn.source if turn else None,
        "turn_since": turn.started_at if turn else None,
        "pending": pending.ref if pending else None,
        "project_identity": project.identity if project else None,
    }
    return Change(view(session) | extra)


class ListSessions(Input, frozen=True):
    """The newest sessions, by last change; `limit` 1 to 500."""

    limit: int = 50


def list_all(work: Work, command: ListSessions) -> Change:
    """Sessions, newest change first."""
    if not 1 <= command.limit <= 500:
        raise Refusal("limit", "limit is 1 to 500.", field="limit", limit=500)
    found = work.tx.find(Session, "sessions_recent", most=command.limit)
    return Change({"sessions": [view(session) for session in found]})


class Configure(Input, frozen=True):
    """New values for a session; what is left out stays."""

    session: str | None = None
    mode: str | None = None
    permission_mode: str | None = None
    model: str | None = None
    attended: bool | None = None
    kind: str | None = None


def configure(work: Work, command: Configure) -> Change:
    """Changes a session's configuration while nothing runs in it."""
    session = work.open_session(command.session)
    fields = {name: value for name in domain.CONFIGURABLE if (value := getattr(command, name)) is not None}
    for name, words in (("mode", MODES), ("permission_mode", PERMISSION_MODES), ("kind", KINDS)):
        if name in fields:
            _one_of(name, fields[name], words)
    if "model" in fields and len(fields["model"]) > MAX_NAME:
        raise Refusal("limit", f"model has at most {MAX_NAME} characters.", field="model", limit=MAX_NAME)
    pending = work.tx.first(Plan, "plan_pending", session=session.id)
    return domain.configure(session, fields, _busy(work, session), pending.ref if pending else None, work.ctx)


def _busy(work: Work, session: Session) -> str | None:
    active = work.active_turn(session.id)
    if active is not None and active.source != "connection":
        return "a turn runs"
    live = work.tx.first(Execution, "execution_live", session=session.id)
    return f"an execution is {live.status}" if live is not None else None


def close(work: Work, command: NameSession) -> Change:
    """Closes a session: its turn is aborted, its proposal and live execution interrupted; its tracker stays."""
    session = work.session(command.session)
    if session.status == "closed":
        return Change(view(session))
    events = list(close_active(work, session, "aborted"))
    pending = work.tx.first(Plan, "plan_pending", session=session.id)
    if pending is not None:
        events += verdict.interrupt(pending, "session closed", work.ctx).events
    live = work.tx.first(Execution, "execution_live", session=session.id)
    if live is not None and live.status == "queued":
        events += execution.interrupted(live, "session closed", work.ctx)
    status = domain.SESSION.step(session.status, "close", f"session {session.id}")
    after, event = domain.changed(session, work.ctx, "session.closed", {}, status=status)
    return Change(view(after), (*events, event))


def compacted(work: Work, command: NameSession) -> Change:
    """The client compacted its context: what the model was shown is gone, so the marker is due again."""
    session = work.session(command.session)
    after, events = domain.resumed(session, "compact", "", work.ctx)
    return Change({"session": session.id, "compactions": after.compactions}, events)


class Gate(Input, frozen=True):
    """May this tool run now? `capability` is one of the gate's; `outside` says that a path leaves the workspace."""

    capability: str
    tool: str = "this tool"
    outside: bool = False
    sandboxed: bool = False
    session: str | None = None


def check_gate(work: Work, command: Gate) -> Change:
    """The gate's answer from the durable mode: deny, ask, or none (no opinion)."""
    session = work.session(command.session)
    settings = work.settings(session.project_id)
    known = command.capability in gate.CAPABILITIES
    answer = gate.check(
        gate.Question(
            mode=session.mode,
            permission_mode=session.permission_mode,
            attended=session.attended,
            capability=command.capability if known else "unknown",
            tool=command.tool[:MAX_NAME],
            shell=settings.text("plan.shell"),
            outside=command.outside,
            read_only=command.tool in settings.texts("gate.read_only_tools"),
            sandboxed=command.sandboxed,
        )
    )
    return Change(msgspec.structs.asdict(answer) | {"mode": session.mode})


def _named(field: str, text: str) -> None:
    if not text.strip() or len(text) > MAX_NAME:
        raise Refusal("invalid", f"{field} has 1 to {MAX_NAME} characters.", field=field)


def _one_of(field: str, value: object, words: tuple[str, ...]) -> None:
    if value not in words:
        raise Refusal("invalid", f"{field} is one of {', '.join(words)}.", field=field)
