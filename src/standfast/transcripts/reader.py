"""Opens a transcript and reads it, from its start or from its end.

`open_transcript` looks at what a file is and gives a `Transcript`; what cannot be read is a transcript without events
but with the problem, never an exception. Only the operating system's refusals are raised: a file that is not there, or
that may not be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import Final

from standfast.transcripts import lines, pairing
from standfast.transcripts.entries import Entry, Part, Record
from standfast.transcripts.events import MAIN, Branched, Event, Place, Problem, SessionHeader, UserMessage
from standfast.transcripts.formats import READERS
from standfast.transcripts.formats.shared import Format
from standfast.transcripts.sniff import Verdict, sniff
from standfast.transcripts.texts import Flaw, texts

COUNT_LIMIT: Final = 16 * 1024 * 1024
"""Bytes of a file up to which lines are numbered also when it is read from its end."""

HEADER_WITHIN: Final = 200
"""Events within which a file says whose it is."""

TURN_LIMIT: Final = 10_000
"""Records of one turn, and agents, that are kept in mind to tell a branch."""


class Transcript:
    """One transcript.

    `format` is the client's name (`claude`, `codex`, `pi`, …), or "" where nothing is known. `size` is in bytes, and
    `reached` counts from the end how many of them the newest backward reading has read.
    """

    def __init__(self, path: Path, verdict: Verdict, size: int) -> None:
        self.path = path
        self.format = verdict.format
        self.size = size
        self.reached = 0
        self._verdict = verdict
        self._reader: Format | None = READERS.get(verdict.format)

    def events(self) -> Iterator[Event]:
        """The events in the file's order. A tool call comes when its result does, with its own place."""
        return pairing.forwards(_joined(self._entries()))

    def backwards(self) -> Iterator[Event]:
        """The events newest first. A tool call comes at its own place, with its result. No `Branched` is told."""
        for seen in self.seen_backwards():
            if isinstance(seen, Problem):
                yield seen
            else:
                yield from seen.events

    def seen_backwards(self) -> Iterator[pairing.Seen | Problem]:
        """The entries newest first, for `branch.active`."""
        heads: dict[str, tuple[str | None, str | None]] = {}
        return pairing.backwards(_told_once(entry, heads) for entry in self._entries_backwards())

    def first_header(self) -> SessionHeader | None:
        """The session that the file says it is at its beginning."""
        for number, event in enumerate(self.events()):
            if isinstance(event, SessionHeader):
                return event
            if number >= HEADER_WITHIN:
                break
        return None

    def _entries(self) -> Iterator[Entry | Problem]:
        if self._reader is None:
            yield self._unknown()
            return
        with self.path.open("rb") as file:
            for number, line in enumerate(lines.forwards(file, 0, self.size), 1):
                yield from _understood(line, number, self._reader)

    def _entries_backwards(self) -> Iterator[Entry | Problem]:
        if self._reader is None:
            yield self._unknown()
            return
        with self.path.open("rb") as file:
            counted = self.size <= COUNT_LIMIT
            number = lines.count(file, self.size) + 1 if counted else None
            for line in lines.backwards(file, self.size):
                self.reached = self.size - line.byte
                if number is not None and line.ended:
                    number -= 1
                yield from reversed([*_understood(line, number, self._reader)])

    def _unknown(self) -> Problem:
        if self._verdict.why:
            return Problem(Place(), "compressed", f"{self._verdict.why}: unpack it first")
        return Problem(Place(), "unknown_format", "no transcript of a known client")


def open_transcript(path: str | PathLike[str]) -> Transcript:
    """The transcript at `path`. Raises `OSError` where the file cannot be opened."""
    where = Path(path)
    with where.open("rb") as file:
        return Transcript(where, sniff(file), lines.size_of(file))


def _understood(line: lines.Line, number: int | None, reader: Format) -> Iterator[Entry | Problem]:
    """What one line says, and what is wrong with it."""
    place = Place(number, line.byte)
    if line.data is None:
        yield Problem(place, "line_too_long", f"{line.length} bytes")
        return
    for found in texts(line.data):
        if isinstance(found, Flaw):
            unfinished = found.reason == "malformed_record" and not line.ended
            yield Problem(place, "unfinished_line" if unfinished else found.reason, found.detail)
        else:
            entry = reader.entry(Record(found.data, Place(number, line.byte + found.at)))
            if entry is not None:
                yield entry


def _joined(entries: Iterable[Entry | Problem]) -> Iterator[Entry | Problem]:
    """The entries in order; headers only where they change, and branches told."""
    heads: dict[str, tuple[str | None, str | None]] = {}
    turn: set[str] = set()
    for entry in entries:
        _told_once(entry, heads)
        if not isinstance(entry, Problem) and entry.node is not None and entry.agent == MAIN:
            if any(isinstance(part, UserMessage) and part.prompt for part in entry.parts):
                # Within a turn parallel calls fork the tree; only a prompt says where a person went on.
                if turn and entry.node.parent not in turn:
                    entry.parts.insert(0, Branched(entry.place, entry.node.parent))
                turn.clear()
            if len(turn) < TURN_LIMIT:
                turn.add(entry.node.id)
        yield entry


def _told_once(entry: Entry | Problem, heads: dict[str, tuple[str | None, str | None]]) -> Entry | Problem:
    """The entry without a header that says what the one before it said."""
    if not isinstance(entry, Problem):
        entry.parts = [part for part in entry.parts if not _is_known(part, heads)]
    return entry


def _is_known(part: Part, heads: dict[str, tuple[str | None, str | None]]) -> bool:
    """Whether a header repeats what the newest one of its agent said."""
    if not isinstance(part, SessionHeader):
        return False
    said = (part.session, part.version)
    known = heads.get(part.agent) == said
    if len(heads) < TURN_LIMIT:
        heads[part.agent] = said
    return known
