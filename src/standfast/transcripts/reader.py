"""Opens a transcript and reads it, from its start or from its end.

`open_transcript` looks at what a file is and gives a `Transcript`; what cannot be read is a transcript without events
but with the problem, never an exception. Only the operating system's refusals are raised: a file that is not there, or
that may not be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Final

import msgspec

from standfast.transcripts import lines, pairing
from standfast.transcripts.databases import client_of
from standfast.transcripts.entries import Entry, Part
from standfast.transcripts.events import MAIN, Branched, Event, Place, Problem, SessionHeader, UserMessage
from standfast.transcripts.formats import DOCUMENTS, READERS
from standfast.transcripts.sniff import Verdict, sniff
from standfast.transcripts.sources import Document, Lines, Sessions, Source
from standfast.transcripts.stores import Database, Headed, Storage, header_beside, storage_root

HEADER_WITHIN: Final = 200
"""Events within which a file says whose it is."""

TURN_LIMIT: Final = 10_000
"""Records of one turn, and agents, that are kept in mind to tell a branch."""


class Transcript:
    """One transcript.

    `format` is the client's name (`claude`, `codex`, `pi`, …), or "" where nothing is known. `size` is in bytes, and
    `reached` counts from the end how many of them the newest reading backwards has read.
    """

    def __init__(self, path: Path, verdict: Verdict, size: int, source: Source | None) -> None:
        self.path = path
        self.format = verdict.format
        self.size = size
        self._verdict = verdict
        self._source = source

    @property
    def reached(self) -> int:
        """Bytes from the end that were read."""
        return self._source.reached if self._source is not None else self.size

    def events(self) -> Iterator[Event]:
        """The events in the file's order. A tool call comes when its result does, with its own place."""
        entries = self._entries(newest_first=False)
        return pairing.forwards(_joined(_copied(entries) if self.format == "codex" else entries))

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
        return pairing.backwards(_told_once(entry, heads) for entry in self._entries(newest_first=True))

    def first_header(self) -> SessionHeader | None:
        """The session that the file says it is at its beginning."""
        within = islice(self.events(), HEADER_WITHIN)
        return next((event for event in within if isinstance(event, SessionHeader)), None)

    def _entries(self, *, newest_first: bool) -> Iterator[Entry | Problem]:
        if self._source is None:
            why = self._verdict.why
            known = Problem(Place(), "compressed", f"{why}: unpack it first") if why else None
            return iter([known or Problem(Place(), "unknown_format", "no transcript of a known client")])
        return self._source.entries(newest_first=newest_first)


def open_transcript(path: str | PathLike[str], *, session: str | None = None) -> Transcript:
    """The transcript at `path`; `session` picks one where a file holds several. Raises `OSError`, and nothing else."""
    where = Path(path)
    if where.is_dir():
        return _folder(where, session)
    with where.open("rb") as file:
        verdict, size = sniff(file), lines.size_of(file)
    if verdict.kind == "unknown" and not verdict.why and (root := storage_root(where)) is not None:
        return Transcript(where, Verdict("storage", "opencode"), 0, Storage(root, session or where.stem))
    if verdict.kind == "database":
        verdict = Verdict("database", client_of(where))
    return Transcript(where, verdict, size, _source(where, verdict, size, session))


def _source(path: Path, verdict: Verdict, size: int, session: str | None) -> Source | None:
    match verdict.kind:
        case "database" if verdict.format:
            return Database(path, size, verdict.format, session)
        case "document":
            return Document(path, size, DOCUMENTS[verdict.format])
        case "sessions":
            return Sessions(path, size, session)
        case "lines":
            lines_of = Lines(path, size, READERS[verdict.format])
            header = header_beside(path, verdict.format)
            return lines_of if header is None else Headed(lines_of, header)
        case _:
            return None


def _folder(path: Path, session: str | None) -> Transcript:
    """A session that is a folder: Mistral Vibe's, or OpenCode's storage."""
    messages = path / "messages.jsonl"
    if messages.is_file():
        return open_transcript(messages, session=session)
    root = storage_root(path)
    if root is None:
        return Transcript(path, Verdict("unknown"), 0, None)
    return Transcript(path, Verdict("storage", "opencode"), 0, Storage(root, session))


def _joined(entries: Iterable[Entry | Problem]) -> Iterator[Entry | Problem]:
    """The entries in order; headers only where they change, and branches told."""
    heads: dict[str, tuple[str | None, str | None]] = {}
    turn: set[str] = set()
    for entry in entries:
        _told_once(entry, heads)
        if not isinstance(entry, Problem) and entry.node is not None and entry.agent == MAIN:
            if any(isinstance(part, UserMessage) and part.prompt for part in entry.parts):
                # Within a turn parallel calls fork the tree; only a prompt says where a person went on.
                if turn and turn.isdisjoint(entry.node.parents):
                    entry.parts.insert(0, Branched(entry.place, next(iter(entry.node.parents), None)))
                turn.clear()
            if len(turn) < TURN_LIMIT:
                turn.add(entry.node.id)
        yield entry


def _copied(entries: Iterable[Entry | Problem]) -> Iterator[Entry | Problem]:
    """A fork's file begins with its own header; one that comes later came along with copied history."""
    own: str | None = None
    for entry in entries:
        if not isinstance(entry, Problem):
            for at, part in enumerate(entry.parts):
                if isinstance(part, SessionHeader):
                    own = own or part.session
                    entry.parts[at] = msgspec.structs.replace(part, copied=part.session != own)
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
