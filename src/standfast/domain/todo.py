"""Todo lists: what an agent does now. Not a plan, since nobody approved it, and not proof.

One list per (session, agent, source). Every write is one revision that holds the whole list; the newest one on
the selected branch is in force. A list whose items have all ended is over: the next write begins a new one.

Items are numbered once per session and keep their number through rewording, reordering and compaction. The ids
that a model gives are its own names within one list, since it starts at 1 again with its next. An item that has
ended stays ended: the same words or name with an open status begin a new item.

A list that was captured from a client's own tool is a fact about what happened. It is kept as it is, whatever
its rules were, and flagged where it breaks ours.

Not here: what a model reads of a list (`todo_views`), files of other programs (`standfast.transcripts`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from standfast.domain.change import Context, Event, Put, Row

STATUSES: Final = ("pending", "in_progress", "completed", "cancelled")
ENDED: Final = frozenset({"completed", "cancelled", "deleted"})
PROVENANCES: Final = ("written", "captured", "restored", "inherited")
FLAGS: Final = ("several_in_progress", "unknown_status", "cut")
OWN: Final = "standfast"
MAIN: Final = "main"
MAX_ITEMS: Final = 256
MAX_CONTENT: Final = 4_000
MAX_NAME: Final = 200
GUARDED_ITEMS: Final = 4
"""From so many items on a write that drops more than half of the open ones is warned about."""
_CHECKING: Final = ("verif", "test", "check")


class Item(msgspec.Struct, frozen=True, rename={"state": "status"}, omit_defaults=True):
    """One item. `number` is its own in the session, `name` the id that the model gave it within this list.

    `state` is one of `STATUSES`; a captured item may have any word. `parent` and `depends_on` are numbers.
    """

    number: int
    content: str
    state: str = "pending"
    name: str = ""
    active_form: str = ""
    parent: int | None = None
    depends_on: tuple[int, ...] = ()
    evidence: str = ""
    updated_at: int = 0

    @property
    def id(self) -> str:
        """What a model calls it: its own name for it, else `T-` and the number."""
        return self.name or f"T-{self.number}"

    @property
    def open(self) -> bool:
        """Whether there is work left; a status that nobody knows counts as open."""
        return self.state not in ENDED


class Given(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"state": "status"}):
    """An item as a writer sends it; with `merge` a field that is not given stays as it is."""

    id: str | None = None
    content: str | None = None
    state: str | None = None
    active_form: str | None = None
    parent: str | None = None
    depends_on: tuple[str, ...] | None = None
    evidence: str | None = None


class TodoList(Row, frozen=True):
    """The head of one list. `revision_id` is the revision in force on the selected branch, None without one.

    `revisions` and `highest` only grow: the newest revision's number and the highest item number given out.
    `nudged` is the last list that was asked for a check; `reminded_at` when the model was last reminded.
    """

    session_id: str
    agent: str
    source: str
    revision_id: str | None
    revisions: int
    highest: int
    nudged: int
    reminded_at: int
    updated_at: int


class TodoRevision(Row, frozen=True):
    """One write of a list: the whole list as it then was. `list` counts the lists of this place, from 1.

    `entry` is the branch entry at which it was written, None where the client has no tree.
    """

    id: str
    session_id: str
    agent: str
    source: str
    n: int
    list: int
    entry: str | None
    turn_id: str | None
    provenance: str
    actor: str
    items: tuple[Item, ...]
    flags: tuple[str, ...]
    at: int

    @property
    def over(self) -> bool:
        """Whether nothing is left of it: cleared, or every item has ended."""
        return not any(item.open for item in self.items)


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Whose list a write is for, and what is there: its head, and the revision in force.

    `highest` is the highest item number in the whole session; `foreign` says that it is a client's own list.
    """

    session_id: str
    agent: str
    source: str
    head: TodoList | None
    current: TodoRevision | None
    highest: int
    entry: str | None = None
    turn_id: str | None = None
    foreign: bool = False

    @property
    def base(self) -> tuple[Item, ...]:
        """The items that a write changes; none when the list is over. A foreign one goes on as its client says."""
        if self.current is None or (self.current.over and not self.foreign):
            return ()
        return self.current.items

    @property
    def list(self) -> int:
        """The number of the list that a write goes to."""
        if self.current is None:
            return 1
        if self.foreign and self.current.items:
            return self.current.list
        return self.current.list + (1 if self.current.over and self.current.items else 0)


def recorded(
    place: Place, items: tuple[Item, ...], provenance: str, flags: tuple[str, ...], ctx: Context
) -> tuple[TodoRevision, Event]:
    """The revision that a write makes, and the event that says so with the list's new head."""
    head = place.head
    n = 1 if head is None else head.revisions + 1
    revision = TodoRevision(
        id=ctx.new_id("tdr"),
        session_id=place.session_id,
        agent=place.agent,
        source=place.source,
        n=n,
        list=place.list,
        entry=place.entry,
        turn_id=place.turn_id,
        provenance=provenance,
        actor=ctx.actor.key,
        items=items,
        flags=flags,
        at=ctx.now,
    )
    highest = max((item.number for item in items), default=0)
    before = head or TodoList(place.session_id, place.agent, place.source, None, 0, 0, 0, 0, ctx.now)
    after = msgspec.structs.replace(
        before, revision_id=revision.id, revisions=n, highest=max(highest, before.highest), updated_at=ctx.now
    )
    done, total = progress(items)
    data: dict[str, object] = {
        "agent": place.agent,
        "source": place.source,
        "revision": n,
        "done": done,
        "total": total,
        "provenance": provenance,
    }
    puts = (Put(None, revision), Put(head, after))
    return revision, Event("todo.written", aggregate(place.session_id), place.session_id, data, puts)


def changed(head: TodoList, kind: str, **fields: object) -> Event:
    """A change of a list's head alone."""
    after = msgspec.structs.replace(head, **fields)
    data: dict[str, object] = {"agent": head.agent, "source": head.source}
    return Event(kind, aggregate(head.session_id), head.session_id, data, (Put(head, after),))


def aggregate(session_id: str) -> str:
    """The name of the hash chain of a session's lists."""
    return f"todos:{session_id}"


def progress(items: Sequence[Item]) -> tuple[int, int]:
    """How many are completed, and how many there are beside the cancelled ones."""
    counted = [item for item in items if item.state not in ("cancelled", "deleted")]
    return sum(item.state == "completed" for item in counted), len(counted)


def flags_of(items: Sequence[Item]) -> tuple[str, ...]:
    """Where a foreign list breaks our rules."""
    found = []
    if sum(item.state == "in_progress" for item in items) > 1:
        found.append("several_in_progress")
    if any(item.state not in STATUSES and item.state != "deleted" for item in items):
        found.append("unknown_status")
    return tuple(found)


def dropped(before: Sequence[Item], after: Sequence[Item]) -> int:
    """How many open items a write took away, if that is more than half of them; else 0."""
    left = {item.number for item in after}
    was_open = [item.number for item in before if item.open]
    gone = sum(number not in left for number in was_open)
    return gone if len(before) >= GUARDED_ITEMS and gone * 2 > len(was_open) else 0


def unchecked(items: Sequence[Item], least: int) -> bool:
    """Whether a list of `least` or more is all but done, and nothing in it says that anything was checked."""
    if not least or len(items) < least or sum(item.open for item in items) > 1:
        return False
    words = " ".join(item.content.lower() for item in items)
    return not any(word in words for word in _CHECKING) and not any(item.evidence for item in items)
