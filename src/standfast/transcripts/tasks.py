"""Claude Code's task list, folded from its calls and answers, newest first.

The list lives in a folder on the client's side, so calls alone mislead: what was read from it outranks what was asked
for. `TaskList` answers with the whole list, `TaskGet` with one task, and `Task not found` says that a task is gone;
what is older than such an answer no longer counts for what it names. Read newest first, the first word about a field is
the last one that was said, and a task is finished with when its creation, or an answer that holds it, has been seen:
memory is that of the tasks, not of their changes.

Ids are never reused in one store. A `TaskCreate` that was answered with `#1` is therefore the first of its store, and
what is older belongs to another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from standfast.transcripts.events import ToolCall
from standfast.transcripts.lists import ITEMS_LIMIT, SUPERSEDED, ListItem, fields, text

_CREATED: Final = re.compile(r"Task #(\S+) created")
_LISTED: Final = re.compile(r"^#(\S+) \[(\w+)\] (.*)$", re.MULTILINE)
_BLOCKED: Final = re.compile(r" \[blocked by ((?:#\S+?(?:, )?)+)\]$")
_EMPTY: Final = "No tasks found"
_GONE: Final = "not found"


class _Task(msgspec.Struct):
    """What is known of a task so far. `known`: nothing older adds to it."""

    subject: str | None = None
    status: str | None = None
    active_form: str | None = None
    owner: str | None = None
    blocked_by: dict[str, None] = msgspec.field(default_factory=dict)
    known: bool = False
    gone: bool = False
    shown: bool = False

    def learn(self, found: Iterable[tuple[str, str | None]]) -> None:
        """Takes fields that nothing newer has said."""
        for name, word in found:
            if getattr(self, name) is None and word is not None:
                setattr(self, name, word)


class TaskFold:
    """The fold. `certain`: nothing older can change the list. `answered`: it rests on an answer with the whole list."""

    def __init__(self) -> None:
        self.certain = False
        self.answered = False
        self.reset = False
        self._tasks: dict[str, _Task] = {}
        self._first: str | None = None
        self._begun = False

    def take(self, call: ToolCall) -> str | None:
        """Takes the next older call; the word for why it counts for nothing, or None where it counts."""
        if self._begun and (call.group is None or call.group != self._first):
            self.certain = self.reset = True
        if self.certain:
            return "older_store" if self.reset else SUPERSEDED
        match call.tool:
            case "TaskCreate":
                return self._created(call)
            case "TaskUpdate":
                return self._updated(call)
            case "TaskList":
                return self._listed(call)
            case _:
                return self._got(call)

    def items(self) -> tuple[ListItem, ...]:
        """The tasks that there are, by number."""
        kept = [(name, task) for name, task in self._tasks.items() if not task.gone]
        kept.sort(key=lambda pair: (0, int(pair[0])) if _is_number(pair[0]) else (1, 0))
        return tuple(
            ListItem(
                task.subject or "",
                task.status or "pending",
                name,
                task.active_form,
                depends_on=tuple(task.blocked_by),
                owner=task.owner,
            )
            for name, task in kept
        )

    def _task(self, name: str) -> _Task | None:
        """A task of which something older may still be told; None where not."""
        if name not in self._tasks and len(self._tasks) >= ITEMS_LIMIT:
            return None
        task = self._tasks.setdefault(name, _Task())
        return None if task.known else task

    def _created(self, call: ToolCall) -> str | None:
        if call.outcome != "success":
            return call.outcome
        name = text(fields(fields(call.details).get("task")).get("id"))
        if name is None:
            match = _CREATED.search(call.answer or "")
            name = match[1] if match else None
        if name is None:
            return "unknown_answer"
        if name == "1":
            self._begun, self._first = True, call.group
        task = self._task(name)
        if task is None:
            return SUPERSEDED
        given = fields(call.arguments)
        task.learn([("subject", text(given.get("subject"))), ("active_form", text(given.get("activeForm")))])
        task.learn([("status", "pending")])
        task.known = True
        # The client hides tasks of its own from its list, unless an update made one visible.
        task.gone = task.gone or (fields(given.get("metadata")).get("_internal") is True and not task.shown)
        return None

    def _updated(self, call: ToolCall) -> str | None:
        given = fields(call.arguments)
        name = text(given.get("taskId"))
        if name is None:
            return "malformed_arguments"
        said = fields(call.details)
        if _GONE in (call.answer or "").lower() or _GONE in str(said.get("error", "")).lower():
            return self._lost(name)
        if call.outcome != "success":
            return call.outcome
        if said.get("success") is False:
            return "failure"
        task = self._task(name)
        if task is None:
            return SUPERSEDED
        if given.get("status") == "deleted":
            task.known = task.gone = True
            return None
        task.learn((own, text(given.get(theirs))) for own, theirs in _FIELDS)
        changed = fields(given.get("metadata"))
        task.shown = task.shown or ("_internal" in changed and changed["_internal"] is None)
        for other in _names(given.get("addBlockedBy")):
            task.blocked_by.setdefault(other)
        for other in _names(given.get("addBlocks")):
            blocked = self._task(other)
            if blocked is not None:
                blocked.blocked_by.setdefault(name)
        return None

    def _lost(self, name: str) -> str | None:
        """The store did not know the task: it was gone by then."""
        task = self._task(name)
        if task is not None:
            task.known = task.gone = True
        return None

    def _listed(self, call: ToolCall) -> str | None:
        if call.outcome != "success":
            return call.outcome
        found = fields(call.details).get("tasks")
        rows = [fields(each) for each in found] if isinstance(found, list) else _from_text(call.answer or "")
        if rows is None:
            return "unknown_answer"
        for row in rows:
            self._stored(row)
        self.certain = self.answered = True
        return None

    def _got(self, call: ToolCall) -> str | None:
        if call.outcome != "success":
            return call.outcome
        said = fields(call.details)
        if isinstance(said.get("task"), dict):
            self._stored(fields(said["task"]))
            return None
        name = text(fields(call.arguments).get("taskId"))
        if name is not None and (("task" in said and said["task"] is None) or _GONE in (call.answer or "").lower()):
            return self._lost(name)
        return "read"

    def _stored(self, row: object) -> None:
        """A task as the store holds it."""
        found = fields(row)
        name = text(found.get("id"))
        task = self._task(name) if name is not None else None
        if task is None:
            return
        task.learn((own, text(found.get(theirs))) for own, theirs in _FIELDS)
        for other in _names(found.get("blockedBy")):
            task.blocked_by.setdefault(other)
        task.known = True


_FIELDS: Final = (("subject", "subject"), ("status", "status"), ("active_form", "activeForm"), ("owner", "owner"))


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit() and len(name) < 19


def _names(found: object) -> list[str]:
    """A list of task ids."""
    return [name for each in found[:ITEMS_LIMIT] if (name := text(each))] if isinstance(found, list) else []


def _from_text(answer: str) -> list[dict[str, object]] | None:
    """The tasks of a list answer's text; None where it is not the text of one."""
    if answer.strip().startswith(_EMPTY):
        return []
    rows: list[dict[str, object]] = []
    for name, status, rest in _LISTED.findall(answer):
        blocked = _BLOCKED.search(rest)
        blockers = [each.removeprefix("#") for each in blocked[1].split(", ")] if blocked else []
        subject = rest[: blocked.start()] if blocked else rest
        rows.append({"id": name, "status": status, "subject": subject, "blockedBy": blockers})
    return rows or None
