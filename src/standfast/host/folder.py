"""One directory below a workspace, held open, and files in it that prove who wrote them.

Purpose: walk from a workspace to a directory without following a link, and write bytes there in such a way
that each state a crash can leave shows by itself whether the host wrote it.

A file is filled in this order: a mark of 32 bytes *behind* where the bytes will end, the bytes, then the cut
that takes the mark off. The mark is derived from the bytes' SHA-256, so a file found later is judged with the
digest alone:

    empty                       unfinished: nothing was written, nothing can be lost
    longer, the mark in place   unfinished, and the host's; what follows the mark is a note of the host
    the size and the digest     whole
    any other plain file        foreign, never touched
    a directory, pipe, device   special, never touched

Invariants: after the walk every operation is relative to an open descriptor, so a directory that is swapped
for a link meanwhile leads nowhere. A name is removed only while it still leads to the file that was meant.

Not here: names, suffixes, intents and messages (`artifacts`). All methods raise plain `OSError`.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

import msgspec

from standfast.host.files import Files

MARK_BYTES: Final = 32
MAX_NOTE: Final = 256
CHUNK: Final = 1 << 20

Kind = Literal["whole", "unfinished", "foreign", "special"]


_NO_WORKSPACE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG})


class WorkspaceGoneError(OSError):
    """The workspace itself is not a directory that can be opened."""


class Identity(msgspec.Struct, frozen=True):
    """Which file a name leads to: device and inode."""

    device: int
    inode: int


class Proof(msgspec.Struct, frozen=True):
    """What a file shows about itself: its kind, how many names it has, and the note behind its mark."""

    kind: Kind
    identity: Identity
    names: int
    note: str = ""


def identity_of(status: os.stat_result) -> Identity:
    """The identity that a stat result names."""
    return Identity(status.st_dev, status.st_ino)


def mark(sha256: str) -> bytes:
    """The 32 bytes that stand behind unfinished bytes with this digest (hexadecimal)."""
    return hashlib.sha256(b"standfast: unfinished file of " + sha256.encode("ascii")).digest()


class Folder:
    """An open directory below a workspace. Made by `open_folder`; closed with its context."""

    def __init__(self, files: Files, workspace: int) -> None:
        self.files: Final = files
        self._descriptors: Final = [workspace]
        self._made: Final[list[tuple[str, int]]] = []
        self._own: Final[dict[str, Identity]] = {}

    @property
    def descriptor(self) -> int:
        """The directory itself."""
        return self._descriptors[-1]

    def identity(self, name: str) -> Identity | None:
        """Which file the name leads to now; None if the name is free."""
        try:
            return identity_of(self.files.status(name, self.descriptor))
        except FileNotFoundError:
            return None

    def remove(self, name: str, identity: Identity) -> bool:
        """Removes the name if it leads to this file; whether it did."""
        if self.identity(name) != identity:
            return False
        self.files.unlink(name, self.descriptor)
        return True

    def sync(self) -> None:
        """Puts the directory's names on the disk."""
        self.files.sync_directory(self.descriptor)

    def put(self, descriptor: int, data: bytes, offset: int = 0) -> None:
        """Writes all of `data` at `offset`."""
        rest = memoryview(data)
        while rest:
            taken = self.files.write(descriptor, rest, offset)
            if taken <= 0:
                raise OSError(errno.EIO, "the file took no bytes")
            rest, offset = rest[taken:], offset + taken

    def fill(self, descriptor: int, data: bytes, sha256: str) -> None:
        """Makes an empty or unfinished file hold exactly `data`, on the disk."""
        self.put(descriptor, mark(sha256), len(data))
        self.put(descriptor, data)
        self.files.truncate(descriptor, len(data))
        self.files.sync(descriptor)

    def note(self, descriptor: int, data: bytes, sha256: str, text: str) -> None:
        """Makes a whole file unfinished again, with a note that `judge` gives back; on the disk."""
        self.put(descriptor, mark(sha256) + text.encode() + b"\n", len(data))
        self.files.sync(descriptor)

    def read(self, descriptor: int, size: int) -> bytes:
        """At most `size` bytes from the start."""
        parts: list[bytes] = []
        held = 0
        while held < size:
            part = self.files.read(descriptor, min(CHUNK, size - held), held)
            if not part:
                break
            parts.append(part)
            held += len(part)
        return b"".join(parts)

    def judge(self, descriptor: int, sha256: str, size: int) -> Proof:
        """What the open file is, measured by the digest and size of the bytes that were to be written."""
        status = self.files.describe(descriptor)
        kind: Kind = "foreign" if stat.S_ISREG(status.st_mode) else "special"
        note = ""
        if kind == "foreign" and status.st_size <= size + MARK_BYTES + MAX_NOTE + 1:
            held = self.read(descriptor, size + MARK_BYTES + MAX_NOTE + 1)
            tail = held[size:]
            kind = _kind(held[:size], tail, sha256, size)
            if kind == "unfinished" and tail.endswith(b"\n"):
                note = tail[MARK_BYTES:-1].decode(errors="replace")
        return Proof(kind, identity_of(status), status.st_nlink, note)

    def own(self, name: str, content: bytes) -> None:
        """Gives a directory that holds nothing its first file, which `undo` takes back.

        Of several writers that find it empty one makes the file; the others go on.
        """
        if not self.files.is_empty(self.descriptor):
            return
        try:
            descriptor = self.files.create(name, self.descriptor)
        except FileExistsError:
            return
        try:
            self.put(descriptor, content)
            self.files.sync(descriptor)
            self._own[name] = identity_of(self.files.describe(descriptor))
        except OSError:
            self.files.unlink(name, self.descriptor)
            raise
        finally:
            self.files.close(descriptor)

    def undo(self) -> None:
        """Takes back, as far as it goes, the first file and the directories that this walk made.

        The first file stays where another writer has put something beside it meanwhile.
        """
        with contextlib.suppress(OSError):
            alone = self._own and set(self.files.names(self.descriptor)) <= set(self._own)
            for name, identity in self._own.items() if alone else ():
                self.remove(name, identity)
            for name, parent in reversed(self._made):
                self.files.remove_directory(name, parent)

    def step(self, name: str, *, create: bool) -> None:
        """Goes one directory down, making it if it is missing and `create`."""
        parent = self.descriptor
        try:
            descriptor = self.files.open_directory(name, parent)
        except FileNotFoundError:
            if not create:
                raise
            self._make(name, parent)
            descriptor = self.files.open_directory(name, parent)
        self._descriptors.append(descriptor)

    def _make(self, name: str, parent: int) -> None:
        with contextlib.suppress(FileExistsError):
            self.files.make_directory(name, parent)
            self._made.append((name, parent))
        self.files.sync_directory(parent)

    def close(self) -> None:
        """Gives all descriptors back."""
        while self._descriptors:
            self.files.close(self._descriptors.pop())


