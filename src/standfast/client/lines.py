"""Newline-delimited messages out of a byte stream, with a bound that holds while a message is still arriving.

Theory of operation
-------------------
Chunks go in, whole lines come out. A line that grows past the limit is not kept: its first and last bytes
are, because an answer needs the request's id and a client that gets no id waits for ever. `oversize_id` finds
the id in these two fragments only where the bytes prove that it belongs to the outermost object.

Invariant: memory is bounded by the limit, whatever arrives. Not here: what a message means (`jsonrpc`).
"""

import json

_EDGE = 512


class Oversize:
    """A message over the limit: its first and last bytes."""

    __slots__ = ("head", "tail")

    def __init__(self, head: bytes, tail: bytes) -> None:
        self.head = head
        self.tail = tail


class Lines:
    """Splits a stream into lines of at most `limit` bytes; empty lines are left out."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._buffer = bytearray()
        self._head: bytes | None = None

    def feed(self, data: bytes) -> list[bytes | Oversize]:
        """The lines that `data` completes, in order."""
        *whole, rest = data.split(b"\n")
        found: list[bytes | Oversize] = []
        for piece in whole:
            self._keep(piece)
            found.extend(self.finish())
        self._keep(rest)
        return found

    def finish(self) -> list[bytes | Oversize]:
        """What stands in the buffer as a last line: nothing, or one element."""
        held, head = bytes(self._buffer), self._head
        self._buffer.clear()
        self._head = None
        if head is not None:
            return [Oversize(head, held)]
        line = held.strip()
        return [line] if line else []

    def _keep(self, piece: bytes) -> None:
        self._buffer += piece
        if self._head is None and len(self._buffer) > self._limit:
            self._head = bytes(self._buffer[:_EDGE])
        if self._head is not None:
            del self._buffer[:-_EDGE]


def oversize_id(message: Oversize) -> str | int | None:
    """The request id of a message that was not kept, or None where the fragments do not prove it."""
    found = _id_in_head(message.head.decode("utf-8", "ignore"))
    return found if found is not None else _id_in_tail(message.tail.decode("utf-8", "ignore").rstrip())


def _id_in_head(text: str) -> str | int | None:
    """Walk the outermost object's members while their values are scalars."""
    decoder = json.JSONDecoder()
    place = text.find("{") + 1
    try:
        while place:
            key, place = decoder.raw_decode(text, _past_space(text, place))
            place = _past_space(text, place)
            if text[place] != ":":
                return None
            place = _past_space(text, place + 1)
            if text[place] in "{[":
                return None
            value, place = decoder.raw_decode(text, place)
            if key == "id":
                return value if type(value) in (str, int) else None
            place = _past_space(text, place)
            if text[place] != ",":
                return None
            place += 1
    except (ValueError, IndexError):
        return None
    return None


def _id_in_tail(text: str) -> str | int | None:
    """An `"id": scalar` straight before the last brace is a member of the object which that brace closes."""
    place = text.rfind('"id"')
    if place < 0 or not text.endswith("}"):
        return None
    try:
        value, end = json.JSONDecoder().raw_decode(text, _past_space(text, text.index(":", place) + 1))
    except ValueError:
        return None
    return value if type(value) in (str, int) and text[end:].strip() == "}" else None


def _past_space(text: str, place: int) -> int:
    while text[place] in " \t\r":
        place += 1
    return place
