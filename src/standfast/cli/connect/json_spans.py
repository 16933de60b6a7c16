"""JSON, also with comments and trailing commas: members are added and cut as spans of the text.

Theory of operation
-------------------
Comments and trailing commas are replaced by as many spaces, which leaves plain JSON whose positions are the
text's own; the standard library's decoder then says where each member begins and ends. A member is added
after the last one, in the style of its neighbours, and `cut` is the exact inverse of `add`: what is cut ends
where the member was put, so that a comment, a trailing comma or an odd space of somebody else stays.

Not here: what is added (`table`), and the proof that an edit did what it should (`document`).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

from standfast.cli.connect.text import (
    Unreadable,
    break_after,
    break_before,
    indentation,
    line_break,
    line_start,
    position,
    with_lines,
)

SPACE: Final = " \t\r\n"
_COMMENT: Final = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\r\n]*|/\*.*?\*/', re.DOTALL)
_COMMA: Final = re.compile(r'"(?:[^"\\]|\\.)*"|,(?=[ \t\r\n]*[}\]])', re.DOTALL)
_SAME_LINE: Final = re.compile(r"(?:[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/))*")
_DECODER: Final = json.JSONDecoder()
Path = tuple[str, ...]


@dataclass(frozen=True)
class Member:
    """A member of an object or an item of a list: where it, its value, and its end are."""

    key: str | None
    start: int
    value: int
    end: int


def add(text: str, path: Path, key: str | None, value: Any) -> str:
    """The text with a member (or, without a key, an item) at the end of the container at `path`, which exists."""
    bare = _without_comments(text)
    blank = _plain(bare)
    if not blank.strip(SPACE):
        return with_lines(text, _render(None, {key: value}, "  ").split("\n"))
    at = _container(text, blank, path)
    if blank[at] not in "{[":
        raise Unreadable(f"{position(text, at)}: nothing can be added to this value")
    unit = _unit(text, blank)
    members = _members(blank, at)
    if not members:
        return _add_first(text, blank, at, key, value)
    last = members[-1]
    comma = _skip(bare, last.end)
    trailing = bare[comma] == ","
    here = comma + 1 if trailing else last.end
    if "\n" not in text[at : members[0].start]:
        item = " " + _render(key, value, None)
    else:
        here = _same_line(text, here)
        mark = line_break(text) + indentation(text, members[0].start)
        item = mark + _render(key, value, unit).replace("\n", mark)
    if trailing:
        return f"{text[:here]}{item},{text[here:]}"
    return f"{text[: last.end]},{text[last.end : here]}{item}{text[here:]}"


def among(items: list[Any], item: Any) -> list[Any]:
    """A list with one more item where `add` puts it."""
    return [*items, item]


def cut(text: str, path: Path, key: str | int) -> str:
    """The text without the member (or the item) of the container at `path`."""
    bare = _without_comments(text)
    blank = _plain(bare)
    at = _container(text, blank, path)
    members = _members(blank, at)
    place = key if isinstance(key, int) else _only(text, members, key)
    ours = members[place]
    start = len(text[: ours.start].rstrip(SPACE))
    lines = "\n" in text[start : ours.start]
    if lines:  # a comment before may end in spaces, which are its own
        start = max(start, break_before(text, line_start(text, ours.start)))
    comma = _skip(bare, ours.end)
    if bare[comma] == ",":
        return text[:start] + text[comma + 1 :]
    if place > 0:
        before = _skip(bare, members[place - 1].end)
        return text[:before] + text[before + 1 : start] + text[ours.end :]
    end = break_after(text, ours.end)
    closing = indentation(text, ours.start).removesuffix(_unit(text, blank))
    if not lines or end == ours.end or not text.startswith(closing, end):
        return text[:start] + text[ours.end :]
    return text[:start] + text[end + len(closing) :]


def clear(text: str) -> str:
    """The text without its one value, an empty object that `add` made."""
    blank = _plain(_without_comments(text))
    start = _skip(blank, 0)
    end = _skip(blank, start + 1) + 1
    after = break_after(text, end)
    return text[: start if after > end else break_before(text, start)] + text[after:]


def _add_first(text: str, blank: str, at: int, key: str | None, value: Any) -> str:
    """The text with the first member of an empty container, in the document's style."""
    outermost = _skip(blank, 0)
    root = _members(blank, outermost)
    if root and "\n" not in text[outermost : root[0].start]:
        return text[: at + 1] + _render(key, value, None) + text[at + 1 :]
    closing, unit = line_break(text) + indentation(text, at), _unit(text, blank)
    item = _render(key, value, unit).replace("\n", closing + unit)
    return f"{text[: at + 1]}{closing}{unit}{item}{closing}{text[at + 1 :]}"


