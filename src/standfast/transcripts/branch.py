"""Which part of a file is the conversation that goes on: read newest first.

In a tree the active branch ends at the newest message and leads over the parents to a root. What hangs beside it was
abandoned (a rewind, a second try). Three things are no branches and must not be taken for one: a message of several
records (they share a `group`), parallel results (they belong to their calls), and a compaction (its root is a seam).

A parent that is not in the file breaks the way. Whether it is missing is known only at the file's beginning, so calls
that might belong are held until then; if it is missing, order decides and the gap is told. A rollback takes the newest
turns of the user away, from a prompt back to where its turn began.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, Literal

import msgspec

from standfast.transcripts.entries import Entry
from standfast.transcripts.events import (
    SIDECHAIN,
    AssistantMessage,
    Event,
    Place,
    Problem,
    RolledBack,
    ToolCall,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from standfast.transcripts.pairing import Seen

HELD_LIMIT: Final = 10_000
"""Events beside the branch that are held while it is open whether they belong to it."""

GROUPS: Final = 64
"""Messages of the branch whose other records are still expected."""

Standing = Literal["active", "abandoned", "rolled_back"]
"""What an event counts: on the branch, beside it, or taken back."""


class Step(msgspec.Struct, frozen=True):
    """One event and its standing."""

    event: Event
    standing: Standing


class _Held(msgspec.Struct):
    event: Event
    group: str | None
    settled: bool = False


class _Thread:
    """The way of one agent from its tip to a root."""

    def __init__(self) -> None:
        self.sought: tuple[str, ...] = ()
        self.newest: str | None = None
        self.at_tip = True
        self.at_root = False
        self.groups: dict[str, None] = {}
        self.held: list[_Held] = []

    def follow(self, seen: Seen) -> bool:
        """Whether an entry is on the branch; if it is the one that is sought, its parent is sought next."""
        node = seen.entry.node
        if node is not None and node.id == self.newest:
            # Some clients write a message in several records under one id.
            return True
        if node is None or self.at_root:
            return not self.at_root
        if self.at_tip:
            if not node.tip:
                return True
        elif node.id not in self.sought:
            return node.group is not None and node.group in self.groups
        self.at_tip = False
        self.newest = node.id
        for each in self.held:
            each.settled = True
        if node.group is not None:
            self.groups.pop(node.group, None)
            self.groups[node.group] = None
            if len(self.groups) > GROUPS:
                del self.groups[next(iter(self.groups))]
        self.sought = node.parents
        if not node.parents:
            # A seam goes on with whatever message came before it; a true root ends the branch.
            self.at_tip = node.onward
            self.at_root = not node.onward
        return True

    def adopted(self, group: str | None) -> Iterator[_Held]:
        """What was held and belongs to a message of the branch."""
        if group is None or not self.held:
            return
        for each in [each for each in self.held if each.group == group]:
            self.held.remove(each)
            yield each


def active(source: Iterable[Seen | Problem], wanted: Callable[[Event], bool]) -> Iterator[Step]:
    """Events newest first with their standing. Beside the branch only `wanted` ones are kept track of."""
    threads: dict[str, _Thread] = {}
    rollback = _Rollback()
    taken_back = _TakenBack()
    for seen in source:
        if isinstance(seen, Problem):
            yield Step(seen, "active")
            continue
        node = seen.entry.node
        thread = threads.setdefault(seen.entry.agent, _Thread())
        # Old clients mix the records of several unnamed subagents; order is all there is.
        on_branch = seen.entry.agent == SIDECHAIN or thread.follow(seen)
        if on_branch and node is not None:
            yield from (Step(each.event, "active") for each in thread.adopted(node.group))
        gone = taken_back.holds(seen.entry)
        for event in seen.events:
            standing: Standing = "rolled_back" if gone else rollback.standing(event)
            if on_branch:
                yield Step(event, standing)
            elif thread.at_root or len(thread.held) >= HELD_LIMIT:
                yield Step(event, "abandoned")
            elif wanted(event):
                thread.held.append(_Held(event, node.group if node is not None else None))
    for thread in threads.values():
        yield from _rest(thread)


def _rest(thread: _Thread) -> Iterator[Step]:
    """What is left at the beginning of the file: abandoned, or by order where the way broke."""
    broken = bool(thread.sought) and not thread.at_root
    if broken:
        yield Step(
            Problem(Place(), "missing_parent", f"no record {thread.sought[0]}; order decides before it"), "active"
        )
    for each in thread.held:
        by_order = broken and not each.settled
        yield Step(each.event, "active" if by_order else "abandoned")


class _TakenBack:
    """Messages that a later record of an upsert log has taken back."""

    def __init__(self) -> None:
        self._keeps: frozenset[str] | None = None
        self._back_to: str | None = None
        self._passed: set[str] = set()

    def holds(self, entry: Entry) -> bool:
        """Whether an entry was taken back; what it takes back itself holds for what is older."""
        gone = entry.taken_back or (
            entry.own is not None
            and (
                self._back_to is not None
                or entry.own in self._passed
                or (self._keeps is not None and entry.own not in self._keeps)
            )
        )
        if entry.own is not None and entry.own == self._back_to:
            # Earlier records of the same message go with it.
            self._passed.add(entry.own)
            self._back_to = None
        if self._keeps is None and entry.keeps is not None:
            self._keeps = entry.keeps
        if self._keeps is None and self._back_to is None:
            self._back_to = entry.back_to
        return gone


class _Rollback:
    """How many turns of the user are still to be taken back."""

    def __init__(self) -> None:
        self._turns = 0
        self._before_prompt = False

    def standing(self, event: Event) -> Standing:
        """Whether an event lies in a turn that was taken back; the turn reaches from its start to its end."""
        if isinstance(event, RolledBack):
            self._turns += event.turns
            self._before_prompt = False
            return "active"
        if self._before_prompt:
            # Between a turn's start and its prompt stand settings and context of that turn.
            if isinstance(event, TurnStarted):
                self._before_prompt = False
                return "rolled_back"
            earlier = isinstance(event, TurnEnded | ToolCall | AssistantMessage)
            if not earlier and not (isinstance(event, UserMessage) and event.prompt):
                return "rolled_back"
            self._before_prompt = False
        if self._turns <= 0:
            return "active"
        if isinstance(event, UserMessage) and event.prompt:
            self._turns -= 1
            self._before_prompt = self._turns == 0
        return "rolled_back"