def _kind(head: bytes, tail: bytes, sha256: str, size: int) -> Kind:
    if not head and not tail:
        return "unfinished"
    if not tail:
        return "whole" if len(head) == size and hashlib.sha256(head).hexdigest() == sha256 else "foreign"
    expected = mark(sha256)
    # A mark that was cut off in the middle of its own write has nothing but a hole before it.
    torn = len(tail) < MARK_BYTES and expected.startswith(tail) and not any(head)
    return "unfinished" if torn or tail.startswith(expected) else "foreign"


@contextlib.contextmanager
def open_folder(files: Files, workspace: Path, parts: tuple[str, ...], *, create: bool = False) -> Iterator[Folder]:
    """Walks to a directory, each step without following a link; makes missing ones if `create`.

    Raises `OSError`: `ENOENT` for a missing step, `ENOTDIR` or `ELOOP` for a link or a file. What a walk that
    failed has made is taken back.
    """
    try:
        folder = Folder(files, files.open_workspace(workspace))
    except OSError as error:
        if error.errno not in _NO_WORKSPACE:
            raise
        raise WorkspaceGoneError(error.errno, error.strerror) from error
    try:
        try:
            for part in parts:
                folder.step(part, create=create)
        except OSError:
            folder.undo()
            raise
        yield folder
    finally:
        folder.close()
