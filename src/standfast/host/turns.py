"""Turns: begun by a report or a connection, ended once, and what their end means for an execution."""

from __future__ import annotations

from standfast.domain import execution, message, tracker, views
from standfast.domain import session as sessions
from standfast.domain.change import Change, Event
from standfast.domain.errors import Refusal
from standfast.domain.message import Message
from standfast.domain.plan import Execution, Plan, Tracker
from standfast.domain.session import STOP_REASONS, Session, Turn, TurnReport
from standfast.host.operation import Input
from standfast.host.scenes import standing_of
from standfast.host.todo_scenes import lists_of, reminded
from standfast.host.work import Work


class StartTurn(Input, frozen=True):
    """A turn begins. `turn` is the client's prompt or turn id; `source` is `prompt` or `message`."""

    turn: str
    process: str = ""
    source: str = "prompt"
    session: str | None = None


def start_turn(work: Work, command: StartTurn) -> Change:
    """Begins a turn, hands out a queued execution's instruction once, what is owed, and the marker if due."""
    session = work.open_session(command.session)
    if command.source not in ("prompt", "message") or not command.turn or len(command.turn) > 200:
        raise Refusal("invalid", "source is prompt or message; turn has 1 to 200 characters.", field="turn")
    if session.kind == "scheduled" and session.mode == "plan":
        raise sessions.scheduled_refusal()
    report = TurnReport(
        process=command.process or work.actor.connection,
        client_turn_id=command.turn,
        source=command.source,
        reported=work.actor.role == "coordinator",
    )
    session, taken = sessions.taken_over(session, report.process, work.ctx)
    events = list(taken)
    if not session.reports_turns:
        session, noted = sessions.changed(session, work.ctx, "session.reports_turns", {}, reports_turns=True)
        events.append(noted)
    active = work.active_turn(session.id)
    turn, closed, begun = sessions.begin_turn(session, active, report, work.ctx)
    events += begun
    if active is not None and closed is not None:
        events += aftermath(work, active, closed)
    result: dict[str, object] = {"turn": turn.id, "same": active is not None and active.id == turn.id}
    handed, claim_events = hand_out(work, session, turn, "prompt" if command.source == "prompt" else "message")
    owed, owed_events = deliver(work, session)
    shown, marker_events = due_marker(work, session)
    reminder, reminder_events = reminded(work, session, lists_of(work, session))
    messages = owed if reminder is None else [*owed, reminder]
    result |= {"instruction": handed, "messages": messages, "marker": shown}
    return Change(result, (*events, *claim_events, *owed_events, *marker_events, *reminder_events))


def hand_out(work: Work, session: Session, turn: Turn | None, point: str) -> tuple[str | None, tuple[Event, ...]]:
    """The instruction of a queued execution, claimed at this point; None when none is queued."""
    live = work.tx.first(Execution, "execution_live", session=session.id)
    if live is None or live.status != "queued":
        return None, ()
    plan = work.tx.get(Plan, live.plan_id)
    assert plan is not None, "an execution has a plan"
    event = execution.claimed(live, point, turn.id if turn else None, work.ctx)
    return views.instruction(plan, work.text(plan.id)), (event,)


def deliver(work: Work, session: Session) -> tuple[list[str], tuple[Event, ...]]:
    """The texts that are owed to the session, marked delivered."""
    owed = work.tx.find(Message, "messages_pending", session=session.id)
    return [item.text for item in owed], tuple(message.settled(item, "deliver", work.ctx) for item in owed)


def due_marker(work: Work, session: Session) -> tuple[str | None, tuple[Event, ...]]:
    """The marker if it must be shown now, noted as shown; None when the model has the newest already."""
    text = views.marker(standing_of(work, session))
    every = work.settings(session.project_id).text("marker") == "every_turn"
    if not text:
        if not session.marker_shown or session.marker_shown == views.NOTHING:
            return None, ()
        text = views.NOTHING
    elif text == session.marker_shown and not session.marker_due and not every:
        return None, ()
    if text == session.marker_shown and not session.marker_due:
        return text, ()
    _, event = sessions.changed(session, work.ctx, "session.marker", {}, marker_shown=text, marker_due=False)
    return text, (event,)


class EndTurn(Input, frozen=True):
    """A turn ended. `turn` is its id or the client's id; without it the active turn is meant."""

    stop_reason: str
    turn: str | None = None
    session: str | None = None


