"""Where entries come from: JSON lines, one document, sessions on one line each, a database, or a folder.

Each source gives a session's entries in order or newest first, and says how many bytes of its end have been read. Only
JSON lines are read from their end; a document is read whole, up to `DOCUMENT_LIMIT`, and its messages are decoded one
by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, Protocol

import msgspec

from standfast.transcripts import lines
from standfast.transcripts.entries import Contents, Entry, Record
from standfast.transcripts.events import Place, Problem
from standfast.transcripts.formats import hermes
from standfast.transcripts.formats.shared import DocumentFormat, Format
from standfast.transcripts.repeats import Copy, copy_at, mark_of, survey
from standfast.transcripts.sniff import DOCUMENT_LIMIT
from standfast.transcripts.texts import Flaw, clean, load, string, texts

COUNT_LIMIT: Final = 16 * 1024 * 1024
"""Bytes of a file that is looked through before it is read from its end: its lines get numbers, copies are left out."""

SESSIONS_LIMIT: Final = 100_000
"""Exported sessions of one file that are told apart."""

Entries = Iterator[Entry | Problem]


class Source(Protocol):
    """A place with one session."""

    @property
    def size(self) -> int:
        """The bytes of the file."""

    @property
    def reached(self) -> int:
        """How many of them, from the end, were read."""

    def entries(self, *, newest_first: bool) -> Entries:
        """The entries, in one of the two directions."""


class Lines:
    """A file of JSON lines."""

    def __init__(self, path: Path, size: int, reader: Format) -> None:
        self.size, self.reached = size, 0
        self._path, self._reader = path, reader

    def entries(self, *, newest_first: bool) -> Entries:
        """The records of the lines."""
        return self._backwards() if newest_first else self._forwards()

    def _forwards(self) -> Entries:
        with self._path.open("rb") as file:
            mark = mark_of(file, self.size)
            passed = 0
            for number, line in enumerate(lines.forwards(file, 0, self.size), 1):
                if line.byte < passed:
                    continue
                if mark is not None and line.data == mark.data and line.byte > mark.byte:
                    copy = copy_at(file, mark, line.byte, self.size)
                    if copy is not None:
                        yield _told(copy, number)
                        passed = copy.end
                        continue
                yield from _understood(line, number, self._reader)

    def _backwards(self) -> Entries:
        with self._path.open("rb") as file:
            found = survey(file, self.size) if self.size <= COUNT_LIMIT else None
            number = found.line_count + 1 if found is not None else None
            for line in lines.backwards(file, self.size):
                self.reached = self.size - line.byte
                number = number - 1 if number is not None else None
                if found is None or not found.copied(line.byte):
                    yield from reversed([*_understood(line, number, self._reader)])
            if found is not None:
                yield from (_told(copy, None) for copy in found.copies)


def _told(copy: Copy, number: int | None) -> Problem:
    return Problem(Place(number, copy.start), "repeated_file", f"{copy.count} lines repeat the beginning of the file")


def _understood(line: lines.Line, number: int | None, reader: Format) -> Entries:
    """What one line says, and what is wrong with it."""
    place = Place(number, line.byte)
    if line.data is None:
        yield Problem(place, "line_too_long", f"{line.length} bytes")
        return
    for found in texts(line.data, ended=line.ended):
        if isinstance(found, Flaw):
            yield Problem(place, found.reason, found.detail)
        else:
            entry = reader.entry(Record(found.data, Place(number, line.byte + found.at)))
            if entry is not None:
                yield entry


class Document:
    """A file that is one JSON text."""

    def __init__(self, path: Path, size: int, reader: DocumentFormat) -> None:
        self.size, self.reached = size, 0
        self._path, self._reader = path, reader

    def entries(self, *, newest_first: bool) -> Entries:
        """The messages of the document."""
        if self.size > DOCUMENT_LIMIT:
            yield Problem(Place(), "too_large", f"a document of {self.size} bytes")
            return
        self.reached = self.size
        data, flaws = clean(self._path.read_bytes().strip(b" \t\r\n\x00").removeprefix(b"\xef\xbb\xbf"))
        yield from (Problem(Place(), flaw.reason, flaw.detail) for flaw in flaws)
        contents = self._reader.document(data)
        if contents is None:
            yield Problem(Place(), "malformed_record", "the document breaks off or has another shape")
            return
        yield from read(contents, self._reader, newest_first=newest_first)


def read(contents: Contents, reader: Format, *, newest_first: bool) -> Entries:
    """The entries of a session that is one text."""
    numbered = list(enumerate(contents.messages, 1))
    yield from reversed(contents.tail) if newest_first else contents.head
    for number, raw in reversed(numbered) if newest_first else numbered:
        entry = reader.entry(Record(raw, Place(message=number)))
        if entry is not None:
            yield entry
    yield from reversed(contents.head) if newest_first else contents.tail


class _Line(msgspec.Struct, frozen=True):
    """Where one exported session stands, and what decides about it."""

    name: str
    parent: str | None
    used: float
    compressed: bool
    byte: int
    length: int


class Sessions:
    """A file with one exported session of Hermes on each line."""

    def __init__(self, path: Path, size: int, session: str | None) -> None:
        self.size, self.reached = size, 0
        self._path, self._session = path, session

    def entries(self, *, newest_first: bool) -> Entries:
        """The session that was used last, or the one asked for, with those that it goes on from."""
        reader = hermes.Hermes()
        known: dict[str, _Line] = {}
        with self._path.open("rb") as file:
            for line in lines.forwards(file, 0, self.size):
                found = _session(line)
                if isinstance(found, Problem):
                    yield found
                elif found is not None and len(known) < SESSIONS_LIMIT:
                    known[found.name] = found
            self.reached = self.size
            chosen = _lineage(known, self._session)
            if len(known) > len(chosen):
                yield Problem(Place(), "several_sessions", f"{len(known)} sessions; one is read")
            for each in chosen if newest_first else reversed(chosen):
                file.seek(each.byte)
                contents = reader.document(clean(file.read(each.length).strip())[0])
                if contents is not None:
                    yield from read(contents, reader, newest_first=newest_first)


def _session(line: lines.Line) -> _Line | Problem | None:
    place = Place(byte=line.byte)
    if line.data is None:
        return Problem(place, "line_too_long", f"{line.length} bytes")
    data = line.data.strip()
    if not data:
        return None
    found = load(clean(data)[0], hermes.Session)
    if found is None or found.name is None:
        return Problem(place, "malformed_record" if line.ended else "unfinished_line", "no session of Hermes")
    times = [each for each in (found.last_active, found.started_at) if isinstance(each, int | float)]
    parent = string(found.parent_session_id)
    return _Line(found.name, parent, max(times, default=0), found.end_reason == "compression", line.byte, line.length)


def _lineage(known: dict[str, _Line], session: str | None) -> list[_Line]:
    """The session and those that it goes on from, the newest first."""
    name = session or max(known.values(), key=lambda each: each.used).name if known else session
    chosen: list[_Line] = []
    while name in known and known[name] not in chosen:
        if chosen and not known[name].compressed:
            break
        chosen.append(known[name])
        name = chosen[-1].parent or ""
    return chosen
