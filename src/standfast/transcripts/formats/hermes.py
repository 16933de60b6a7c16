"""Hermes: exported sessions (JSON lines, one session each) and `state.db`.

Messages are in the chat API's form and in order. One with `active` 0 was summarised away where `compacted` is 1, which
undoes nothing, and taken back by a rewind where that is 0. The answer of `todo` (newer: `todo_list`) holds the whole
list, that of a read too, and only an answer whose call is there counts. A compression may go on in a child session.

Checked against hermes-agent 0.19.0, `hermes_state.py` and `tools/todo_tool.py`.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from standfast.transcripts.entries import Contents, Entry, Record
from standfast.transcripts.events import Place, SessionHeader
from standfast.transcripts.formats.chat import Message, parts_of
from standfast.transcripts.formats.shared import shape_problem, time_text, with_time
from standfast.transcripts.texts import Loose, absent, load, string


class Session(msgspec.Struct):
    """An exported session without its messages."""

    id: Loose = None
    session_id: Loose = None
    parent_session_id: Loose = None
    cwd: Loose = None
    started_at: Loose = None
    last_active: Loose = None
    end_reason: Loose = None
    messages: msgspec.Raw = msgspec.field(default_factory=absent)

    @property
    def name(self) -> str | None:
        """Its id."""
        return string(self.id) or string(self.session_id)


class Hermes:
    """Reader of Hermes' messages."""

    name = "hermes"

    def entry(self, record: Record) -> Entry | None:
        """What a message says."""
        message = load(record.data, Message)
        if message is None:
            return shape_problem(record.place, "a message of Hermes")
        return said(message, record.place)

    def document(self, data: bytes | msgspec.Raw) -> Contents | None:
        """An exported session."""
        found = load(data, Session)
        messages = load(found.messages, list[msgspec.Raw]) if found is not None else None
        if found is None or messages is None:
            return None
        return Contents([header(found)], messages)


def header(session: Session) -> Entry:
    """The session's header."""
    place = Place(time=time_text(session.started_at))
    own = SessionHeader(place, session.name, None, string(session.cwd), string(session.parent_session_id))
    return Entry(place, [own])


def said(message: Message, place: Place) -> Entry | None:
    """What a message says. One that a rewind hid is there, and marked as taken back."""
    at = with_time(place, time_text(message.timestamp))
    parts = parts_of(message, at, _judge)
    if not parts:
        return None
    return Entry(at, parts, taken_back=message.active is not None and not message.active and not message.compacted)


def _judge(text: str) -> Literal["success", "failure", "rejected"]:
    return "failure" if text.lstrip().startswith(('{"error"', '{"success": false', "Error")) else "success"
