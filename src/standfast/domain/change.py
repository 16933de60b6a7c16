"""What a decision hands back: rows, events and an answer, all values.

`decide` functions are pure: rows and a command in, a `Change` out. Every change of a row travels inside the
event that explains it (`puts`), so the journal cannot tell another story than the tables: the store writes
the rows *and* the journal's patches from the same puts, and folding the patches gives the tables again.

Not here: how puts become SQL, how events are numbered and chained (`standfast.store`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec


class Row(msgspec.Struct, frozen=True):
    """Base of every stored row. Fields: identity, status, links, times."""


class Put(msgspec.Struct, frozen=True):
    """One row written: inserted when `before` is None, deleted when `after` is None, else updated."""

    before: Row | None
    after: Row | None


class Event(msgspec.Struct, frozen=True):
    """One fact for the journal.

    `kind` is dotted (`plan.approved`); `aggregate` is what it happened to (`plan:<id>`, `session:<id>`) and
    names the hash chain; `data` is small, readable JSON; `puts` are the rows that this fact changed.
    """

    kind: str
    aggregate: str
    session: str | None
    data: Mapping[str, object]
    puts: tuple[Put, ...] = ()


class Change(msgspec.Struct, frozen=True):
    """The outcome of a decision. `result` is the caller's answer, plain JSON values."""

    result: Mapping[str, object]
    events: tuple[Event, ...] = ()

    def then(self, other: Change) -> Change:
        """This change followed by `other`; the later answer counts."""
        return Change(other.result, self.events + other.events)


class Actor(msgspec.Struct, frozen=True):
    """Who calls: a role from the connection's token and a durable identity, never a connection.

    `session` is the session that the caller speaks for (proved by its token where the role is bound to one);
    `name` tells operators or processes apart; `connection` is the process or client that carries the call.
    `confirmed` says that the person's passphrase came with the call.
    """

    role: str
    session: str | None = None
    name: str = ""
    connection: str = ""
    confirmed: bool = False

    @property
    def key(self) -> str:
        """The identity that receipts are stored under."""
        return f"{self.role}:{self.session or self.name}"


class Context(msgspec.Struct, frozen=True):
    """What a decision may know of the world: time (ms since the epoch, UTC), actor, fresh ids, host boot."""

    now: int
    actor: Actor
    new_id: Callable[[str], str]
    boot: str
