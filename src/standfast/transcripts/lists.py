"""What a call of a client's list tool means for the list.

Each client's tools are named here, and what a successful call of each leaves behind: a whole list (most tools replace
it), one change of a list that lives in the client's store (`tasks`), or nothing. A call that failed, was rejected or
has no answer leaves nothing, whatever its arguments say. Where an answer holds the list, the answer counts and not the
arguments. Statuses are kept as they are written: a foreign list is a fact.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from standfast.transcripts.events import ToolCall
from standfast.transcripts.texts import value

ITEMS_LIMIT: Final = 10_000
"""Items of one list that are kept."""

STATUSES: Final = frozenset({"pending", "in_progress", "completed", "cancelled"})
CLOSED: Final = frozenset({"completed", "cancelled"})

SUPERSEDED: Final = "superseded"
"""Why a call counts for nothing that something newer has overwritten."""

TASKS: Final = "tasks"
"""The source of Claude Code's task tools, which share one list."""


class ListItem(msgspec.Struct, frozen=True):
    """One item of a client's list.

    `status` is the client's word; `id` is the client's own, None where it has none. `content` is "" where a change
    names an item whose creation is not in the file.
    """

    content: str
    status: str
    id: str | None = None
    active_form: str | None = None
    parent: str | None = None
    depends_on: tuple[str, ...] = ()
    owner: str | None = None

    @property
    def open(self) -> bool:
        """Whether it is still to be done; a status that nobody knows counts as open."""
        return self.status not in CLOSED


class Whole(msgspec.Struct, frozen=True):
    """The list is this now. `malformed` counts entries that are no items."""

    items: tuple[ListItem, ...]
    explanation: str | None = None
    malformed: int = 0


class Change(msgspec.Struct, frozen=True):
    """One change of a list that is known only from its changes and answers; `tasks` reads it."""


class Nothing(msgspec.Struct, frozen=True):
    """The call left the list as it was. `why` is a word, such as `failure` or `read`."""

    why: str


Meaning = Whole | Change | Nothing


class Write(msgspec.Struct, frozen=True):
    """A call of a list tool: which list, and what it means."""

    source: str
    meaning: Meaning


def write(client: str, call: ToolCall) -> Write | None:
    """What a call means; None for a tool that is no list tool of this client."""
    known = _TOOLS.get(client, {}).get(call.tool)
    if known is None:
        return None
    source, read = known
    if read is _change:
        return Write(source, Change())
    if call.outcome != "success":
        return Write(source, Nothing(call.outcome))
    return Write(source, read(call))


def hides_a_list(client: str, call: ToolCall) -> bool:
    """Whether a call runs code that calls a list tool. What the code did cannot be read off it for certain."""
    return client == "codex" and isinstance(call.arguments, str) and "tools.update_plan(" in call.arguments


def items_of(found: object, *, content: str = "content") -> Meaning:
    """A list of items as written, under the client's name for their text."""
    if isinstance(found, str):
        # Some models send the list as JSON inside of a string, and the clients take it.
        found = value(found.encode(errors="replace"))
    if not isinstance(found, list):
        return Nothing("malformed_arguments")
    items = [_item(each, content) for each in found[:ITEMS_LIMIT] if isinstance(each, dict)]
    return Whole(tuple(items), malformed=len(found) - len(items))


def _item(found: dict[str, object], content: str) -> ListItem:
    depends_on = found.get("blockedBy")
    return ListItem(
        text(found.get(content)) or "",
        text(found.get("status")) or "",
        text(found.get("id")),
        text(found.get("activeForm")),
        text(found.get("parent")),
        tuple(name for each in depends_on if (name := text(each))) if isinstance(depends_on, list) else (),
        text(found.get("owner")),
    )


def text(found: object) -> str | None:
    """A text or a number as text; None for anything else."""
    if isinstance(found, str):
        return found
    return str(found) if isinstance(found, int) and not isinstance(found, bool) else None


def fields(found: object) -> Mapping[str, object]:
    """An object's fields; none for anything else."""
    return found if isinstance(found, dict) else {}


def _todos(call: ToolCall) -> Meaning:
    return items_of(fields(call.arguments).get("todos"))


def _plan(call: ToolCall) -> Meaning:
    """Codex answers `Plan updated`; any other text is an answer that this reader does not know."""
    if "plan updated" not in (call.answer or "").lower():
        return Nothing("unknown_answer")
    given = fields(call.arguments)
    found = items_of(given.get("plan"), content="step")
    if isinstance(found, Whole):
        return msgspec.structs.replace(found, explanation=text(given.get("explanation")))
    return found


