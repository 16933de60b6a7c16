"""TOML: a table is added at the end of the text, as a block with its own header, and cut as that block.

Theory of operation
-------------------
The standard library reads TOML but does not say where things are. A header is found by a scan that knows
strings, comments and brackets, and read by the library; `cut` takes the lines from the header to the table's
last entry, with the empty line that `add` put before. A table that somebody wrote in another way (inline, or
with dotted keys) has no header and is not edited.
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from typing import Any, Final

from standfast.cli.connect.text import (
    Unreadable,
    break_before,
    line_end,
    line_start,
    position,
    with_lines,
    without_lines,
)

_TOKEN: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'"
    r"|#[^\n]*|\n|[^\s]",
    re.DOTALL,
)
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_PLACE: Final = re.compile(r" \(at (line \d+, column \d+|end of document)\)$")
Path = tuple[str, ...]


@dataclass(frozen=True)
class Section:
    """A table with a header of its own: its path, where the header's line begins, where its last line ends."""

    path: Path
    start: int
    end: int


def read(text: str) -> Any:
    """The value, or None for a text without one. Raises `Unreadable` with the position."""
    try:
        return tomllib.loads(text) or None
    except tomllib.TOMLDecodeError as error:
        place = _PLACE.search(str(error))
        what = _PLACE.sub("", str(error))
        raise Unreadable(f"{place[1]}: {what}" if place else what) from error
    except RecursionError as error:
        raise Unreadable("it is nested too deeply") from error


def add(text: str, path: Path, key: str | None, value: Any) -> str:
    """The text with the table `key` of the table at `path` at its end."""
    table = (*path, *([] if key is None else [key]))
    while len(value) == 1 and isinstance(next(iter(value.values())), dict):
        [(name, value)] = value.items()
        table = (*table, name)
    lines = [f"[{'.'.join(map(_key, table))}]", *(f"{_key(name)} = {_value(each)}" for name, each in value.items())]
    return with_lines(text, lines, apart=True)


def among(items: list[Any], item: Any) -> list[Any]:
    """A list with one more item where `add` puts it."""
    return [*items, item]


def cut(text: str, path: Path, key: str | int) -> str:
    """The text without the table and the tables below it; its parents go with it where they are only implied."""
    table = (*path, str(key))
    ours = [section for section in _sections(text) if section.path[: len(table)] == table]
    if not ours:
        raise Unreadable(f"{'.'.join(table)} is not a table with a header of its own; take it out by hand")
    for section in reversed(ours):
        start = break_before(text, section.start)
        empty = start < section.start and line_start(text, start) == start
        text = without_lines(text, start if empty else section.start, section.end)
    return text


def clear(text: str) -> str:
    """The text as it is: its outermost table has no header."""
    return text


def _sections(text: str) -> list[Section]:
    """All tables with a header, arrays of tables left out."""
    found: list[tuple[int, int]] = []
    depth, fresh, last = 0, True, 0
    for token in _TOKEN.finditer(text):
        what = token[0]
        if what == "\n":
            fresh = True
            continue
        if what.startswith("#"):
            continue
        if what == "[" and fresh and depth == 0:
            found.append((line_start(text, token.start()), 0))
        last = line_end(text, token.end() - 1)
        if found:
            found[-1] = (found[-1][0], last)
        depth += (what in "[{") - (what in "]}")
        fresh = False
    sections = [Section(_header(text, start), start, end) for start, end in found]
    return [section for section in sections if section.path]


def _header(text: str, start: int) -> Path:
    """The path that a header's line names; empty for an array of tables."""
    try:
        node: Any = tomllib.loads(text[start : line_end(text, start)])
    except tomllib.TOMLDecodeError as error:
        raise Unreadable(f"{position(text, start)}: this header cannot be read alone") from error
    path: list[str] = []
    while isinstance(node, dict) and node:
        [(key, node)] = node.items()
        path.append(key)
    return tuple(path) if isinstance(node, dict) else ()


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)


def _value(value: Any) -> str:
    """Texts, truth values, whole numbers and lists of them are written as in JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
