"""Qwen Code's chats: JSON lines that form a tree by `uuid` and `parentUuid`; the last record is the tip.

The outer fields are those of Claude Code, the messages those of the Gemini API. A rewind is a record that goes on from
before the turns that it takes back, and a compression a record of the tree, not a new root. With deferred tools a call
goes through `tool_call`, whose arguments name the tool.

Checked against @qwen-code/qwen-code 0.15.10 and files of 0.24.4.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from standfast.transcripts.entries import Call, Entry, Node, Part, Record, Result, one
from standfast.transcripts.events import (
    AssistantMessage,
    Compaction,
    Place,
    SessionHeader,
    UserMessage,
)
from standfast.transcripts.formats.gemini import contents
from standfast.transcripts.formats.shared import anything, shape_problem, stored, time_text, with_time
from standfast.transcripts.texts import Loose, absent, load, string

_ENDED: Final[dict[str, Literal["success", "failure", "rejected"]]] = {
    "success": "success",
    "error": "failure",
    "cancelled": "rejected",
}


class _Line(msgspec.Struct, rename="camel"):
    type: Loose = None
    subtype: Loose = None
    uuid: Loose = None
    parent_uuid: Loose = None
    session_id: Loose = None
    version: Loose = None
    cwd: Loose = None
    timestamp: Loose = None
    provenance: Loose = None
    message: msgspec.Raw = msgspec.field(default_factory=absent)
    tool_call_result: msgspec.Raw = msgspec.field(default_factory=absent)


class _Message(msgspec.Struct):
    role: Loose = None
    parts: msgspec.Raw = msgspec.field(default_factory=absent)


class _Result(msgspec.Struct, rename="camel"):
    call_id: Loose = None
    status: Loose = None
    result_display: msgspec.Raw = msgspec.field(default_factory=absent)


class Qwen:
    """Reader of Qwen Code's records."""

    name = "qwen"

    def entry(self, record: Record) -> Entry | None:
        """What a record says."""
        line = load(record.data, _Line)
        if line is None:
            return shape_problem(record.place, "a Qwen Code record")
        place = with_time(record.place, time_text(line.timestamp))
        own = string(line.uuid)
        entry = Entry(place, [], None if own is None else Node(own, one(string(line.parent_uuid))))
        if string(line.session_id):
            entry.parts.append(SessionHeader(place, string(line.session_id), string(line.version), string(line.cwd)))
        if line.type == "system" and line.subtype == "chat_compression":
            entry.parts.append(Compaction(place))
        message = load(line.message, _Message)
        if message is not None:
            entry.parts.extend(_parts(line, message, place, own))
        return anything([], entry)


def _parts(line: _Line, message: _Message, place: Place, own: str | None) -> list[Part]:
    kept = load(line.tool_call_result, _Result)
    parts: list[Part] = []
    for part in contents(message.parts, place, model=line.type == "assistant"):
        match part:
            case Call():
                parts.append(_called(part, own))
            case Result():
                parts.append(part if kept is None else _stored(part, kept))
            case UserMessage():
                person = line.type == "user" and line.provenance in {None, "real_user"}
                parts.append(msgspec.structs.replace(part, prompt=person and part.prompt))
            case AssistantMessage():
                parts.append(part)
            case _:
                pass
    return parts


def _called(call: Call, own: str | None) -> Call:
    """A call under the name of the tool that is meant."""
    inner = call.arguments if call.tool == "tool_call" and isinstance(call.arguments, dict) else {}
    if isinstance(inner.get("name"), str):
        return msgspec.structs.replace(call, tool=inner["name"], arguments=inner.get("arguments"), group=own)
    return msgspec.structs.replace(call, group=own)


def _stored(result: Result, kept: _Result) -> Result:
    """A result with what the client knows of it."""
    outcome = _ENDED.get(str(kept.status), result.outcome)
    return msgspec.structs.replace(result, outcome=outcome, stored=stored(kept.result_display))
