"""Todo lists as the rest of the host needs them: what is open now, what a branch shows, what a fork inherits."""

from __future__ import annotations

import msgspec

from standfast.domain import todo, todo_views
from standfast.domain.change import Event, Put
from standfast.domain.session import Session, Turn
from standfast.domain.todo import TodoList, TodoRevision
from standfast.domain.todo_views import Shown
from standfast.host.work import Work


def in_force(work: Work, head: TodoList | None) -> TodoRevision | None:
    """The revision that counts on the selected branch; None where there is none."""
    if head is None or head.revision_id is None:
        return None
    return work.tx.get(TodoRevision, head.revision_id)


def interrupted(work: Work, session: Session, revision: TodoRevision) -> bool:
    """Whether what the list calls in progress cannot be: its turn was cut off, or its process is another's now."""
    if revision.provenance in ("restored", "inherited"):
        return True
    turn = None if revision.turn_id is None else work.tx.get(Turn, revision.turn_id)
    if turn is None:
        return False
    if turn.status == "ended":
        return turn.stop_reason != "completed" or _elsewhere(session, turn)
    return _elsewhere(session, turn)


def _elsewhere(session: Session, turn: Turn) -> bool:
    return turn.source != "connection" and bool(turn.process) and turn.process in session.former_processes


def lists_of(work: Work, session: Session) -> tuple[Shown, ...]:
    """The lists of a session that have open items, the newest first."""
    heads = work.tx.find(TodoList, "todo_lists", session=session.id)
    found = [revision for head in heads if (revision := in_force(work, head)) is not None and not revision.over]
    return tuple(Shown(revision=each, interrupted=interrupted(work, session, each)) for each in found)


def reminded(work: Work, session: Session, lists: tuple[Shown, ...]) -> tuple[str | None, tuple[Event, ...]]:
    """What is said, once in so many turns, of a list that was not written for as many."""
    settings = work.settings(session.project_id)
    after = settings.number("todo.reminder_turns")
    if not after:
        return None, ()
    for shown in lists:
        head = work.tx.get(TodoList, session.id, shown.revision.agent, shown.revision.source)
        if head is None or not shown.main:
            continue
        turns = [
            work.tx.number("turns_since", session=session.id, after=at) for at in (head.updated_at, head.reminded_at)
        ]
        if turns[0] >= after and turns[1] >= after - 1:  # the turn that was reminded counts as the first
            text = todo_views.reminder(shown, settings.number("todo.view_items"), todo_views.ROOM)
            return text, (todo.changed(head, "todo.reminded", reminded_at=work.ctx.now),)
    return None, ()


def selected(work: Work, session: Session, ancestry: frozenset[str]) -> list[Event]:
    """After a switch of the branch: each list's newest revision on it is in force."""
    events = []
    for head in work.tx.find(TodoList, "todo_lists", session=session.id):
        visible = _newest(work, head, ancestry)
        wanted = None if visible is None else visible.id
        if wanted != head.revision_id:
            events.append(todo.changed(head, "todo.branch_selected", revision_id=wanted, updated_at=work.ctx.now))
    return events


def _newest(work: Work, head: TodoList, ancestry: frozenset[str]) -> TodoRevision | None:
    place = {"session": head.session_id, "agent": head.agent, "source": head.source}
    revisions = work.tx.find(TodoRevision, "todo_revisions", **place, most=head.revisions)
    return next((each for each in revisions if each.entry is None or each.entry in ancestry), None)


def inherited(work: Work, parent: Session, child: Session, ancestry: frozenset[str] | None = None) -> tuple[Event, ...]:
    """A fork's copies of the lists that its fork point's ancestry holds; nothing is shared afterwards."""
    events: list[Event] = []
    for head in work.tx.find(TodoList, "todo_lists", session=parent.id):
        revision = in_force(work, head) if ancestry is None else _newest(work, head, ancestry)
        if revision is None or work.tx.get(TodoList, child.id, head.agent, head.source) is not None:
            continue
        copy = msgspec.structs.replace(
            revision,
            id=work.ctx.new_id("tdr"),
            session_id=child.id,
            n=1,
            entry=revision.entry if ancestry else None,
            turn_id=None,
            provenance="inherited",
            at=work.ctx.now,
        )
        own = msgspec.structs.replace(
            head, session_id=child.id, revision_id=copy.id, revisions=1, reminded_at=0, updated_at=work.ctx.now
        )
        data: dict[str, object] = {"agent": head.agent, "source": head.source, "from": parent.id}
        puts = (Put(None, copy), Put(None, own))
        events.append(Event("todo.inherited", todo.aggregate(child.id), child.id, data, puts))
    return tuple(events)
