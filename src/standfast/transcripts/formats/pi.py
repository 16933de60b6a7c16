"""Pi's session files: a header, then entries that form a tree by `id` and `parentId`; the last entry is the tip.

Version 1 has neither ids nor parents and is read in order. A todo is what the example extension stored in its result's
`details`: they hold the whole list after each call, and its errors too.

Checked against earendil-works/pi, `packages/coding-agent/src/core/session-manager.ts` (versions 1 to 3).
"""

from __future__ import annotations

import msgspec

from standfast.transcripts.entries import Call, Entry, Node, Part, Record, Result, one
from standfast.transcripts.events import AssistantMessage, Compaction, Place, SessionHeader, TurnAborted, UserMessage
from standfast.transcripts.formats.shared import (
    anything,
    arguments,
    clipped,
    content_text,
    shape_problem,
    stored,
    time_text,
    with_time,
)
from standfast.transcripts.texts import Loose, absent, load, string


class _Entry(msgspec.Struct, rename="camel"):
    type: Loose = None
    id: Loose = None
    parent_id: Loose = None
    timestamp: Loose = None
    version: Loose = None
    cwd: Loose = None
    parent_session: Loose = None
    branched_from: Loose = None
    from_hook: Loose = None
    message: msgspec.Raw = msgspec.field(default_factory=absent)


class _Message(msgspec.Struct, rename="camel"):
    role: Loose = None
    tool_call_id: Loose = None
    tool_name: Loose = None
    is_error: Loose = None
    stop_reason: Loose = None
    content: msgspec.Raw = msgspec.field(default_factory=absent)
    details: msgspec.Raw = msgspec.field(default_factory=absent)


class _Block(msgspec.Struct):
    type: Loose = None
    id: Loose = None
    name: Loose = None
    text: Loose = None
    arguments: msgspec.Raw = msgspec.field(default_factory=absent)


class Pi:
    """Reader of Pi's records."""

    name = "pi"

    def entry(self, record: Record) -> Entry | None:
        """What a record says."""
        found = load(record.data, _Entry)
        if found is None:
            return shape_problem(record.place, "a Pi record")
        place = with_time(record.place, time_text(found.timestamp))
        if found.type == "session":
            return Entry(place, [_header(found, place)])
        own = string(found.id)
        entry = Entry(place, [], None if own is None else Node(own, one(string(found.parent_id))))
        if found.type == "compaction":
            trigger = "extension" if found.from_hook is True else ""
            entry.parts.append(Compaction(place, trigger))
        elif found.type == "message":
            message = load(found.message, _Message)
            if message is None:
                entry.parts.extend(shape_problem(place, "a message of Pi").parts)
            else:
                entry.parts.extend(_parts(message, place, own))
        return anything([], entry)


def _header(found: _Entry, place: Place) -> SessionHeader:
    version = found.version if found.version is not None else 1
    parent = string(found.parent_session) or string(found.branched_from)
    return SessionHeader(place, string(found.id), str(version), string(found.cwd), parent)


def _parts(message: _Message, place: Place, own: str | None) -> list[Part]:
    match message.role:
        case "user":
            return [UserMessage(place, content_text(message.content))]
        case "toolResult":
            return [
                Result(
                    place,
                    string(message.tool_call_id),
                    "failure" if message.is_error is True else "success",
                    content_text(message.content),
                    stored(message.details),
                    string(message.tool_name),
                )
            ]
        case "assistant":
            return _assistant(message, place, own)
        case _:
            return []


def _assistant(message: _Message, place: Place, own: str | None) -> list[Part]:
    parts: list[Part] = []
    for block in load(message.content, list[_Block]) or []:
        if block.type == "toolCall" and isinstance(block.name, str):
            parts.append(Call(place, string(block.id), block.name, arguments(block.arguments), group=own))
        elif block.type == "text" and isinstance(block.text, str):
            parts.append(AssistantMessage(place, clipped(block.text)))
    if message.stop_reason == "aborted":
        parts.append(TurnAborted(place, None, "aborted"))
    return parts
