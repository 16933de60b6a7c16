"""A transaction over SQL, the same for every database.

A dialect supplies a cursor's `execute`, its placeholder style and the clock; everything that could be decided
twice (rows, journal, chain, receipts) is here once.

The journal: each event gets the next number of its aggregate and a hash over the hash before it, its own
identity and the digest of its payload, so an edit behind the host's back breaks the chain while a payload can
still be pruned.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar, cast

import msgspec

from standfast.domain.change import Event, Put, Row
from standfast.store.queries import queries
from standfast.store.rows import patch, shape
from standfast.store.tx import Param, Receipt, Recorded, Stamp

R = TypeVar("R", bound=Row)
GENESIS: Final = "0" * 64
_EVENT_COLUMNS: Final = Recorded.__struct_fields__
_RECEIPT_COLUMNS: Final = Receipt.__struct_fields__
_json: Final = msgspec.json.Encoder(order="deterministic")


def payload_digest(data: str, patch_text: str) -> str:
    """The digest of an event's payload, hex SHA-256."""
    return hashlib.sha256(f"{data}\0{patch_text}".encode("utf-8", "surrogatepass")).hexdigest()


def link(previous: str, aggregate: str, n: int, kind: str, stamp: Stamp, digest: str) -> str:
    """The hash of one event in its aggregate's chain, hex SHA-256."""
    text = "\0".join((previous, aggregate, str(n), kind, str(stamp.at), stamp.actor, stamp.boot, digest))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class SqlTx(ABC):
    """One transaction over SQL. Not thread-safe; lives as long as the work that it was made for."""

    dialect = "sqlite"

    @abstractmethod
    def run(self, sql: str, params: Sequence[Any] | Mapping[str, Any] = ()) -> Any:
        """Executes one statement in the dialect and gives its cursor."""

    @abstractmethod
    def now(self) -> int:
        """The store's clock, milliseconds."""

    def _named(self, query: str, columns: str, params: Mapping[str, Param]) -> Any:
        return self.run(queries(self.dialect)[query].replace("{columns}", columns), params)

    def get(self, row: type[R], *key: str) -> R | None:
        """The row with this primary key, or None."""
        form = shape(row)
        values = self.run(form.select, key).fetchone()
        return None if values is None else cast(R, form.from_columns(values))

    def find(self, row: type[R], query: str, **params: Param) -> list[R]:
        """The rows that a named query selects."""
        form = shape(row)
        cursor = self._named(query, form.names, params)
        return [cast(R, form.from_columns(values)) for values in cursor.fetchall()]

    def first(self, row: type[R], query: str, **params: Param) -> R | None:
        """The first row that a named query selects, or None."""
        form = shape(row)
        values = self._named(query, form.names, params).fetchone()
        return None if values is None else cast(R, form.from_columns(values))

    def number(self, query: str, **params: Param) -> int:
        """The single number that a named query selects."""
        return int(self._named(query, "", params).fetchone()[0] or 0)

    def texts(self, query: str, **params: Param) -> list[str]:
        """The single text column that a named query selects."""
        return [values[0] for values in self._named(query, "", params).fetchall()]

    def journal(self, query: str, **params: Param) -> list[Recorded]:
        """The recorded events that a named query selects."""
        cursor = self._named(query, ", ".join(_EVENT_COLUMNS), params)
        return [Recorded(*values) for values in cursor.fetchall()]

    def execute(self, query: str, **params: Param) -> int:
        """Runs a named statement of upkeep and gives the number of rows that it touched."""
        return int(self._named(query, "", params).rowcount)

    def append(self, events: Sequence[Event], stamp: Stamp) -> int:
        """Saves the events' rows, then the events, chained; the last sequence number (0 without events)."""
        last = 0
        heads: dict[str, tuple[int, str]] = {}
        for event in events:
            for put in event.puts:
                self._put(put)
            n, previous = heads.get(event.aggregate) or self._head(event.aggregate)
            data = _json.encode(event.data).decode()
            patch_text = _json.encode(patch(event.puts)).decode()
            digest = payload_digest(data, patch_text)
            hashed = link(previous, event.aggregate, n + 1, event.kind, stamp, digest)
            last = self._insert_event(
                (
                    event.aggregate,
                    n + 1,
                    event.session,
                    event.kind,
                    stamp.at,
                    stamp.actor,
                    stamp.boot,
                    data,
                    patch_text,
                    digest,
                    hashed,
                )
            )
            heads[event.aggregate] = (n + 1, hashed)
        return last

    def _head(self, aggregate: str) -> tuple[int, str]:
        row = self._named("chain_head", "", {"aggregate": aggregate}).fetchone()
        return (int(row[0]), str(row[1])) if row else (0, GENESIS)

    def _insert_event(self, values: tuple[Any, ...]) -> int:
        names = ", ".join(_EVENT_COLUMNS[1:])
        marks = ", ".join("?" * len(values))
        cursor = self.run(f"INSERT INTO events ({names}) VALUES ({marks}) RETURNING seq", values)
        return int(cursor.fetchone()[0])

    def _put(self, put: Put) -> None:
        if put.after is None:
            assert put.before is not None, "a put has a row"
            form = shape(type(put.before))
            self._one(self.run(f"DELETE FROM {form.table} WHERE {form.where}", form.key_of(put.before)), form.table)
            return
        form = shape(type(put.after))
        if put.before is None:
            self.run(form.insert, form.to_columns(put.after))
            return
        values = form.changed(put.before, put.after)
        if values:
            assigned = ", ".join(f"{name} = ?" for name in values)
            sql = f"UPDATE {form.table} SET {assigned} WHERE {form.where}"
            self._one(self.run(sql, (*values.values(), *form.key_of(put.after))), form.table)

    @staticmethod
    def _one(cursor: Any, table: str) -> None:
        if cursor.rowcount != 1:
            raise RuntimeError(f"a write to {table} touched {cursor.rowcount} rows instead of one")

    def receipt(self, actor: str, operation: str, key: str) -> Receipt | None:
        """The stored answer of this call, or None."""
        params = {"actor": actor, "operation": operation, "key": key}
        values = self._named("receipt_of", ", ".join(_RECEIPT_COLUMNS), params).fetchone()
        if values is None:
            return None
        actor_key, name, key, receipt, digest, answer, kept, at = values
        return Receipt(actor_key, name, key, receipt, digest, answer, bool(kept), at)

    def save_receipt(self, receipt: Receipt) -> None:
        """Stores an answer; the key is new in this transaction."""
        marks = ", ".join("?" * len(_RECEIPT_COLUMNS))
        values = [int(value) if isinstance(value, bool) else value for value in msgspec.structs.astuple(receipt)]
        self.run(f"INSERT INTO receipts ({', '.join(_RECEIPT_COLUMNS)}) VALUES ({marks})", values)
