"""One line of a transcript as JSON texts, whatever a crash, a power cut or an old client made of it.

Most lines are one JSON text and cost one look. For the others, in this order: text that is no UTF-8 and halves of
surrogate pairs (JavaScript cuts strings between them) become U+FFFD; zero bytes that a power cut left are taken away;
a line that holds several texts is taken apart; where a text breaks off and another begins on the same line, the second
is read. Each of these is reported with its reason. `load` reads a text as a type and skips what the type does not name,
without building it: that keeps memory and time small for lines of megabytes.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import Final, TypeVar

import msgspec

from standfast.transcripts.events import ProblemReason

GLUED_LIMIT: Final = 64
"""JSON texts that are taken from one line."""

Loose = str | int | float | bool | None
"""A field that is one plain value in every client; which one is looked at where it is used."""

T = TypeVar("T")

_PIECE: Final = 1 << 20
_ABSENT: Final = msgspec.Raw(b"null")
_LONE: Final = re.compile(
    rb"(?<!\\)((?:\\\\)*)(?:\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2})"
)
_TOKEN: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}\[\]]', re.DOTALL)
_BEGINS: Final = re.compile(rb'\{"(?:type|parentUuid|uuid|timestamp|sessionId|session_id|id|version|kind|\$set|role)":')
_BROKEN: Final = (msgspec.DecodeError, RecursionError, ValueError)


class Text(msgspec.Struct, frozen=True):
    """A JSON text of a line, and where in the line it begins."""

    data: bytes
    at: int = 0


class Flaw(msgspec.Struct, frozen=True):
    """Something that was wrong with a line."""

    reason: ProblemReason
    detail: str = ""


class Anything(msgspec.Struct):
    """A JSON object of which nothing is looked at."""


def load(data: bytes | msgspec.Raw, kind: type[T]) -> T | None:
    """`data` as `kind`; None where it is something else."""
    try:
        return msgspec.json.decode(data, type=kind)
    except _BROKEN:
        return None


def value(data: bytes | msgspec.Raw) -> object:
    """Any JSON text as plain Python values; None where it is none."""
    try:
        return msgspec.json.decode(data)
    except _BROKEN:
        return None


def absent() -> msgspec.Raw:
    """The default of a field that is kept as it is written."""
    return _ABSENT


def string(found: object) -> str | None:
    """A text; None for anything else, and for an empty one."""
    return found if isinstance(found, str) and found else None


def texts(line: bytes, *, ended: bool = True) -> Iterator[Text | Flaw]:
    """The JSON objects of one line in order, and what was wrong with it. An empty line has neither.

    Nothing follows a record that breaks off on a line that is not `ended`: what looks like one is a part of it.
    """
    data = line.strip(b" \t\r\n\x00")
    if not data:
        if b"\x00" in line:
            yield Flaw("null_bytes", f"{line.count(0)} zero bytes")
        return
    at = line.index(data[:1])
    if data.startswith(b"\xef\xbb\xbf"):
        data, at = data[3:], at + 3
    if b"\x00" in line:
        yield Flaw("null_bytes", f"{line.count(0)} zero bytes")
        data = data.replace(b"\x00", b"")
    data, flaws = clean(data)
    yield from flaws
    trouble = _trouble(data)
    if trouble is None:
        yield Text(data, at)
    else:
        yield from _apart(data, at, trouble, ended=ended)


def clean(data: bytes) -> tuple[bytes, list[Flaw]]:
    """`data` as UTF-8 with whole surrogate pairs, and what was changed for that."""
    flaws: list[Flaw] = []
    if not data.isascii() and not _is_utf8(data):
        flaws.append(Flaw("invalid_utf8"))
        data = data.decode(errors="replace").encode()
    if b"\\u" in data:
        data, changed = _LONE.subn(rb"\1\\ufffd", data)
        if changed:
            flaws.append(Flaw("lone_surrogate", f"{changed} in the line"))
    return data, flaws


def _is_utf8(data: bytes) -> bool:
    """Whether `data` decodes, looked at in pieces so that a line of megabytes is not held twice."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for at in range(0, len(data), _PIECE):
            decoder.decode(data[at : at + _PIECE], final=at + _PIECE >= len(data))
    except UnicodeDecodeError:
        return False
    return True


def _trouble(data: bytes) -> ProblemReason | None:
    """Why `data` is not one JSON object."""
    try:
        msgspec.json.decode(data, type=Anything)
    except msgspec.ValidationError:
        return "unexpected_shape"
    except RecursionError:
        return "too_deep"
    except ValueError:
        return "malformed_record"
    return None


def _apart(data: bytes, at: int, trouble: ProblemReason, *, ended: bool) -> Iterator[Text | Flaw]:
    """The objects of a line that is not one."""
    if trouble == "unexpected_shape":
        yield Flaw(trouble, f"not an object: {_shown(data)}")
        return
    start = 0
    found: list[Text] = []
    while start < len(data) and len(found) < GLUED_LIMIT:
        end = _end(data, start)
        if end is None or _trouble(data[start:end]) is not None:
            break
        found.append(Text(data[start:end], at + start))
        start = end + len(data[end:]) - len(data[end:].lstrip(b" \t\r,"))
    if start >= len(data):
        if len(found) > 1:
            yield Flaw("glued_records", f"{len(found)} records on one line")
        yield from found
        return
    yield from found
    yield from _torn(data, start, at, trouble) if ended else [Flaw("unfinished_line", _shown(data[start:]))]


def _torn(data: bytes, start: int, at: int, trouble: ProblemReason) -> Iterator[Text | Flaw]:
    """What follows a text that breaks off: the next one on the line that is whole, else nothing."""
    for number, match in enumerate(_BEGINS.finditer(data, start + 1)):
        if number >= GLUED_LIMIT:
            break
        if _trouble(data[match.start() :]) is None:
            yield Flaw("torn_record", f"a record breaks off: {_shown(data[start:])}")
            yield Text(data[match.start() :], at + match.start())
            return
    yield Flaw(trouble, _shown(data[start:]))


def _end(data: bytes, start: int) -> int | None:
    """Where the object that begins at `start` ends."""
    if data[start : start + 1] != b"{":
        return None
    depth = 0
    for token in _TOKEN.finditer(data, start):
        match token[0]:
            case b"{" | b"[":
                depth += 1
            case b"}" | b"]":
                depth -= 1
                if depth <= 0:
                    return token.end()
            case _:
                pass
    return None


def _shown(data: bytes) -> str:
    """The first characters of a broken text."""
    return ascii(data[:60].decode(errors="replace"))[1:-1]
