"""Messages in the form of the OpenAI chat API, as Hermes and Mistral Vibe store them.

A message of the assistant lists its `tool_calls`, as a list or as JSON inside of a string, and a message of the role
`tool` answers one of them by `tool_call_id`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from standfast.transcripts.entries import Call, Part, Result
from standfast.transcripts.events import AssistantMessage, Place, UserMessage
from standfast.transcripts.formats.shared import arguments, content_text
from standfast.transcripts.texts import Loose, absent, load, string

Judge = Callable[[str], Literal["success", "failure", "rejected"]]
"""Tells from a result's text how its call ended."""


class Message(msgspec.Struct):
    """A message. Fields of one client only have their defaults for the other."""

    role: Loose = None
    id: Loose = None
    name: Loose = None
    message_id: Loose = None
    tool_call_id: Loose = None
    tool_name: Loose = None
    timestamp: Loose = None
    active: Loose = None
    compacted: Loose = None
    content: msgspec.Raw = msgspec.field(default_factory=absent)
    tool_calls: msgspec.Raw = msgspec.field(default_factory=absent)


class _Function(msgspec.Struct):
    name: Loose = None
    arguments: msgspec.Raw = msgspec.field(default_factory=absent)


class _ToolCall(msgspec.Struct):
    id: Loose = None
    call_id: Loose = None
    function: _Function | None = None


def parts_of(message: Message, place: Place, judge: Judge) -> list[Part]:
    """A message's parts."""
    text = content_text(message.content)
    match message.role:
        case "user":
            return [UserMessage(place, text)]
        case "assistant":
            said: list[Part] = [AssistantMessage(place, text)] if text else []
            return said + _calls(message, place)
        case "tool":
            name = string(message.tool_name) or string(message.name)
            return [Result(place, string(message.tool_call_id), judge(text), text, tool=name)]
        case _:
            return []


def _calls(message: Message, place: Place) -> list[Part]:
    inside = load(message.tool_calls, str)
    raw = inside.encode(errors="replace") if inside is not None else message.tool_calls
    calls: list[Part] = []
    for each in load(raw, list[_ToolCall]) or []:
        if each.function is not None and string(each.function.name):
            call = string(each.id) or string(each.call_id)
            calls.append(Call(place, call, str(each.function.name), arguments(each.function.arguments)))
    return calls
