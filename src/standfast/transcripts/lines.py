"""The lines of a file, from its start or from its end, in memory that does not grow with the file.

A line is what stands between two line feeds. One that is longer than `LINE_LIMIT` is told by place and length, and its
bytes are not read: the client's other lines are worth more than one that no client writes. A line that spans blocks is
read once more when both its ends are known, so that it is held once. The end of the file is fixed when reading begins:
a file that grows meanwhile is read as it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final

import msgspec

BLOCK: Final = 256 * 1024
"""Bytes that are read at once."""

LINE_LIMIT: Final = 32 * 1024 * 1024
"""Bytes of a line that is still read."""


class Line(msgspec.Struct, frozen=True):
    """One line without its line feed. `data` None: longer than `LINE_LIMIT`. `ended`: a line feed follows."""

    byte: int
    data: bytes | None
    length: int
    ended: bool


def size_of(file: BinaryIO) -> int:
    """The bytes of a file that can be positioned."""
    return file.seek(0, 2)


def forwards(file: BinaryIO, start: int, end: int) -> Iterator[Line]:
    """The lines between `start` and `end` in order."""
    begin = at = start
    while at < end:
        block = _read(file, at, min(BLOCK, end - at))
        if not block:
            break
        *whole, rest = block.split(b"\n")
        for piece in whole:
            feed = at + len(piece)
            yield _line(file, begin, feed, piece if begin == at else None, ended=True)
            begin = at = feed + 1
        at += len(rest)
    if at > begin:
        yield _line(file, begin, at, None, ended=False)


def backwards(file: BinaryIO, end: int) -> Iterator[Line]:
    """The lines up to `end`, the last one first."""
    at = stop = end
    ended = False
    while at > 0:
        start = max(0, at - BLOCK)
        # A file that was cut while it was read: what is gone counts as empty lines.
        block = _read(file, start, at - start).ljust(at - start, b"\n")
        _, *rest = block.split(b"\n")
        for piece in reversed(rest):
            begin = at - len(piece)
            if ended or stop > begin:
                yield _line(file, begin, stop, piece if stop == at else None, ended=ended)
            at = stop = begin - 1
            ended = True
        at = start
    if ended or stop > 0:
        yield _line(file, 0, stop, None, ended=ended)


def _read(file: BinaryIO, at: int, length: int) -> bytes:
    file.seek(at)
    return file.read(length)


def _line(file: BinaryIO, begin: int, stop: int, piece: bytes | None, *, ended: bool) -> Line:
    """The line between two places; `piece` are its bytes where they are at hand."""
    length = stop - begin
    if piece is None and length <= LINE_LIMIT:
        piece = _read(file, begin, length)
    return Line(begin, piece, length, ended)
