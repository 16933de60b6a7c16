"""Mistral Vibe's sessions: a folder with `messages.jsonl` and `meta.json`, or (older) one document with both.

The messages are in the chat API's form and in order. A todo's answer is a Python representation, so the arguments of a
call that succeeded are what counts.

Checked against mistralai/mistral-vibe, `vibe/core/session` and `vibe/core/tools/builtins/todo.py`.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from standfast.transcripts.entries import Contents, Entry, Record
from standfast.transcripts.events import Place, SessionHeader
from standfast.transcripts.formats.chat import Message, parts_of
from standfast.transcripts.formats.shared import shape_problem, time_text, with_time
from standfast.transcripts.texts import Loose, absent, load, string


class _Metadata(msgspec.Struct):
    session_id: Loose = None
    parent_session_id: Loose = None
    start_time: Loose = None


class _Document(msgspec.Struct):
    metadata: _Metadata | None = None
    messages: msgspec.Raw = msgspec.field(default_factory=absent)


class Vibe:
    """Reader of Mistral Vibe's records."""

    name = "vibe"

    def entry(self, record: Record) -> Entry | None:
        """What a message says."""
        message = load(record.data, Message)
        if message is None:
            return shape_problem(record.place, "a message of Mistral Vibe")
        place = with_time(record.place, time_text(message.timestamp))
        parts = parts_of(message, place, _judge)
        return Entry(place, parts) if parts else None

    def document(self, data: bytes | msgspec.Raw) -> Contents | None:
        """A session that is one document."""
        found = load(data, _Document)
        messages = load(found.messages, list[msgspec.Raw]) if found is not None else None
        if found is None or messages is None:
            return None
        meta = found.metadata or _Metadata()
        place = Place(time=time_text(meta.start_time))
        header = SessionHeader(place, string(meta.session_id), parent=string(meta.parent_session_id))
        return Contents([Entry(place, [header])], messages)


def _judge(text: str) -> Literal["success", "failure", "rejected"]:
    head = text.lstrip()[:200]
    if head.startswith("<user_cancellation>"):
        return "rejected"
    return "failure" if head.startswith(("<tool_error>", "<vibe_stop_event>")) else "success"
