"""Gemini CLI's chats, in three forms: JSON lines, one JSON document (older), and saved checkpoints.

The lines are a log of upserts: a header, messages that are written again under the same id when their tool calls are
known, `{"$set": …}` with changes of the header, and `{"$rewindTo": id}`. `$set.messages` replaces the model's context:
after a compression (which does not undo what was done), when a session is resumed (the same messages once more), and
when a turn is taken back (fewer messages). A document holds the same messages as a list; a checkpoint holds the API's
contents, whose calls and answers are parts.

Checked against @google/gemini-cli-core 0.61.0, `services/chatRecordingService`.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from standfast.transcripts.entries import Call, Contents, Entry, Part, Record, Result
from standfast.transcripts.events import AssistantMessage, Compaction, Place, SessionHeader, UserMessage
from standfast.transcripts.formats.shared import clipped, content_text, shape_problem, stored, time_text, with_time
from standfast.transcripts.texts import Loose, absent, load, string, value

_SNAPSHOT: Final = "<state_snapshot>"
_ACKNOWLEDGED: Final = "Got it. Thanks for the additional context!"
_PREFACE: Final = "<session_context>"
_ENDED: Final[dict[str, Literal["success", "failure", "rejected"]]] = {
    "success": "success",
    "error": "failure",
    "cancelled": "rejected",
}
_REFUSED_PLAN: Final = ("Plan rejected", "User cancelled the plan approval dialog")


class _Record(msgspec.Struct, rename="camel"):
    id: Loose = None
    type: Loose = None
    role: Loose = None
    timestamp: Loose = None
    session_id: Loose = None
    content: msgspec.Raw = msgspec.field(default_factory=absent)
    parts: msgspec.Raw = msgspec.field(default_factory=absent)
    tool_calls: msgspec.Raw = msgspec.field(default_factory=absent)
    changes: msgspec.Raw = msgspec.field(default_factory=absent, name="$set")
    rewind_to: Loose = msgspec.field(default=None, name="$rewindTo")


class _Changes(msgspec.Struct):
    messages: msgspec.Raw = msgspec.field(default_factory=absent)


class _Document(msgspec.Struct, rename="camel"):
    session_id: Loose = None
    messages: msgspec.Raw = msgspec.field(default_factory=absent)
    history: msgspec.Raw = msgspec.field(default_factory=absent)


class _ToolCall(msgspec.Struct, rename="camel"):
    id: Loose = None
    name: Loose = None
    status: Loose = None
    timestamp: Loose = None
    args: msgspec.Raw = msgspec.field(default_factory=absent)
    result: msgspec.Raw = msgspec.field(default_factory=absent)
    result_display: msgspec.Raw = msgspec.field(default_factory=absent)


class _Part(msgspec.Struct, rename="camel"):
    text: Loose = None
    function_call: msgspec.Raw = msgspec.field(default_factory=absent)
    function_response: msgspec.Raw = msgspec.field(default_factory=absent)


class _Function(msgspec.Struct):
    id: Loose = None
    name: Loose = None
    args: msgspec.Raw = msgspec.field(default_factory=absent)
    response: msgspec.Raw = msgspec.field(default_factory=absent)


class _Response(msgspec.Struct):
    output: Loose = None
    error: Loose = None


class Gemini:
    """Reader of Gemini CLI's records."""

    name = "gemini"

    def entry(self, record: Record) -> Entry | None:
        """What a record says."""
        found = load(record.data, _Record)
        if found is None:
            return shape_problem(record.place, "a Gemini record")
        place = with_time(record.place, time_text(found.timestamp))
        if isinstance(found.rewind_to, str):
            return Entry(place, [], back_to=found.rewind_to)
        changes = load(found.changes, _Changes)
        if changes is not None:
            return _replaced(changes, place)
        own = string(found.id)
        if own is not None and found.type is not None:
            return Entry(place, _message(found, place), own=own)
        if string(found.session_id) is not None:
            return Entry(place, [SessionHeader(place, string(found.session_id))])
        parts = contents(found.parts, place, model=found.role == "model") if found.role is not None else []
        return Entry(place, parts) if parts else None

    def document(self, data: bytes | msgspec.Raw) -> Contents | None:
        """A chat that is one document, or a checkpoint: a list of contents, or an object with one."""
        bare = load(data, list[msgspec.Raw])
        if bare is not None:
            return Contents([], bare)
        found = load(data, _Document) or _Document()
        for raw in (found.messages, found.history):
            messages = load(raw, list[msgspec.Raw])
            if messages is not None:
                session = string(found.session_id)
                head = [Entry(Place(), [SessionHeader(Place(), session)])] if session is not None else []
                return Contents(head, messages)
        return None


def contents(raw: msgspec.Raw, place: Place, *, model: bool) -> list[Part]:
    """The calls, answers and texts of an API content's parts."""
    parts: list[Part] = []
    for each in load(raw, list[_Part]) or []:
        call, answer = load(each.function_call, _Function), load(each.function_response, _Function)
        if call is not None and string(call.name):
            parts.append(Call(place, string(call.id) or string(call.name), str(call.name), value(call.args)))
        elif answer is not None:
            parts.append(_answer(answer, place))
        elif isinstance(each.text, str):
            text = clipped(each.text)
            parts.append(AssistantMessage(place, text) if model else UserMessage(place, text, _is_prompt(text)))
    return parts


def _answer(answer: _Function, place: Place) -> Result:
    said = load(answer.response, _Response) or _Response()
    text = string(said.error) or string(said.output) or ""
    key = string(answer.id) or string(answer.name)
    return Result(place, key, "failure" if string(said.error) else "success", clipped(text), tool=string(answer.name))


def _message(found: _Record, place: Place) -> list[Part]:
    text = content_text(found.content)
    if found.type == "user":
        return [UserMessage(place, text, _is_prompt(text))] if text else []
    if found.type != "gemini":
        return []
    parts: list[Part] = [AssistantMessage(place, text)] if text else []
    for call in load(found.tool_calls, list[_ToolCall]) or []:
        if string(call.name) is None:
            continue
        parts.append(Call(place, string(call.id), str(call.name), value(call.args), group=string(found.id)))
        ended = _ENDED.get(str(call.status))
        if ended is not None:
            parts.append(_result(call, place, ended))
    return parts


def _result(call: _ToolCall, place: Place, ended: Literal["success", "failure", "rejected"]) -> Result:
    answers = [part for part in contents(call.result, place, model=False) if isinstance(part, Result)]
    answer = answers[0].answer if answers else None
    if ended == "success" and (answer or "").startswith(_REFUSED_PLAN):
        ended = "rejected"
    at = with_time(place, time_text(call.timestamp) or place.time)
    return Result(at, string(call.id), ended, answer, stored(call.result_display))


def _is_prompt(text: str) -> bool:
    return bool(text) and not text.lstrip().startswith((_PREFACE, _SNAPSHOT))


def _replaced(changes: _Changes, place: Place) -> Entry | None:
    """A new context: a compression, the beginning of a process, or the messages that are left."""
    messages = load(changes.messages, list[_Record])
    if messages is None:
        return None
    said = [content_text(each.content) for each in messages]
    if any(_SNAPSHOT in text or text.startswith(_ACKNOWLEDGED) for text in said):
        return Entry(place, [Compaction(place)])
    if messages and all(text.startswith(_PREFACE) for text in said):
        return None
    calls = [part for each in messages for part in _message(each, place) if isinstance(part, Call | Result)]
    keeps = frozenset(own for each in messages if (own := string(each.id)) is not None)
    return Entry(place, list(calls), keeps=keeps)