def _without_comments(text: str) -> str:
    """The text with each comment as spaces."""
    return _COMMENT.sub(lambda found: found[0] if found[0][0] == '"' else re.sub(r"[^\r\n]", " ", found[0]), text)


def _plain(bare: str) -> str:
    """The same without trailing commas; a comma that follows no value stays, as the fault that it is."""

    def blanked(found: re.Match[str]) -> str:
        before = found.start() - 1
        while before >= 0 and bare[before] in SPACE:
            before -= 1
        follows = before >= 0 and bare[before] not in "[{,:"
        return " " if found[0] == "," and follows else found[0]

    return _COMMA.sub(blanked, bare)


def _members(blank: str, at: int) -> list[Member]:
    """The members of the container whose bracket is at `at`."""
    found: list[Member] = []
    here = _skip(blank, at + 1)
    while blank[here] not in "}]":
        start, key = here, None
        if blank[at] == "{":
            key, here = _DECODER.raw_decode(blank, here)
            here = _skip(blank, _skip(blank, here) + 1)
        _, end = _DECODER.raw_decode(blank, here)
        found.append(Member(key, start, here, end))
        here = _skip(blank, end)
        if blank[here] == ",":
            here = _skip(blank, here + 1)
    return found


def _container(text: str, blank: str, path: Path) -> int:
    """Where the bracket of the container at `path` is."""
    at = _skip(blank, 0)
    for key in path:
        members = _members(blank, at)
        at = members[_only(text, members, key)].value
    return at


def _only(text: str, members: list[Member], key: str) -> int:
    """The place of the member with this key; clients differ in which of two they take."""
    found = [place for place, member in enumerate(members) if member.key == key]
    if len(found) > 1:
        raise Unreadable(f"{position(text, members[found[1]].start)}: the key {key!r} is there twice")
    return found[0]


def _skip(blank: str, index: int) -> int:
    while index < len(blank) and blank[index] in SPACE:
        index += 1
    return index


def _same_line(text: str, index: int) -> int:
    """After the comments that follow on the same line: they belong to what stands before them."""
    found = _SAME_LINE.match(text, index)
    return found.end() if found else index


def _unit(text: str, blank: str) -> str:
    """One step of indentation, as the outermost object shows it."""
    at = _skip(blank, 0)
    members = _members(blank, at)
    if not members or "\n" not in text[at : members[0].start]:
        return "  "
    return indentation(text, members[0].start).removeprefix(indentation(text, at))


def _render(key: str | None, value: Any, unit: str | None) -> str:
    rendered = json.dumps(value, ensure_ascii=False, indent=unit)
    return rendered if key is None else f"{json.dumps(key, ensure_ascii=False)}: {rendered}"


@dataclass(frozen=True)
class Json:
    """JSON as one client reads it: with or without comments and trailing commas.

    What the client would not read is refused, so that nothing is connected in vain.
    """

    comments: bool
    commas: bool
    add = staticmethod(add)
    among = staticmethod(among)
    cut = staticmethod(cut)
    clear = staticmethod(clear)

    def read(self, text: str) -> Any:
        """The value, or None for a text without one. Raises `Unreadable` with the position."""
        bare = _without_comments(text) if self.comments else text
        blank = _plain(bare) if self.commas else bare
        if not blank.strip(SPACE):
            return None
        try:
            return json.loads(blank)
        except json.JSONDecodeError as error:
            raise Unreadable(f"{position(text, error.pos)}: {error.msg}") from error
        except RecursionError as error:
            raise Unreadable("it is nested too deeply") from error


STRICT: Final = Json(comments=False, commas=False)
COMMENTED: Final = Json(comments=True, commas=False)
RELAXED: Final = Json(comments=True, commas=True)
