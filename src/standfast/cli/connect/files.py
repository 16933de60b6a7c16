"""A client's configuration file: read whole, replaced whole, with a copy of what was there beside it.

Invariants
- A file that changed after it was read is not replaced: what the client wrote meanwhile stays.
- The name that is replaced is the one behind all links; the links stay. For a project it lies in the project.
- Mode and owner stay. What a person made read-only is not written.
- The copy is made before the replacement, for the eyes that could read the original, and never over another file.

Not here: what the bytes mean (`document`), and which files there are (`table`).
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from standfast.cli.connect.text import Unreadable

LIMIT: Final = 32 * 1024 * 1024
WRITABLE: Final = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


class Changed(Exception):
    """The file is not what was read; nothing was written."""


@dataclass(frozen=True)
class Found:
    """A file as it was read: the name that was asked for, the one behind its links, its bytes (None: no file)."""

    path: Path
    real: Path
    data: bytes | None
    mode: int = 0o600

    @property
    def text(self) -> str:
        """Its text; empty where there is none. Raises `Unreadable` for what is not UTF-8."""
        try:
            return (self.data or b"").decode("utf-8")
        except UnicodeDecodeError as error:
            line = (self.data or b"")[: error.start].count(b"\n") + 1
            raise Unreadable(f"line {line}: byte {error.start} is not UTF-8") from error


def find(path: Path, inside: Path | None = None) -> Found:
    """Reads a file, or finds that there is none. Raises `Unreadable`; `inside` is where a link may not leave."""
    real = Path(os.path.realpath(path))
    if inside is not None and not real.is_relative_to(os.path.realpath(inside)):
        raise Unreadable(f"it is behind a link that leaves the project, to {real}")
    try:
        found = real.stat()
        if not stat.S_ISREG(found.st_mode):
            raise Unreadable("it is not a regular file")
        if found.st_size > LIMIT:
            raise Unreadable(f"it is larger than {LIMIT} bytes")
        return Found(path, real, real.read_bytes(), stat.S_IMODE(found.st_mode))
    except FileNotFoundError as error:
        if path.is_symlink():
            raise Unreadable(f"it is a link to {real}, which is not there") from error
        return Found(path, real, None, 0o600 if inside is None else 0o644)
    except OSError as error:
        raise Unreadable(f"it cannot be read: {error.strerror}") from error


def may_write(found: Found) -> None:
    """Raises `Unreadable` where a person made the file read-only; root could write it all the same."""
    if found.data is not None and (not found.mode & WRITABLE or not os.access(found.real, os.W_OK)):
        raise Unreadable("it is read-only")


def missing_folders(path: Path) -> list[Path]:
    """The folders that a file at this path needs and that are not there, outermost first."""
    return [each for each in (path.parent, *path.parent.parents) if not each.exists()][::-1]


def replace(found: Found, data: bytes) -> None:
    """Puts new bytes in the place of those that were found, and makes the folders that are missing.

    Raises `Changed` if the file is not what was found, `Unreadable` if it cannot be written.
    """
    made = missing_folders(found.real)
    try:
        for folder in made:
            folder.mkdir()
        with _beside(found, data) as fresh:
            if find(found.path).data != found.data:
                raise Changed
            fresh.replace(found.real)
        _sync(found.real.parent)
    except Changed:
        remove_folders(made)
        raise
    except OSError as error:
        remove_folders(made)
        raise Unreadable(f"it cannot be written: {error.strerror}") from error


def remove(found: Found, folders: list[Path]) -> None:
    """Takes away a file that was made for us, and the folders that were made with it and are empty."""
    try:
        if find(found.path).data != found.data:
            raise Changed
        found.real.unlink()
    except OSError as error:
        raise Unreadable(f"it cannot be removed: {error.strerror}") from error
    remove_folders(folders)


def remove_folders(folders: list[Path]) -> None:
    """Takes away those folders that are empty, innermost first."""
    for folder in reversed(folders):
        with contextlib.suppress(OSError):
            folder.rmdir()


def back_up(found: Found) -> Path | None:
    """Copies the bytes that were found to a new file beside it, with their mode; None where there is no file."""
    if found.data is None:
        return None
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    try:
        for count in range(1000):
            path = found.real.with_name(f"{found.real.name}.{moment}{f'-{count}' if count else ''}.standfast-backup")
            with contextlib.suppress(FileExistsError):
                _create(path, found.data, found)
                return path
    except OSError as error:
        raise Unreadable(f"its backup cannot be written: {error.strerror}") from error
    raise Unreadable("its backup cannot be written: too many have this name")


@contextlib.contextmanager
def _beside(found: Found, data: bytes) -> Iterator[Path]:
    """A new file in the same folder with the bytes, and the mode and owner of the one that it will replace."""
    path = found.real.with_name(f".{found.real.name}.{secrets.token_hex(4)}.standfast-new")
    try:
        _create(path, data, found)
        yield path
    finally:
        path.unlink(missing_ok=True)


def _create(path: Path, data: bytes, like: Found) -> None:
    """A new file with all of the bytes on the disk; readable for nobody else before it has its owner and mode."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(data)
        stream.flush()
        if like.data is not None:
            _own(descriptor, like.real.stat())
        os.fchmod(descriptor, like.mode)
        os.fsync(descriptor)


def _own(descriptor: int, wished: os.stat_result) -> None:
    ours = os.fstat(descriptor)
    if (ours.st_uid, ours.st_gid) != (wished.st_uid, wished.st_gid):
        os.fchown(descriptor, wished.st_uid, wished.st_gid)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
