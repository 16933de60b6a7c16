"""Todo lists as operations: write, read, capture of a client's own list, and what else a write says.

A list has its own hash chain per session (`todos:<session>`), one event for each write. The revision in force is
the newest on the selected branch.

Not here: what a branch, a fork and a turn make of the lists (`todo_scenes`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from standfast.domain import todo, todo_views
from standfast.domain.change import Change, Event
from standfast.domain.errors import Refusal
from standfast.domain.session import Session, Turn
from standfast.domain.todo import MAIN, MAX_ITEMS, MAX_NAME, OWN, Given, Item, Place, TodoList, TodoRevision
from standfast.domain.todo_writes import foreign, merged, replaced
from standfast.host.operation import Input
from standfast.host.todo_scenes import in_force, interrupted
from standfast.host.turns import ensure_turn, opened_by
from standfast.host.work import Work

LISTS_PER_SESSION: Final = 64


class WriteTodos(Input, frozen=True):
    """The whole list, or with `merge` changes to it. `todos` may come as JSON text."""

    todos: tuple[Given, ...] | str
    merge: bool = False
    agent: str = MAIN
    session: str | None = None


def write(work: Work, command: WriteTodos) -> Change:
    """One write: one revision. Refused in plan mode, where a checklist is not a proposal."""
    session = work.open_session(command.session)
    if session.mode == "plan":
        raise Refusal("todo_denied_in_plan", "Plan mode takes no todos; submit a plan with plan_submit.")
    given = _given(command.todos)
    turn, opening = ensure_turn(work, session)
    place = place_of(work, session, _name(command.agent, "agent"), OWN, turn)
    decide = merged if command.merge else replaced
    items = decide(place, given, work.ctx.now)
    if place.current is not None and items == place.current.items:
        return Change(_answer(place.current, 0, check=False))
    revision, event = todo.recorded(place, items, "written", (), work.ctx)
    gone = todo.dropped(place.base, items)
    check = place.agent == MAIN and _asks_for_check(work, session, place, revision)
    events = (event, _nudged(event)) if check else (event,)
    return opened_by(opening, Change(_answer(revision, gone, check=check), events))


def _given(todos: tuple[Given, ...] | str) -> tuple[Given, ...]:
    """The entries; a model may send them as JSON text."""
    if not isinstance(todos, str):
        return todos
    try:
        return msgspec.json.decode(todos, type=tuple[Given, ...])
    except (msgspec.DecodeError, RecursionError) as error:
        raise Refusal("invalid", f"todos is a list of items, or that list as JSON: {error}.", field="todos") from error


def _name(text: str, field: str) -> str:
    if not 0 < len(text) <= MAX_NAME or not text.isprintable():
        raise Refusal("invalid", f"{field} has 1 to {MAX_NAME} printable characters.", field=field)
    return text


def place_of(work: Work, session: Session, agent: str, source: str, turn: Turn | None = None) -> Place:
    """Where a write goes, and what is there."""
    heads = work.tx.find(TodoList, "todo_lists", session=session.id)
    head = next((each for each in heads if (each.agent, each.source) == (agent, source)), None)
    if head is None and len(heads) >= LISTS_PER_SESSION:
        raise Refusal("limit", f"A session has at most {LISTS_PER_SESSION} lists.", limit=LISTS_PER_SESSION)
    return Place(
        session_id=session.id,
        agent=agent,
        source=source,
        head=head,
        current=in_force(work, head),
        highest=max((each.highest for each in heads), default=0),
        entry=session.leaf_entry,
        turn_id=None if turn is None else turn.id,
        foreign=source != OWN,
    )


def _asks_for_check(work: Work, session: Session, place: Place, revision: TodoRevision) -> bool:
    least = work.settings(session.project_id).number("todo.check_items")
    asked = 0 if place.head is None else place.head.nudged
    return asked < revision.list and todo.unchecked(revision.items, least)


def _nudged(written: Event) -> Event:
    """The list's head noted as asked, after the write that asked."""
    head = written.puts[-1].after
    assert isinstance(head, TodoList)
    revision = written.puts[0].after
    assert isinstance(revision, TodoRevision)
    return todo.changed(head, "todo.check_asked", nudged=revision.list)


def _answer(revision: TodoRevision, gone: int, *, check: bool) -> dict[str, object]:
    done, total = todo.progress(revision.items)
    return {
        "revision": revision.n,
        "list": revision.list,
        "done": done,
        "total": total,
        "open": sum(item.open for item in revision.items),
        "dropped": gone,
        "check": check,
        "flags": list(revision.flags),
    }


def written_text(result: Mapping[str, Any]) -> str:
    """One line, and what else there is to say."""
    lines = [f"Todos {result['done']}/{result['total']}."]
    if result["dropped"]:
        lines.append(f"{result['dropped']} open items dropped; todo_read revision={result['revision'] - 1} shows them.")
    if result["check"]:
        lines.append("Before you call it done, verify it, or add an item that does.")
    return " ".join(lines)


