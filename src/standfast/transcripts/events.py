"""What a transcript says, in one vocabulary for all clients.

A transcript is a client's own record of a session. Its readers turn records into the events below and keep to what
is written: an event exists because a record says it. What was wrong with a record is an event too (`Problem`), so a
damaged file is read to its end.

`agent` names who acted: "" is the session's own thread, anything else a subagent by the client's id for it, or
`sidechain` where an old client gave none. Texts are as in the file; a reader of this library shows them with care.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

MAIN: Final = ""
"""The agent of a session's own thread."""

SIDECHAIN: Final = "sidechain"
"""The agent of a subagent's record that names no agent."""

TEXT_LIMIT: Final = 1_000_000
"""Characters of one message, answer or plan that are kept; the rest is cut."""

Outcome = Literal["success", "failure", "rejected", "unanswered"]
"""How a tool call ended: done, refused by the tool, refused by a person, or without an answer in this file."""

ProblemReason = Literal[
    "compressed",
    "glued_records",
    "history_elsewhere",
    "invalid_utf8",
    "line_too_long",
    "lone_surrogate",
    "malformed_record",
    "missing_parent",
    "null_bytes",
    "repeated_file",
    "several_sessions",
    "too_deep",
    "too_large",
    "torn_record",
    "unexpected_shape",
    "unfinished_line",
    "unknown_format",
    "unreadable",
]


class Place(msgspec.Struct, frozen=True):
    """Where a record stands: its 1-based line and its first byte, and its own time as the client wrote it.

    `line` is None where a file was read from its end and is too long to count. In a document or a database `message`
    is the 1-based position among the session's messages, and there is neither line nor byte.
    """

    line: int | None = None
    byte: int | None = None
    time: str | None = None
    message: int | None = None


class Problem(msgspec.Struct, frozen=True, tag="problem"):
    """A record, or a part of one, that could not be read as it should be. Reading went on after it."""

    place: Place
    reason: ProblemReason
    detail: str = ""


class SessionHeader(msgspec.Struct, frozen=True, tag="session"):
    """Which session a record belongs to, told when a file begins and when it changes.

    `parent` is the session that this one was forked from, or the parent of a subagent's session. `copied` says that
    the header came along with copied history and names the session that the history comes from.
    """

    place: Place
    session: str | None = None
    version: str | None = None
    directory: str | None = None
    parent: str | None = None
    agent: str = MAIN
    copied: bool = False


class TurnStarted(msgspec.Struct, frozen=True, tag="turn_started"):
    """A turn began."""

    place: Place
    turn: str | None = None


class TurnEnded(msgspec.Struct, frozen=True, tag="turn_ended"):
    """A turn came to its end."""

    place: Place
    turn: str | None = None


class TurnAborted(msgspec.Struct, frozen=True, tag="turn_aborted"):
    """A turn was broken off."""

    place: Place
    turn: str | None = None
    reason: str = ""
    agent: str = MAIN


class ModeSeen(msgspec.Struct, frozen=True, tag="mode"):
    """The client's mode from here on, in its own word (`plan`, `default`, …)."""

    place: Place
    mode: str


class UserMessage(msgspec.Struct, frozen=True, tag="user"):
    """A message in the user's role. `prompt`: a person's words, and not what the client or a hook put there."""

    place: Place
    text: str
    prompt: bool = True
    agent: str = MAIN


class AssistantMessage(msgspec.Struct, frozen=True, tag="assistant"):
    """The model's text."""

    place: Place
    text: str
    agent: str = MAIN


class ToolCall(msgspec.Struct, frozen=True, tag="tool_call"):
    """A tool call with what became of it.

    `arguments` is the decoded input, or its text where it is no JSON. `answer` is the result's text and `stored` what
    the client stored beside it for itself, as JSON; both are None where there is none.
    """

    place: Place
    call: str | None
    tool: str
    arguments: object
    outcome: Outcome
    answer: str | None = None
    stored: bytes | None = None
    answered: Place | None = None
    agent: str = MAIN
    group: str | None = None

    @property
    def details(self) -> object:
        """What `stored` holds. It is decoded when it is asked for: few of these are, and some are large."""
        try:
            return None if self.stored is None else msgspec.json.decode(self.stored)
        except (msgspec.DecodeError, RecursionError):
            return None


class OrphanResult(msgspec.Struct, frozen=True, tag="orphan_result"):
    """A result whose call is not in this file. It proves nothing."""

    place: Place
    call: str | None
    agent: str = MAIN


class Compaction(msgspec.Struct, frozen=True, tag="compaction"):
    """The client replaced earlier messages by a summary."""

    place: Place
    trigger: str = ""
    agent: str = MAIN


class Branched(msgspec.Struct, frozen=True, tag="branched"):
    """The record after this event does not follow the one before it: it goes on after the record `after`."""

    place: Place
    after: str | None


class RolledBack(msgspec.Struct, frozen=True, tag="rolled_back"):
    """The newest `turns` turns of the user were taken back, with all that happened in them."""

    place: Place
    turns: int


class PlanText(msgspec.Struct, frozen=True, tag="plan"):
    """A client stored a proposed plan as such, outside of a tool call."""

    place: Place
    text: str
    agent: str = MAIN


class StoredList(msgspec.Struct, frozen=True, tag="stored_list"):
    """A client's own store holds this list of a session; it outranks what calls say."""

    place: Place
    tool: str
    items: object
    agent: str = MAIN


Event = (
    Problem
    | SessionHeader
    | TurnStarted
    | TurnEnded
    | TurnAborted
    | ModeSeen
    | UserMessage
    | AssistantMessage
    | ToolCall
    | OrphanResult
    | Compaction
    | Branched
    | RolledBack
    | PlanText
    | StoredList
)