def _pi(call: ToolCall) -> Meaning:
    """Pi's example extension stores the whole list beside each answer, and its errors there too."""
    stored = fields(call.details)
    if stored.get("error") is not None:
        return Nothing("failure")
    found = stored.get("todos")
    if not isinstance(found, list):
        return Nothing("unknown_answer")
    rows = [each for each in found[:ITEMS_LIMIT] if isinstance(each, dict)]
    items = [
        ListItem(
            text(row.get("text")) or "", "completed" if row.get("done") is True else "pending", text(row.get("id"))
        )
        for row in rows
    ]
    return Whole(tuple(items), malformed=len(found) - len(items))


def _hermes(call: ToolCall) -> Meaning:
    """Hermes answers with the whole list, also where it is only read."""
    return items_of(fields(value((call.answer or "").encode(errors="replace"))).get("todos"))


def _vibe(call: ToolCall) -> Meaning:
    given = fields(call.arguments)
    return Nothing("read") if given.get("action") == "read" else items_of(given.get("todos"))


def _gemini(call: ToolCall) -> Meaning:
    return items_of(fields(call.arguments).get("todos"), content="description")


def _stored_todos(call: ToolCall) -> Meaning:
    """What the client stored beside the answer is what it took; without that, what it was given."""
    stored = fields(call.details).get("todos")
    return items_of(stored) if isinstance(stored, list) else _todos(call)


def _read_todos(call: ToolCall) -> Meaning:
    found = _stored_todos(call)
    return found if isinstance(found, Whole) else items_of(value((call.answer or "").encode(errors="replace")))


def _kiro(call: ToolCall) -> Meaning:
    """Kiro answers with its list's state, in a text or as JSON; a creation says the list itself."""
    text_found = _STATE.search(call.answer or "")
    state = fields(value((text_found[1] if text_found else call.answer or "").encode(errors="replace")))
    rows = state.get("tasks") if state else _kiro_details(call.details)
    given = fields(call.arguments)
    if rows is None and given.get("command") == "create":
        rows = given.get("tasks")
    if not isinstance(rows, list):
        return Nothing("read" if given.get("command") == "lookup" else "unknown_answer")
    items = [item for row in rows[:ITEMS_LIMIT] if (item := _kiro_item(row)) is not None]
    return Whole(tuple(items), malformed=len(rows) - len(items))


def _kiro_details(details: object) -> object:
    """The tasks in a result's JSON blocks."""
    for block in details if isinstance(details, list) else []:
        inner = fields(fields(block).get("data") or fields(block).get("Json"))
        if "tasks" in inner:
            return inner["tasks"]
    return None


def _kiro_item(row: object) -> ListItem | None:
    if isinstance(row, str):
        return ListItem(row, "pending")
    found = fields(row)
    if not found:
        return None
    done = found.get("completed") is True
    return ListItem(
        text(found.get("task_description")) or "", "completed" if done else "pending", text(found.get("id"))
    )


_STATE: Final = re.compile(r"TOD[O] LIST STATE: (\{.*\})", re.DOTALL)


def _change(call: ToolCall) -> Meaning:
    return Change()


_Reading = tuple[str, Callable[[ToolCall], Meaning]]

_TOOLS: Final[dict[str, dict[str, _Reading]]] = {
    "claude": {
        "TodoWrite": ("TodoWrite", _todos),
        "TaskCreate": (TASKS, _change),
        "TaskUpdate": (TASKS, _change),
        "TaskList": (TASKS, _change),
        "TaskGet": (TASKS, _change),
    },
    "codex": {"update_plan": ("update_plan", _plan), "functions.update_plan": ("update_plan", _plan)},
    "pi": {"todo": ("todo", _pi)},
    "hermes": {"todo": ("todo", _hermes), "todo_list": ("todo", _hermes)},
    "opencode": {"todowrite": ("todowrite", _stored_todos), "todoread": ("todowrite", _read_todos)},
    "gemini": {"write_todos": ("write_todos", _gemini)},
    "qwen": {"todo_write": ("todo_write", _stored_todos)},
    "vibe": {"todo": ("todo", _vibe)},
    "kiro": {"todo_list": ("todo_list", _kiro), "todo": ("todo_list", _kiro)},
}
