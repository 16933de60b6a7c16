"""Sessions that are not one file of text: in a database, and in the many small files of OpenCode's older storage.

The storage has a file for each session, message and part: `session/*/ID.json`, `message/SESSION/ID.json`,
`part/MESSAGE/ID.json` and `todo/SESSION.json`. Ids grow with time, so names give the order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from standfast.transcripts import databases
from standfast.transcripts.entries import Entry, Record
from standfast.transcripts.events import MAIN, Place, Problem, SessionHeader, StoredList
from standfast.transcripts.formats import opencode
from standfast.transcripts.sources import Lines
from standfast.transcripts.texts import Loose, load, string, value

FILE_LIMIT: Final = 16 * 1024 * 1024
"""Bytes of one small file that is read."""

PARTS_LIMIT: Final = 10_000
"""Parts of one message that are read."""


class Database:
    """A client's database."""

    def __init__(self, path: Path, size: int, client: str, session: str | None) -> None:
        self.size, self.reached = size, size
        self._path, self._client, self._session = path, client, session

    def entries(self, *, newest_first: bool) -> Iterator[Entry | Problem]:
        """The messages of one session."""
        return databases.entries(self._path, self._client, self._session, newest_first=newest_first)


class Storage:
    """OpenCode's storage folder."""

    def __init__(self, root: Path, session: str | None) -> None:
        self.size, self.reached = 0, 0
        self._root, self._session = root, session

    def entries(self, *, newest_first: bool) -> Iterator[Entry | Problem]:
        """The messages of one session."""
        found = self._chosen()
        if found is None:
            yield Problem(Place(), "unreadable", "no session in this storage")
            return
        info = load(_bytes(found), opencode.Session) or opencode.Session(found.stem)
        name = string(info.id) or found.stem
        ends = [*opencode.reverted(info), *self._stored(name)]
        yield from ends if newest_first else [opencode.header(info)]
        messages = sorted(_files(self._root / "message" / name), reverse=newest_first)
        for number, path in enumerate(messages):
            entry = self._message(path, len(messages) - number if newest_first else number + 1)
            if entry is not None:
                yield entry
        yield from [opencode.header(info)] if newest_first else ends

    def _chosen(self) -> Path | None:
        """The file of the session that was asked for, or of the one used last."""
        folders = sorted(path for path in (self._root / "session").iterdir() if path.is_dir())
        found = {path.stem: path for folder in folders for path in _files(folder)}
        if self._session is not None:
            return found.get(self._session)
        return max(found.values(), key=lambda path: path.stat().st_mtime_ns, default=None)

    def _message(self, path: Path, number: int) -> Entry | None:
        parts = sorted(_files(self._root / "part" / path.stem))[:PARTS_LIMIT]
        pieces = b",".join(data for each in parts if (data := _bytes(each)))
        data = b'{"info":' + (_bytes(path) or b"{}") + b',"parts":[' + pieces + b"]}"
        return opencode.OpenCode().entry(Record(data, Place(message=number)))

    def _stored(self, name: str) -> list[Entry]:
        rows = value(_bytes(self._root / "todo" / f"{name}.json"))
        return [Entry(Place(), [StoredList(Place(), "todowrite", rows, MAIN)])] if isinstance(rows, list) else []


class Headed:
    """Lines that name no session, with the header that stands in a small file beside them."""

    def __init__(self, source: Lines, header: Entry) -> None:
        self._source, self._header = source, header
        self.size = source.size

    @property
    def reached(self) -> int:
        """Bytes from the end that were read."""
        return self._source.reached

    def entries(self, *, newest_first: bool) -> Iterator[Entry | Problem]:
        """The records of the lines, after the header."""
        if not newest_first:
            yield self._header
        yield from self._source.entries(newest_first=newest_first)
        if newest_first:
            yield self._header


def header_beside(path: Path, client: str) -> Entry | None:
    """The header of a session of Mistral Vibe (`meta.json`) or Kiro (its own name with `.json`), where there is one."""
    beside = {"vibe": path.with_name("meta.json"), "kiro": path.with_suffix(".json")}.get(client)
    found = load(_bytes(beside), _Beside) if beside is not None and beside != path else None
    own = string(found.session_id) if found is not None else None
    if found is None or own is None:
        return None
    return Entry(Place(), [SessionHeader(Place(), own, None, string(found.cwd), string(found.parent_session_id))])


class _Beside(msgspec.Struct):
    session_id: Loose = None
    parent_session_id: Loose = None
    cwd: Loose = None


def storage_root(path: Path) -> Path | None:
    """The storage that `path` is, or is in as a session's file; None where it is neither."""
    candidates = [path, path / "storage", *list(path.parents)[1:3]]
    return next((each for each in candidates if (each / "session").is_dir() and (each / "message").is_dir()), None)


def _files(folder: Path) -> Iterator[Path]:
    """The plain JSON files of a folder; links are not followed."""
    if folder.is_dir() and not folder.is_symlink():
        yield from (path for path in folder.iterdir() if path.suffix == ".json" and not path.is_symlink())


def _bytes(path: Path) -> bytes:
    """A small file; nothing where it is too large, broken or not there."""
    try:
        if path.is_symlink() or path.stat().st_size > FILE_LIMIT:
            return b""
        data = path.read_bytes()
        json.loads(data)
    except (OSError, ValueError, RecursionError):
        return b""
    return data
