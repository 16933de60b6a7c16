"""What the host may ask of a store: transactions over typed rows, and nothing else.

A store runs `work(tx)` functions. `write` gives a future that is answered only after the commit that holds
the work (several works may share one commit); `work` may run more than once and therefore has no effects but
those on `tx`. `read` runs on a consistent snapshot.

Not here: SQL (`sqltx`), the databases (`sqlite`, `postgres`), what is decided (`standfast.host`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Protocol, TypeVar

import msgspec

from standfast.domain.change import Event, Row

R = TypeVar("R", bound=Row)
T = TypeVar("T")
Param = str | int | None


class Stamp(msgspec.Struct, frozen=True):
    """What the journal notes of every event beside the event: who, when (ms), under which boot."""

    actor: str
    at: int
    boot: str


class Receipt(msgspec.Struct, frozen=True):
    """The stored answer of one call. `answer` is JSON text; `kept` ones outlive the retention."""

    actor: str
    operation: str
    key: str
    id: str
    digest: str
    answer: str
    kept: bool
    at: int


class Recorded(msgspec.Struct, frozen=True):
    """One event as the journal holds it; `data` and `patch` are JSON texts, `n` counts within `aggregate`."""

    seq: int
    aggregate: str
    n: int
    session_id: str | None
    kind: str
    at: int
    actor: str
    boot: str
    data: str
    patch: str
    digest: str
    hash: str


class Tx(Protocol):
    """One transaction."""

    def now(self) -> int:
        """The store's clock: milliseconds since the epoch, UTC."""

    def get(self, row: type[R], *key: str) -> R | None:
        """The row with this primary key, or None."""

    def find(self, row: type[R], query: str, **params: Param) -> list[R]:
        """The rows that a named query selects."""

    def first(self, row: type[R], query: str, **params: Param) -> R | None:
        """The first row that a named query selects, or None."""

    def number(self, query: str, **params: Param) -> int:
        """The single number that a named query selects."""

    def texts(self, query: str, **params: Param) -> list[str]:
        """The single text column that a named query selects."""

    def journal(self, query: str, **params: Param) -> list[Recorded]:
        """The recorded events that a named query selects."""

    def append(self, events: Sequence[Event], stamp: Stamp) -> int:
        """Saves the events' rows, then the events, chained; the last sequence number (0 without events)."""

    def receipt(self, actor: str, operation: str, key: str) -> Receipt | None:
        """The stored answer of this call, or None."""

    def save_receipt(self, receipt: Receipt) -> None:
        """Stores an answer; the key is new in this transaction."""

    def execute(self, query: str, **params: Param) -> int:
        """Runs a named statement of upkeep (retention) and gives the number of rows that it touched."""


class StoreRefused(Exception):
    """The store cannot be opened; nothing was written. The message says why and what to do."""


class StorageFailed(Exception):
    """The store broke while it worked; what was asked was not acknowledged, and the host must stop.

    The message says what happened and what a person can do.
    """


class Store(Protocol):
    """A database with its schema, opened by one host."""

    @property
    def failure(self) -> StorageFailed | None:
        """Why the store stopped, or None while it works."""

    def write(self, work: Callable[[Tx], T], scope: str = "") -> Future[T]:
        """Runs `work` in a transaction; the future is done after its commit, or with its exception.

        `scope` names what the work is likely to meet others at (a session); a store with concurrent writers
        queues works of one scope behind each other instead of letting them collide.
        """

    def read(self, work: Callable[[Tx], T]) -> T:
        """Runs `work` on a snapshot, in the caller's thread."""

    def backup(self, path: str) -> None:
        """Writes a consistent copy to a new file."""

    def close(self) -> None:
        """Finishes queued writes and closes; later calls fail."""
