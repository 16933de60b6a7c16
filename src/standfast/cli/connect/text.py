"""Lines and positions of a configuration's text, and the error for a text that is not edited."""

from __future__ import annotations

import re

_BREAK = re.compile(r"\r\n|\n")


class Unreadable(Exception):
    """A configuration that is not edited; the text says where and why, without the file's name."""


def position(text: str, index: int) -> str:
    """An index as people count: `line 3, column 5`."""
    return f"line {text.count(chr(10), 0, index) + 1}, column {index - line_start(text, index) + 1}"


def line_break(text: str) -> str:
    """The line break that the text uses first; a line feed where it has none."""
    found = _BREAK.search(text)
    return found.group() if found else "\n"


def line_start(text: str, index: int) -> int:
    """Where the line of `index` begins."""
    return text.rfind("\n", 0, index) + 1


def line_end(text: str, index: int) -> int:
    """Where the line after the one of `index` begins, or the end of the text."""
    found = text.find("\n", index)
    return len(text) if found < 0 else found + 1


def break_before(text: str, index: int) -> int:
    """The start of the line break that ends at `index`, or `index` where none does."""
    for mark in ("\r\n", "\n"):
        if text.endswith(mark, 0, index):
            return index - len(mark)
    return index


def break_after(text: str, index: int) -> int:
    """The end of the line break that starts at `index`, or `index` where none does."""
    found = _BREAK.match(text, index)
    return found.end() if found else index


def indentation(text: str, index: int) -> str:
    """The white space that begins the line of `index`."""
    start = line_start(text, index)
    line = text[start:index]
    return line[: len(line) - len(line.lstrip(" \t"))]


def without_lines(text: str, start: int, end: int) -> str:
    """The text without the lines from `start` to `end`; the last line's missing break stays the missing one."""
    if end == len(text) and not text.endswith("\n"):
        start = break_before(text, start)
    return text[:start] + text[end:]


def with_lines(text: str, lines: list[str], *, apart: bool = False) -> str:
    """The text with lines at its end, `apart` by an empty one; a text without a last line break stays so."""
    mark = line_break(text)
    block = mark.join(lines)
    if text and not text.endswith("\n"):
        return f"{text}{mark}{mark if apart else ''}{block}"
    return f"{text}{mark if apart and text else ''}{block}{mark}"
