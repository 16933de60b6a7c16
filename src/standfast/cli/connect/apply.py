"""Carries changes out: record, backup, replacement; and says what was done as data and as text."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from standfast.cli.connect import files
from standfast.cli.connect.plan import Change, sha256
from standfast.cli.connect.record import Record, Written
from standfast.cli.connect.table import Part
from standfast.cli.connect.text import Unreadable
from standfast.cli.show import clean
from standfast.client.call import Refused

TRIES: Final = 5
Decide = Callable[[Part, files.Found, Written], Change]


def planned(part: Part, record: Record, inside: Path | None, decide: Decide) -> Change:
    """What would be done to one file. Raises `Refused`, with the file's name, where it cannot be done."""
    try:
        found = files.find(part.path, inside)
        change = decide(part, found, record.of(found.real))
        if change.needed:
            files.may_write(found)
    except Unreadable as error:
        raise refused(part.path, error) from error
    return change


def carried_out(part: Part, record: Record, inside: Path | None, decide: Decide) -> dict[str, Any]:
    """Does it, against what the file holds at that moment; the record's lock is held by the caller."""
    for _ in range(TRIES):
        change = planned(part, record, inside, decide)
        try:
            return _write(change, record)
        except files.Changed:
            continue
        except Unreadable as error:
            raise refused(part.path, error) from error
    raise refused(part.path, Unreadable("another program is writing it; close the client and try again"))


def refused(path: Path, error: Unreadable) -> Refused:
    """A file that is not written, as the command's refusal."""
    return Refused({"code": "invalid", "message": f"{clean(path)}: {clean(error)}. It was not written."})


def diff(change: Change) -> str:
    """The change as a unified diff for a terminal: what cannot be seen is escaped."""
    before, after = change.found.data, change.data
    old, new = (str(change.part.path) if data is not None else "/dev/null" for data in (before, after))
    lines = difflib.unified_diff(_lines(before), _lines(after), old, new)
    return "".join(f"{clean(line.removesuffix(chr(10)))}\n" for line in lines)


def told(change: Change, backup: Path | None = None) -> dict[str, Any]:
    """One file of the answer."""
    did = "nothing"
    if change.needed:
        did = "remove" if change.data is None else "create" if change.found.data is None else "change"
    return {
        "path": str(change.part.path),
        "action": did,
        "altered": change.altered,
        "backup": None if backup is None else str(backup),
    }


def _write(change: Change, record: Record) -> dict[str, Any]:
    """Raises `files.Changed` and `Unreadable`, with no trace left."""
    found, written = change.found, change.written
    old = record.of(found.real)
    if not change.needed:
        if (written or Written()) != old:
            record.keep(found.real, written)
        return told(change)
    spare = [each for each in map(Path, old.backups) if change.data is not None and _bytes(each) == change.data]
    as_left = found.data is not None and sha256(found.data) == old.left
    backup = None if spare or as_left else files.back_up(found)
    try:
        if written is not None:
            written.left = "" if change.data is None else sha256(change.data)
            written.backups = [*written.backups, *([] if backup is None else [str(backup)])]
            record.keep(found.real, written)
        if change.data is None:
            files.remove(found, [Path(each) for each in old.folders])
        else:
            files.replace(found, change.data)
    except BaseException:
        if backup is not None:
            backup.unlink(missing_ok=True)
        raise
    if written is None:
        record.keep(found.real, None)
    for each in spare:
        each.unlink(missing_ok=True)
    return told(change, backup)


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None


def _lines(data: bytes | None) -> list[str]:
    """Lines of a diff; a missing last line break is told as diffs do."""
    lines = (data or b"").decode("utf-8", errors="replace").split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([f"{last} (no line break at the end)\n"] if last else [])
