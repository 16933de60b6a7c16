"""Kiro CLI's sessions (before: Amazon Q Developer CLI): JSON lines by kind, or one document with a `history`.

Lines are `{version, kind, data}` with the kinds `Prompt`, `AssistantMessage` and `ToolResults`, in order. A document's
history pairs a user's and an assistant's part; the answers to an assistant's calls are in the next user's part.

Checked against aws/amazon-q-developer-cli, `crates/chat-cli`, and public descriptions of the lines of version 2.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from standfast.transcripts.entries import Call, Contents, Entry, Part, Record, Result
from standfast.transcripts.events import AssistantMessage, Compaction, Place, SessionHeader, UserMessage
from standfast.transcripts.formats.shared import clipped, shape_problem, stored, time_text, with_time
from standfast.transcripts.texts import Loose, absent, load, string, value

_COMPACTED: Final = {"Compaction", "CompactionSummary", "Summary"}


class _Line(msgspec.Struct):
    kind: Loose = None
    data: msgspec.Raw = msgspec.field(default_factory=absent)
    user: msgspec.Raw = msgspec.field(default_factory=absent)
    assistant: msgspec.Raw = msgspec.field(default_factory=absent)


class _Block(msgspec.Struct):
    kind: Loose = None
    data: msgspec.Raw = msgspec.field(default_factory=absent)


class _Meta(msgspec.Struct):
    timestamp: Loose = None


class _Data(msgspec.Struct):
    message_id: Loose = None
    content: msgspec.Raw = msgspec.field(default_factory=absent)
    meta: msgspec.Raw = msgspec.field(default_factory=absent)


class _ToolUse(msgspec.Struct, rename={"use": "toolUseId"}):
    use: Loose = None
    id: Loose = None
    tool_use_id: Loose = None
    name: Loose = None
    status: Loose = None
    input: msgspec.Raw = msgspec.field(default_factory=absent)
    args: msgspec.Raw = msgspec.field(default_factory=absent)
    content: msgspec.Raw = msgspec.field(default_factory=absent)


class _Document(msgspec.Struct, rename={"session": "conversation_id"}):
    session: Loose = None
    history: msgspec.Raw = msgspec.field(default_factory=absent)


class Kiro:
    """Reader of Kiro CLI's records."""

    name = "kiro"

    def entry(self, record: Record) -> Entry | None:
        """What a line, or one pair of a history, says."""
        line = load(record.data, _Line)
        if line is None:
            pair = load(record.data, list[msgspec.Raw])
            if pair is None or len(pair) < 2:
                return shape_problem(record.place, "a Kiro record")
            line = _Line(user=pair[0], assistant=pair[1])
        if line.kind is None:
            parts = _user(line.user, record.place) + _assistant(line.assistant, record.place)
            return Entry(record.place, parts) if parts else None
        if line.kind in _COMPACTED:
            return Entry(record.place, [Compaction(record.place)])
        data = load(line.data, _Data)
        if data is None:
            return shape_problem(record.place, "a Kiro record's data")
        meta = load(data.meta, _Meta) or _Meta()
        place = with_time(record.place, time_text(meta.timestamp))
        blocks = load(data.content, list[_Block]) or []
        parts = [part for block in blocks if (part := _part(line.kind, block, data, place)) is not None]
        return Entry(place, parts) if parts else None

    def document(self, data: bytes | msgspec.Raw) -> Contents | None:
        """A saved conversation."""
        found = load(data, _Document)
        history = load(found.history, list[msgspec.Raw]) if found is not None else None
        if found is None or history is None:
            return None
        return Contents([Entry(Place(), [SessionHeader(Place(), string(found.session))])], history)


def _part(kind: Loose, block: _Block, data: _Data, place: Place) -> Part | None:
    if block.kind == "text":
        text = clipped(load(block.data, str) or "")
        return UserMessage(place, text) if kind == "Prompt" else AssistantMessage(place, text)
    use = load(block.data, _ToolUse)
    if use is None:
        return None
    if block.kind == "toolUse" and string(use.name):
        return Call(place, string(use.use), str(use.name), value(use.input), group=string(data.message_id))
    return _result(use, place) if block.kind == "toolResult" else None


def _result(use: _ToolUse, place: Place) -> Result:
    status = str(use.status).lower()
    outcome: Literal["success", "failure", "rejected"] = "success" if status in {"success", "none"} else "failure"
    if status in {"cancelled", "canceled", "rejected"}:
        outcome = "rejected"
    found = value(use.content)
    return Result(
        place,
        string(use.use) or string(use.tool_use_id),
        outcome,
        clipped("\n".join(_texts(found))),
        stored(use.content),
    )


def _texts(found: object) -> list[str]:
    """The texts of a result's content, which is a text or a list of blocks of several shapes."""
    if isinstance(found, str):
        return [found]
    return [said for each in found if (said := _block_text(each)) is not None] if isinstance(found, list) else []


def _block_text(found: object) -> str | None:
    if not isinstance(found, dict):
        return found if isinstance(found, str) else None
    inner = next((found[name] for name in ("data", "Text", "text", "Json", "json") if name in found), None)
    return inner if isinstance(inner, str) else None


class _Content(msgspec.Struct, rename="pascal"):
    prompt: msgspec.Raw = msgspec.field(default_factory=absent)
    tool_use_results: msgspec.Raw = msgspec.field(default_factory=absent)
    cancelled_tool_uses: msgspec.Raw = msgspec.field(default_factory=absent)


class _Prompt(msgspec.Struct):
    prompt: Loose = None
    tool_use_results: list[_ToolUse] = []


class _User(msgspec.Struct):
    timestamp: Loose = None
    content: _Content | None = None


class _Answer(msgspec.Struct):
    message_id: Loose = None
    content: Loose = None
    tool_uses: list[_ToolUse] = []


class _Said(msgspec.Struct, rename="pascal"):
    tool_use: msgspec.Raw = msgspec.field(default_factory=absent)
    response: msgspec.Raw = msgspec.field(default_factory=absent)


def _user(raw: msgspec.Raw, place: Place) -> list[Part]:
    user = load(raw, _User)
    if user is None or user.content is None:
        return []
    at = with_time(place, time_text(user.timestamp))
    parts: list[Part] = []
    prompt = load(user.content.prompt, _Prompt)
    if prompt is not None and string(prompt.prompt):
        parts.append(UserMessage(at, str(prompt.prompt)))
    answered = load(user.content.tool_use_results, _Prompt)
    parts += [_result(use, at) for use in answered.tool_use_results] if answered is not None else []
    cancelled = load(user.content.cancelled_tool_uses, _Prompt)
    if cancelled is not None:
        results = [_result(use, at) for use in cancelled.tool_use_results]
        parts += [msgspec.structs.replace(result, outcome="rejected") for result in results]
        if string(cancelled.prompt):
            parts.append(UserMessage(at, str(cancelled.prompt)))
    return parts


def _assistant(raw: msgspec.Raw, place: Place) -> list[Part]:
    said = load(raw, _Said) or _Said()
    answer = load(said.tool_use, _Answer) or load(said.response, _Answer)
    if answer is None:
        return []
    said_first: list[Part] = [AssistantMessage(place, answer.content)] if isinstance(answer.content, str) else []
    group = string(answer.message_id)
    named = [use for use in answer.tool_uses if string(use.name)]
    return said_first + [Call(place, string(use.id), str(use.name), value(use.args), group=group) for use in named]