class CaptureTodos(Input, frozen=True):
    """A list as a client's own tool holds it now. `source` names the tool, `agent` the subagent whose list it is.

    `restored` says that it was read from a transcript: it is taken where nothing newer is known.
    """

    todos: tuple[Given, ...]
    source: str
    agent: str = MAIN
    restored: bool = False
    cut: bool = False
    session: str | None = None


def capture(work: Work, command: CaptureTodos) -> Change:
    """Keeps a foreign list as it is, flagged where it breaks our rules; the same list again changes nothing."""
    session = work.open_session(command.session)
    source = _name(command.source, "source")
    if source == OWN:
        raise Refusal("invalid", f"{OWN} is Standfast's own list: todo.write writes it.", field="source")
    place = place_of(work, session, _name(command.agent, "agent"), source, work.active_turn(session.id))
    if command.restored and not _older(place):
        current = place.current
        return Change({"taken": False} | ({} if current is None else _answer(current, 0, check=False)))
    items = foreign(place, command.todos, work.ctx.now)
    flags = (*todo.flags_of(items), *(("cut",) if command.cut or len(command.todos) > MAX_ITEMS else ()))
    if place.current is not None and (place.current.items, place.current.flags) == (items, flags):
        return Change({"taken": False} | _answer(place.current, 0, check=False))
    provenance = "restored" if command.restored else "captured"
    revision, event = todo.recorded(place, items, provenance, flags, work.ctx)
    return Change({"taken": True} | _answer(revision, 0, check=False), (event,))


def _older(place: Place) -> bool:
    """Whether all that is known of a list came from its transcript, of which a longer version may be read now."""
    return place.head is None or (place.current is not None and place.current.provenance == "restored")


class ReadTodos(Input, frozen=True):
    """A session's lists, the newest first; or one list's older revision by its number."""

    agent: str | None = None
    source: str | None = None
    revision: int | None = None
    session: str | None = None


def read(work: Work, command: ReadTodos) -> Change:
    """Every list with all its items; what has ended is said as ended."""
    session = work.session(command.session)
    if command.revision is not None:
        return Change({"session": session.id, "lists": [_shown(work, session, _revision(work, session, command))]})
    heads = work.tx.find(TodoList, "todo_lists", session=session.id)
    wanted = [
        head
        for head in heads
        if command.agent in (None, head.agent) and command.source in (None, head.source) and head.revision_id
    ]
    found = [revision for head in wanted if (revision := in_force(work, head)) is not None]
    return Change({"session": session.id, "lists": [_shown(work, session, revision) for revision in found]})


def _revision(work: Work, session: Session, command: ReadTodos) -> TodoRevision:
    agent, source = command.agent or MAIN, command.source or OWN
    found = work.tx.first(
        TodoRevision, "todo_revision", session=session.id, agent=agent, source=source, n=command.revision
    )
    if found is None:
        raise Refusal("not_found", f"The {source} list of {agent} has no revision {command.revision}.")
    return found


def _shown(work: Work, session: Session, revision: TodoRevision) -> dict[str, object]:
    names = {item.number: item.id for item in revision.items}
    done, total = todo.progress(revision.items)
    lost = interrupted(work, session, revision)
    return {
        "agent": revision.agent,
        "source": revision.source,
        "provenance": revision.provenance,
        "revision": revision.n,
        "list": revision.list,
        "over": revision.over,
        "done": done,
        "total": total,
        "flags": list(revision.flags),
        "at": revision.at,
        "actor": revision.actor,
        "items": [_item(item, names, lost) for item in revision.items],
    }


def _item(item: Item, names: Mapping[int, str], lost: bool) -> dict[str, object]:
    return {
        "id": item.id,
        "number": item.number,
        "content": item.content,
        "status": item.state,
        "interrupted": lost and item.state == "in_progress",
        "active_form": item.active_form or item.content,
        "parent": None if item.parent is None else names.get(item.parent),
        "depends_on": [names[number] for number in item.depends_on if number in names],
        "evidence": item.evidence or None,
        "claim": item.state == "completed" and not item.evidence,
        "updated_at": item.updated_at,
    }


def read_text(result: Mapping[str, Any]) -> str:
    """The open items, one line each; what has ended is a count."""
    lines: list[str] = []
    for each in result["lists"]:
        where = "" if (each["agent"], each["source"]) == (MAIN, OWN) else f" ({each['agent']}, {each['source']})"
        lines.append(f"Todos {each['done']}/{each['total']}{where}")
        lines += [
            f"[{todo_views.MARKS.get(item['status'], '?')}] {item['id']} {item['content']}"
            for item in each["items"]
            if item["status"] not in todo.ENDED
        ]
    return "\n".join(lines) or "No todos."