def end_turn(work: Work, command: EndTurn) -> Change:
    """Ends a turn; repeating the same end adopts it, a different one is `conflict`."""
    session = work.session(command.session)
    if command.stop_reason not in STOP_REASONS:
        raise Refusal("invalid", f"stop_reason is one of {', '.join(STOP_REASONS)}.", field="stop_reason")
    turn = _turn(work, session, command.turn)
    events = sessions.end_turn(turn, command.stop_reason, work.ctx)
    if events:
        events += aftermath(work, turn, command.stop_reason)
    return Change({"turn": turn.id, "stop_reason": command.stop_reason, "already": not events}, events)


def _turn(work: Work, session: Session, named: str | None) -> Turn:
    if named is None:
        found = work.active_turn(session.id)
    else:
        found = work.tx.get(Turn, named) or work.tx.first(
            Turn, "turn_by_client", session=session.id, client_turn_id=named
        )
    if found is None or found.session_id != session.id:
        raise Refusal("not_found", f"Session {session.id} has no turn {named or 'that is active'}.")
    return found


def aftermath(work: Work, turn: Turn, stop_reason: str) -> tuple[Event, ...]:
    """What the end of a turn means for the execution that ran in it, and for a tracker without tasks."""
    running = work.tx.first(Execution, "execution_of_turn", turn=turn.id)
    if running is None:
        return ()
    events = execution.finished(running, stop_reason, work.ctx)
    if stop_reason == "completed":
        track = work.tx.get(Tracker, running.session_id, running.plan_id)
        if track is not None:
            events += tracker.completed_without_tasks(track, work.ctx)
    return events


def close_active(work: Work, session: Session, stop_reason: str) -> tuple[Event, ...]:
    """Ends the session's active turn, if there is one."""
    active = work.active_turn(session.id)
    if active is None:
        return ()
    return sessions.end_turn(active, stop_reason, work.ctx) + aftermath(work, active, stop_reason)


def ensure_turn(work: Work, session: Session) -> tuple[Turn | None, tuple[Event, ...]]:
    """The turn that a model's call belongs to: the active one, or the connection's own, opened by it.

    A call of another connection closes the older connection's turn as lost. Programs and people have none.
    """
    if work.actor.role != "agent":
        return work.active_turn(session.id), ()
    active = work.active_turn(session.id)
    if active is not None and active.source != "connection":
        return active, ()
    name = work.actor.connection or session.id
    report = TurnReport(process=name, client_turn_id=name, source="connection")
    turn, closed, events = sessions.begin_turn(session, active, report, work.ctx)
    if active is not None and closed is not None:
        events += aftermath(work, active, closed)
    return turn, events


def opened_by(opening: tuple[Event, ...], change: Change) -> Change:
    """A change after the turn that it opened; a change that writes nothing opens nothing."""
    return Change(change.result, (*opening, *change.events)) if change.events else change


class CloseConnection(Input, frozen=True):
    """The connection that speaks for a session ends."""

    session: str | None = None


def close_connection(work: Work, command: CloseConnection) -> Change:
    """Ends the connection's turn: completed where its tracker is complete, else lost."""
    session = work.session(command.session)
    active = work.active_turn(session.id)
    if active is None or active.source != "connection" or active.process != (work.actor.connection or session.id):
        return Change({"closed": False})
    track = work.tx.first(Tracker, "tracker_open", session=session.id)
    reason = "completed" if track is not None and track.status == "complete" else "lost"
    return Change({"closed": True, "stop_reason": reason}, close_active(work, session, reason))


class Claim(Input, frozen=True):
    """A coordinator's stop hook or dispatcher asks for the instruction of a queued execution."""

    point: str = "stop_hook"
    session: str | None = None


def claim(work: Work, command: Claim) -> Change:
    """Ends the planning turn, opens the execution turn under the same client id, hands the instruction out.

    Nothing queued: `conflict` when it was already handed out, `not_found` when there is no live execution.
    """
    session = work.open_session(command.session)
    if command.point not in ("stop_hook", "message"):
        raise Refusal("invalid", "point is stop_hook or message.", field="point")
    live = work.tx.first(Execution, "execution_live", session=session.id)
    if live is None:
        raise Refusal("not_found", f"Session {session.id} has no execution to start.")
    active = work.active_turn(session.id)
    name = active.client_turn_id if active else live.id
    if live.status != "queued":
        execution.claimed(live, command.point, None, work.ctx)
    events = close_active(work, session, "completed")
    report = TurnReport(process=session.process, client_turn_id=name, source="message")
    turn, _, begun = sessions.begin_turn(session, None, report, work.ctx)
    text, claimed = hand_out(work, session, turn, command.point)
    return Change({"turn": turn.id, "instruction": text}, (*events, *begun, *claimed))
