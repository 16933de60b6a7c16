"""YAML: entries are added as whole lines (in braces: as a span) and cut as what they are.

Theory of operation
-------------------
PyYAML's nodes say where they begin and end. An entry of a block is put directly below the line of its
container's key, which leaves every other line as it is; a new outermost key goes to the end of the text.
`cut` takes the same lines. In braces the entry is put first and written as JSON, which is YAML too. What is
shared by an alias, or stands in another form, is not edited: the proof in `document` fails, and nothing is
written.

PyYAML is imported when a client with such a file is connected, and by nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import yaml

from standfast.cli.connect.text import (
    Unreadable,
    line_break,
    line_end,
    line_start,
    position,
    with_lines,
    without_lines,
)

_PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_WORDS: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null"})
_INDENT: Final = 2
Path = tuple[str, ...]


def read(text: str) -> Any:
    """The value, or None for a text without one. Raises `Unreadable` with the position."""
    try:
        return yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise Unreadable(f"{place}{error.problem}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise Unreadable(" ".join(str(error).split())) from error
    except RecursionError as error:
        raise Unreadable("it is nested too deeply") from error


def add(text: str, path: Path, key: str | None, value: Any) -> str:
    """The text with an entry (or, without a key, an item) in the container at `path`, which exists or is empty."""
    entry: Any = [value] if key is None else {key: value}
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if root is None:
        return with_lines(text, list(_block(entry, 0)))
    above, node = _find(text, root, path)
    if not isinstance(node, yaml.ScalarNode) and node.flow_style:
        at = node.start_mark.index + 1
        item = json.dumps(value, ensure_ascii=False)
        item = item if key is None else f"{_key(key)}: {item}"
        return f"{text[:at]}{item}{', ' if node.value else ''}{text[at:]}"
    if above is None:
        return with_lines(text, list(_block(entry, node.start_mark.column)))
    if isinstance(node, yaml.ScalarNode):
        _must_be_empty(text, node)
        column = above.start_mark.column + _INDENT
    else:
        column = node.start_mark.column
    at = line_end(text, above.end_mark.index)
    return _put_lines(text, at, list(_block(entry, column)))


def among(items: list[Any], item: Any) -> list[Any]:
    """A list with one more item where `add` puts it."""
    return [item, *items]


def cut(text: str, path: Path, key: str | int) -> str:
    """The text without an entry (or an item) of the container at `path`."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    _, node = _find(text, root, path)
    pairs = [each if isinstance(each, tuple) else (each, each) for each in node.value]
    place = key if isinstance(key, int) else _only(text, node, key)
    first, last = pairs[place]
    start, end = first.start_mark.index, _end(text, first, last)
    if node.flow_style:
        return _cut_flow(text, start, end)
    return without_lines(text, line_start(text, start), line_end(text, end))


def clear(text: str) -> str:
    """The text as it is: a block's outermost container is gone with its last entry."""
    return text


def _put_lines(text: str, at: int, lines: list[str]) -> str:
    """The text with lines before the line that begins at `at`, which may be its end."""
    if at == len(text):
        return with_lines(text, lines)
    mark = line_break(text)
    return text[:at] + "".join(line + mark for line in lines) + text[at:]


def _find(text: str, root: Any, path: Path) -> tuple[Any, Any]:
    """The container's key (None for the outermost) and the container."""
    above, node = None, root
    for key in path:
        above, below = node.value[_only(text, node, key)]
        if below.start_mark.index < above.start_mark.index:
            raise Unreadable(f"{position(text, above.start_mark.index)}: {key} is an alias")
        node = below
    return above, node


def _only(text: str, node: Any, key: str) -> int:
    """The place of the entry with this key; of two, readers take different ones."""
    found = [place for place, (each, _) in enumerate(node.value) if each.value == key]
    if len(found) > 1:
        raise Unreadable(f"{position(text, node.value[found[1]][0].start_mark.index)}: {key!r} is there twice")
    return found[0]


def _must_be_empty(text: str, node: Any) -> None:
    if node.start_mark.index != node.end_mark.index:
        raise Unreadable(f"{position(text, node.start_mark.index)}: nothing can be added to this value")


def _end(text: str, key: Any, value: Any) -> int:
    """After the last character of an entry; the marks of a block lie behind the comments that follow it."""
    if isinstance(value, yaml.ScalarNode):
        if value.style in ("|", ">"):
            return len(text[: value.end_mark.index].rstrip())
        return max(int(key.end_mark.index), int(value.end_mark.index))
    if value.flow_style or not value.value:
        return int(value.end_mark.index)
    last = value.value[-1]
    return _end(text, *last) if isinstance(last, tuple) else _end(text, last, last)


def _cut_flow(text: str, start: int, end: int) -> str:
    after = re.compile(r"\s*, ?").match(text, end)
    if after:
        return text[:start] + text[after.end() :]
    before = re.compile(r",\s*$").search(text[:start])
    return text[: before.start() if before else start] + text[end:]


def _block(value: Any, column: int) -> Iterator[str]:
    """A container's lines in block style; what is no container is written as in JSON."""
    pairs = value.items() if isinstance(value, dict) else (("-", each) for each in value)
    margin = " " * column
    for key, each in pairs:
        head = "- " if key == "-" else f"{_key(key)}:"
        if not isinstance(each, dict | list) or not each:
            yield f"{margin}{head}{'' if key == '-' else ' '}{json.dumps(each, ensure_ascii=False)}"
        elif key == "-":
            first, *rest = _block(each, column + _INDENT)
            yield f"{margin}- {first.lstrip()}"
            yield from rest
        else:
            yield f"{margin}{head}"
            yield from _block(each, column + _INDENT)


def _key(key: str) -> str:
    plain = _PLAIN.fullmatch(key) and key.lower() not in _WORDS
    return key if plain else json.dumps(key, ensure_ascii=False)
