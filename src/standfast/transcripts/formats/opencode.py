"""OpenCode's sessions: an export (one document), the files of its older storage, or its database.

A message is `{info, parts}`; a tool's part holds the call with its state, so a call and its result are one record. A
revert is noted in the session and hides a message and all after it until the next prompt removes them. Output that was
pruned later is still a result. The list is also stored by itself, and that outranks what the calls say.

Checked against exports of opencode 1.18.33 and public descriptions of its storage.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from standfast.transcripts.entries import Call, Contents, Entry, Part, Record, Result
from standfast.transcripts.events import AssistantMessage, Compaction, Place, SessionHeader, UserMessage
from standfast.transcripts.formats.shared import clipped, shape_problem, stored, time_text, with_time
from standfast.transcripts.texts import Loose, absent, load, string, value

_REFUSED: Final = ("the user rejected permission", "the user dismissed this question", "rejected by user")


class _Time(msgspec.Struct):
    created: Loose = None
    updated: Loose = None
    start: Loose = None
    end: Loose = None


class _Info(msgspec.Struct):
    id: Loose = None
    role: Loose = None
    summary: msgspec.Raw = msgspec.field(default_factory=absent)
    time: _Time | None = None


class _Message(msgspec.Struct):
    info: _Info
    parts: msgspec.Raw = msgspec.field(default_factory=absent)


class _State(msgspec.Struct):
    status: Loose = None
    output: Loose = None
    error: Loose = None
    input: msgspec.Raw = msgspec.field(default_factory=absent)
    metadata: msgspec.Raw = msgspec.field(default_factory=absent)
    time: _Time | None = None


class _Part(msgspec.Struct, rename={"call_id": "callID"}):
    type: Loose = None
    text: Loose = None
    synthetic: Loose = None
    auto: Loose = None
    tool: Loose = None
    call_id: Loose = None
    state: msgspec.Raw = msgspec.field(default_factory=absent)


class _Revert(msgspec.Struct, rename={"message": "messageID"}):
    message: Loose = None


class Session(msgspec.Struct, rename={"parent_id": "parentID"}):
    """A session as OpenCode stores it."""

    id: Loose = None
    parent_id: Loose = None
    version: Loose = None
    directory: Loose = None
    revert: msgspec.Raw = msgspec.field(default_factory=absent)
    time: _Time | None = None


class _Document(msgspec.Struct):
    info: Session
    messages: list[msgspec.Raw] = []


class OpenCode:
    """Reader of OpenCode's messages."""

    name = "opencode"

    def entry(self, record: Record) -> Entry | None:
        """What a message says."""
        message = load(record.data, _Message)
        if message is None:
            return shape_problem(record.place, "a message of OpenCode")
        info = message.info
        place = with_time(record.place, time_text(info.time.created) if info.time is not None else None)
        entry = Entry(place, [], own=string(info.id))
        for part in load(message.parts, list[_Part]) or []:
            entry.parts.extend(_parts(part, place, info.role))
        return entry

    def document(self, data: bytes | msgspec.Raw) -> Contents | None:
        """An exported session."""
        found = load(data, _Document)
        return None if found is None else Contents([header(found.info)], found.messages, reverted(found.info))


def header(session: Session) -> Entry:
    """The session's header."""
    place = Place(time=time_text(session.time.created) if session.time is not None else None)
    own, parent = string(session.id), string(session.parent_id)
    return Entry(place, [SessionHeader(place, own, string(session.version), string(session.directory), parent)])


def reverted(session: Session) -> list[Entry]:
    """What the session's revert takes back."""
    revert = load(session.revert, _Revert)
    back_to = string(revert.message) if revert is not None else None
    return [Entry(Place(), [], back_to=back_to)] if back_to is not None else []


def _parts(part: _Part, place: Place, role: Loose) -> list[Part]:
    match part.type:
        case "text" if isinstance(part.text, str):
            text = clipped(part.text)
            if role == "assistant":
                return [AssistantMessage(place, text)]
            return [UserMessage(place, text, prompt=part.synthetic is not True)]
        case "compaction":
            return [Compaction(place, "auto" if part.auto is True else "manual" if part.auto is False else "")]
        case "tool" if string(part.tool):
            return _tool(part, place)
        case _:
            return []


def _tool(part: _Part, place: Place) -> list[Part]:
    state = load(part.state, _State) or _State()
    call = string(part.call_id)
    parts: list[Part] = [Call(place, call, str(part.tool), value(state.input))]
    end = time_text(state.time.end) if state.time is not None else None
    at = with_time(place, end or place.time)
    if state.status == "completed":
        parts.append(Result(at, call, "success", clipped(str(state.output or "")), stored(state.metadata)))
    elif state.status == "error":
        parts.append(Result(at, call, _failed(str(state.error or "")), clipped(str(state.error or ""))))
    return parts


def _failed(error: str) -> Literal["failure", "rejected"]:
    low = error[:200].lower()
    return "rejected" if any(words in low for words in _REFUSED) else "failure"
