"""What a format's reader makes of one record: its place in the conversation's tree, and its parts in order.

An entry's parts are events, except that a call and its result are still apart: they stand in different records, and
`pairing` brings them together in either direction.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from standfast.transcripts.events import (
    MAIN,
    AssistantMessage,
    Branched,
    Compaction,
    ModeSeen,
    Place,
    PlanText,
    Problem,
    RolledBack,
    SessionHeader,
    StoredList,
    TurnAborted,
    TurnEnded,
    TurnStarted,
    UserMessage,
)


def one(parent: str | None) -> tuple[str, ...]:
    """The parents of a record that names one, or none."""
    return () if parent is None else (parent,)


class Record(msgspec.Struct, frozen=True):
    """One JSON text of a transcript, not yet understood."""

    data: bytes | msgspec.Raw
    place: Place


class Call(msgspec.Struct, frozen=True):
    """A tool call as the model made it."""

    place: Place
    call: str | None
    tool: str
    arguments: object
    agent: str = MAIN
    group: str | None = None


class Result(msgspec.Struct, frozen=True):
    """A tool's answer. `tool` is known where the record repeats it."""

    place: Place
    call: str | None
    outcome: Literal["success", "failure", "rejected"]
    answer: str | None
    stored: bytes | None = None
    tool: str | None = None
    agent: str = MAIN


Part = (
    Problem
    | Branched
    | SessionHeader
    | TurnStarted
    | TurnEnded
    | TurnAborted
    | ModeSeen
    | UserMessage
    | AssistantMessage
    | Call
    | Result
    | Compaction
    | RolledBack
    | PlanText
    | StoredList
)


class Node(msgspec.Struct, frozen=True):
    """A record's place in a tree.

    The branch goes on with the newest earlier record among `parents`; without any, this is a root. `onward` says that
    such a root is a seam (a compaction) and not a beginning: the conversation goes on with the record before it. `tip`
    says that a branch may end here. Records of one `group` are one message of the model and share a branch.
    """

    id: str
    parents: tuple[str, ...]
    tip: bool = True
    onward: bool = False
    group: str | None = None


class Entry(msgspec.Struct):
    """One record understood. `node` None: it stands outside of a tree, where order alone counts.

    `own` is the id of a message that its client writes again under the same id when it knows more. `keeps` and
    `back_to` take something back: only the messages in `keeps` are still there of all that came before this record, or
    nothing from the message `back_to` on.
    """

    place: Place
    parts: list[Part]
    node: Node | None = None
    agent: str = MAIN
    own: str | None = None
    keeps: frozenset[str] | None = None
    back_to: str | None = None
    taken_back: bool = False


class Contents(msgspec.Struct):
    """A session that is one JSON text: what comes before its messages, they as written, and what comes after."""

    head: list[Entry]
    messages: list[msgspec.Raw]
    tail: list[Entry] = []
