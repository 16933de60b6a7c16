"""A file that holds itself once more: a copy that was appended instead of written over.

The first record with an id of its own says where a copy begins. From there the copy is compared with the file's
beginning, line by line: it counts only if it is the same for at least `COPIED` lines. What was copied is not read
twice.
"""

from __future__ import annotations

import re
from typing import BinaryIO, Final

import msgspec

from standfast.transcripts import lines

COPIED: Final = 2
"""Lines that must be the same for a copy; a file of fewer is copied whole."""

COPIES_LIMIT: Final = 1_000
"""Copies that are told apart."""

LOOKED_AT: Final = 64 * 1024
"""Bytes of the beginning in which the first record with an id is looked for."""

_OWN: Final = re.compile(rb'"(?:uuid|id|message_id|startTime)":\s*"[^"]{6,}"')


class Mark(msgspec.Struct, frozen=True):
    """The first line with an id: its place and its bytes."""

    byte: int
    data: bytes


class Copy(msgspec.Struct, frozen=True):
    """A copy of the file's beginning: from `start` to `end`, and how many lines."""

    start: int
    end: int
    count: int


def mark_of(file: BinaryIO, size: int) -> Mark | None:
    """What a copy of this file would begin with; None where no early record has an id."""
    for line in lines.forwards(file, 0, size):
        if line.byte > LOOKED_AT or line.data is None:
            return None
        if line.ended and _OWN.search(line.data):
            return Mark(line.byte, line.data)
    return None


def copy_at(file: BinaryIO, mark: Mark, start: int, size: int) -> Copy | None:
    """The copy that begins with the mark at `start`; None where what follows is another."""
    count, end = 0, start
    for first, again in zip(lines.forwards(file, mark.byte, start), lines.forwards(file, start, size), strict=False):
        if first.data is None or first.data != again.data:
            break
        count, end = count + 1, again.byte + again.length + again.ended
    everything = end - start >= start - mark.byte
    return Copy(start, end, count) if count >= COPIED or (count and everything) else None


class Survey(msgspec.Struct):
    """A file's copies, and how many lines it has."""

    line_count: int = 0
    copies: list[Copy] = []

    def copied(self, byte: int) -> bool:
        """Whether a byte lies in a copy."""
        return any(copy.start <= byte < copy.end for copy in self.copies)


def survey(file: BinaryIO, size: int) -> Survey:
    """Looks through a whole file."""
    found = Survey()
    mark = mark_of(file, size)
    passed = 0
    for line in lines.forwards(file, 0, size):
        found.line_count += 1
        if mark is not None and line.data == mark.data and line.byte > mark.byte and line.byte >= passed:
            copy = copy_at(file, mark, line.byte, size)
            if copy is not None and len(found.copies) < COPIES_LIMIT:
                found.copies.append(copy)
                passed = copy.end
    return found
