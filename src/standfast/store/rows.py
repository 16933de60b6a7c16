"""Rows as tables: which struct is which table, and how a value travels to a column and to the journal.

Texts, whole numbers and bytes are themselves, booleans are 0 and 1, everything else is JSON text. A struct's
fields are the table's columns, one to one; a test compares both with the schema.

In the journal a long value stands by its digest (`{"sha256", "size"}`): plans of half a megabyte are stored
once, and a payload can be pruned without breaking a chain.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeVar, get_args, get_type_hints

import msgspec

from standfast.domain.change import Put, Row
from standfast.domain.message import Message
from standfast.domain.plan import Execution, Intent, Plan, PlanText, Tracker
from standfast.domain.session import Entry, Project, Session, Turn
from standfast.domain.settings import Setting
from standfast.domain.todo import TodoList, TodoRevision
from standfast.domain.tracker import Evidence, Tick

R = TypeVar("R", bound=Row)
JOURNAL_VALUE_LIMIT: Final = 2_048

TABLES: Final[dict[type[Row], tuple[str, tuple[str, ...]]]] = {
    Project: ("projects", ("id",)),
    Session: ("sessions", ("id",)),
    Turn: ("turns", ("id",)),
    Entry: ("entries", ("session_id", "entry_id")),
    Plan: ("plans", ("id",)),
    PlanText: ("plan_texts", ("plan_id",)),
    Execution: ("executions", ("id",)),
    Tracker: ("trackers", ("session_id", "plan_id")),
    Tick: ("ticks", ("id",)),
    Evidence: ("evidence", ("id",)),
    Message: ("messages", ("id",)),
    Intent: ("intents", ("id",)),
    Setting: ("settings", ("scope", "key")),
    TodoRevision: ("todo_revisions", ("id",)),
    TodoList: ("todo_lists", ("session_id", "agent", "source")),
}

_PLAIN: Final = (str, int, bytes)


class Shape:
    """How one struct maps to its table: column names, encoders and decoders, and its SQL."""

    def __init__(self, row: type[Row]) -> None:
        self.row: Final = row
        self.table, self.key = TABLES[row]
        self.columns: Final = row.__struct_fields__
        hints = get_type_hints(row)
        self._kinds: Final = tuple(_kind(hints[name]) for name in self.columns)
        self._special: Final = tuple((index, kind) for index, kind in enumerate(self._kinds) if kind is not None)
        names = ", ".join(self.columns)
        where = " AND ".join(f"{name} = ?" for name in self.key)
        self.insert: Final = f"INSERT INTO {self.table} ({names}) VALUES ({', '.join('?' * len(self.columns))})"
        self.select: Final = f"SELECT {names} FROM {self.table} WHERE {where}"
        self.where: Final = where
        self.names: Final = names

    def to_columns(self, row: Row) -> list[Any]:
        """The row's values as the database takes them."""
        values = [getattr(row, name) for name in self.columns]
        for index, kind in self._special:
            values[index] = _encode(kind, values[index])
        return values

    def from_columns(self, values: Sequence[Any]) -> Row:
        """The row from the database's values, in the order of `columns`."""
        decoded = list(values)
        for index, kind in self._special:
            decoded[index] = _decode(kind, decoded[index])
        return self.row(*decoded)

    def defaults(self) -> dict[str, Any]:
        """The encoded values of the columns that are younger than some rows: those that have a default."""
        given = self.row.__struct_defaults__
        late = self.columns[len(self.columns) - len(given) :]
        kinds = self._kinds[len(self.columns) - len(given) :]
        return {name: _encode(kind, value) for name, kind, value in zip(late, kinds, given, strict=True)}

    def key_of(self, row: Row) -> tuple[str, ...]:
        """The row's primary key."""
        return tuple(getattr(row, name) for name in self.key)

    def changed(self, before: Row, after: Row) -> dict[str, Any]:
        """The columns that differ, encoded."""
        names = [name for name in self.columns if getattr(before, name) != getattr(after, name)]
        kinds = dict(zip(self.columns, self._kinds, strict=True))
        return {name: _encode(kinds[name], getattr(after, name)) for name in names}


@cache
def shape(row: type[Row]) -> Shape:
    """The shape of a row type; made once."""
    return Shape(row)


def _kind(hint: Any) -> Any:
    """None for a plain column, else the type that is encoded."""
    options = (
        [option for option in get_args(hint) if option is not type(None)] if type(None) in get_args(hint) else [hint]
    )
    wanted = options[0] if len(options) == 1 else hint
    return None if wanted in _PLAIN else wanted


def _encode(kind: Any, value: Any) -> Any:
    if value is None or kind is None:
        return value
    if kind is bool:
        return int(value)
    return msgspec.json.encode(value).decode()


def _decode(kind: Any, value: Any) -> Any:
    if value is None:
        return None
    if kind is bool:
        return bool(value)
    return _decoder(kind)(value)


@cache
def _decoder(kind: Any) -> Callable[[str], Any]:
    return msgspec.json.Decoder(kind).decode


def journal_value(value: Any) -> Any:
    """A column's value as the journal holds it: itself, or its digest where it is long or bytes."""
    if isinstance(value, str):
        if len(value) <= JOURNAL_VALUE_LIMIT // 4:
            return value
        raw = value.encode("utf-8", "surrogatepass")
        if len(raw) <= JOURNAL_VALUE_LIMIT:
            return value
    elif isinstance(value, bytes):
        raw = value
    else:
        return value
    return {"sha256": hashlib.sha256(raw).hexdigest(), "size": len(raw)}


def patch(puts: Sequence[Put]) -> list[list[Any]]:
    """The puts as the journal holds them: `[table, key, changed columns or None]` each."""
    return [_patch(put) for put in puts]


def _patch(put: Put) -> list[Any]:
    row = put.after if put.after is not None else put.before
    assert row is not None, "a put has a row"
    form = shape(type(row))
    key = list(form.key_of(row))
    if put.after is None:
        return [form.table, key, None]
    if put.before is None:
        values: Mapping[str, Any] = dict(zip(form.columns, form.to_columns(put.after), strict=True))
    else:
        values = form.changed(put.before, put.after)
    return [form.table, key, {name: journal_value(value) for name, value in values.items()}]
