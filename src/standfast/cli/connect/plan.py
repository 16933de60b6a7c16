"""What connecting and removing would do to one file, decided from what is there and what was written before.

A value of ours is `connected` as this build writes it, `older` if it is what an earlier `connect` wrote, else
`altered`: a person (or another home) has changed it, and it is left alone unless they ask for its replacement.
"""

from __future__ import annotations

import copy
import hashlib
from dataclasses import dataclass, field
from typing import Final

from standfast.cli.connect.document import BOM, MISSING, Document, Entry, digest
from standfast.cli.connect.files import Found, missing_folders
from standfast.cli.connect.record import Written
from standfast.cli.connect.table import TRUST, Part, Settings, WholeFile
from standfast.cli.connect.text import Unreadable

CONNECTED: Final = "connected"
OLDER: Final = "older form"
ALTERED: Final = "altered"
ABSENT: Final = "not connected"
UNREADABLE: Final = "unreadable"
UNAVAILABLE: Final = "not in this build"
WHOLE: Final = "*"


@dataclass
class Change:
    """One file: as it was found, its bytes afterwards (None: no file), what is remembered, what was left alone."""

    part: Part
    found: Found
    data: bytes | None
    written: Written | None
    altered: list[str] = field(default_factory=list)

    @property
    def needed(self) -> bool:
        """Whether there is anything to write."""
        return self.data != self.found.data


def state(part: Part, found: Found, written: Written) -> str:
    """How much of a part is there, in one word of the above."""
    if isinstance(part, WholeFile):
        return ABSENT if found.data is None else _standing(found.data == part.data, written, WHOLE, sha256(found.data))
    try:
        document = Document(found.text, part.syntax)
        states = {_state(document, entry, written) for entry in part.entries}
        stale = any(document.get(entry) is not MISSING for entry in _stale(part, written))
    except Unreadable:
        return UNREADABLE
    if ALTERED in states:
        return ALTERED
    if states == {ABSENT}:
        return OLDER if stale else ABSENT
    return CONNECTED if states == {CONNECTED} and not stale else OLDER


def joined(part: Part, found: Found, written: Written, *, force: bool = False) -> Change:
    """The file with what is ours. Raises `Unreadable`."""
    if isinstance(part, WholeFile):
        return _file_joined(part, found, written, force=force)
    document = Document(found.text, part.syntax)
    known = copy.deepcopy(written)
    if all(document.get(entry) is MISSING for entry in (*part.entries, *_remembered(written))):
        known = Written(found.data is None, [str(each) for each in missing_folders(found.real)], backups=known.backups)
    for entry in _stale(part, written):
        if _state(document, entry, written) == OLDER:
            document.take(entry)
        known.entries.pop(entry.key, None)
    document.prune([tuple(path) for path in known.containers])
    altered = []
    for entry in part.entries:
        here = _state(document, entry, written)
        if here == ALTERED and not (force or entry.agreed):
            altered.append(entry.name)
            continue
        if here in (OLDER, ALTERED):
            document.take(entry)
        if here != CONNECTED:
            known.containers += [list(path) for path in document.put(entry) if list(path) not in known.containers]
        known.entries[entry.key] = digest(entry.value)
    return Change(part, found, _encoded(document.text, found), known, altered)


def parted(part: Part, found: Found, written: Written, *, force: bool = False) -> Change:
    """The file without what is ours, as it was before. Raises `Unreadable`."""
    if found.data is None:
        return Change(part, found, None, None)
    if isinstance(part, WholeFile):
        if force or _standing(found.data == part.data, written, WHOLE, sha256(found.data)) != ALTERED:
            return Change(part, found, None, None)
        return Change(part, found, found.data, written, [part.path.name])
    document = Document(found.text, part.syntax)
    wished = {entry.key: entry for entry in _remembered(written)} | {entry.key: entry for entry in part.entries}
    left, altered = copy.deepcopy(written), []
    for key, entry in reversed(wished.items()):
        here = _state(document, entry, written)
        if here == ALTERED and not force:
            altered.append(entry.name)
            continue
        if here != ABSENT:
            document.take(entry)
        left.entries.pop(key, None)
    document.prune([tuple(path) for path in written.containers])
    data = _encoded(document.text, found)
    if written.made and not document.text.strip(f"{BOM} \t\r\n"):
        data = None
    return Change(part, found, data, left if altered else None, altered)


def _file_joined(part: WholeFile, found: Found, written: Written, *, force: bool) -> Change:
    known = copy.deepcopy(written)
    if found.data is None:
        known = Written(True, [str(each) for each in missing_folders(found.real)])
    elif not force and _standing(found.data == part.data, written, WHOLE, sha256(found.data)) == ALTERED:
        return Change(part, found, found.data, written, [part.path.name])
    known.entries = {WHOLE: sha256(part.data)}
    return Change(part, found, part.data, known)


def _state(document: Document, entry: Entry, written: Written) -> str:
    value = document.get(entry)
    if value is MISSING:
        return ABSENT
    return _standing(entry.value is not None and value == entry.value, written, entry.key, digest(value))


def _standing(same: bool, written: Written, key: str, now: str) -> str:
    if same:
        return CONNECTED
    return OLDER if written.entries.get(key) == now else ALTERED


def _remembered(written: Written) -> list[Entry]:
    return [Entry.of_key(key) for key in written.entries if key != WHOLE]


def _stale(part: Settings, written: Written) -> list[Entry]:
    """What was written once and is no longer wished; the client's trust is renewed on its own."""
    wished = {entry.key for entry in part.entries}
    return [each for each in _remembered(written) if each.key not in wished and each.path[:2] != TRUST]


def _encoded(text: str, found: Found) -> bytes | None:
    if found.data is None and not text:
        return None
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Unreadable("the home's path is not UTF-8") from error


def sha256(data: bytes) -> str:
    """What is remembered of a whole file."""
    return hashlib.sha256(data).hexdigest()
