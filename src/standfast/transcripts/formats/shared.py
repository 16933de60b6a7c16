"""What the readers of several clients need: a reader's shape, and the texts inside of their messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import msgspec

from standfast.transcripts.entries import Contents, Entry, Part, Record
from standfast.transcripts.events import TEXT_LIMIT, Place, Problem
from standfast.transcripts.texts import Loose, load, string, value

DETAIL: Final = 120

BYTES_LIMIT: Final = 4 * 1024 * 1024
"""Bytes of a message's content, or of what is stored beside a result, that are read at all; longer ones stay empty."""


class Format(Protocol):
    """Reads the records of one client. It keeps nothing between records, so that they come in either direction."""

    name: str

    def entry(self, record: Record) -> Entry | None:
        """What a record says; None where it says nothing that anybody asks for."""


class DocumentFormat(Format, Protocol):
    """A client that also keeps, or exports, a session as one JSON text."""

    def document(self, data: bytes | msgspec.Raw) -> Contents | None:
        """The session's messages, each to be read by `entry`; None where the text is something else."""


class Block(msgspec.Struct):
    """A piece of a message's content, in the fields that any client uses."""

    type: Loose = None
    text: Loose = None


def clipped(text: str) -> str:
    """A text within `TEXT_LIMIT`."""
    return text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT]


def content_text(raw: msgspec.Raw) -> str:
    """The text of a message's content: a string, or the texts of a list of blocks, one line each."""
    if len(memoryview(raw)) > BYTES_LIMIT:
        return ""
    found = load(raw, str)
    if found is not None:
        return clipped(found)
    blocks = load(raw, list[Block]) or []
    return clipped("\n".join(block.text for block in blocks if isinstance(block.text, str)))


def arguments(raw: msgspec.Raw | object) -> object:
    """A call's input. Clients of some APIs write it as JSON inside of a string; what is no JSON stays a string."""
    found = value(raw) if isinstance(raw, msgspec.Raw) else raw
    if isinstance(found, str):
        inner = value(found.encode(errors="replace")) if found[:1] in {"{", "["} else None
        return found if inner is None else inner
    return found


def stored(raw: msgspec.Raw) -> bytes | None:
    """What a client stored beside a result; None where there is nothing or too much."""
    view = memoryview(raw)
    data = bytes(view) if len(view) <= BYTES_LIMIT else b"null"
    return None if data == b"null" else data


def shape_problem(place: Place, what: str) -> Entry:
    """An entry that says only that a record has not the shape of its kind."""
    return Entry(place, [Problem(place, "unexpected_shape", what[:DETAIL])])


def time_text(found: object) -> str | None:
    """A record's time as its client wrote it; numbers become decimal text."""
    if isinstance(found, bool):
        return None
    return str(found) if isinstance(found, int | float) else string(found)


def with_time(place: Place, time: str | None) -> Place:
    """The same place, with the record's own time."""
    return msgspec.structs.replace(place, time=time)


def anything(parts: Sequence[Part], entry: Entry) -> Entry | None:
    """The entry if it says something or holds a place in a tree."""
    entry.parts.extend(parts)
    return entry if entry.parts or entry.node is not None else None
