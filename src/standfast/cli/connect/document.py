"""A configuration's text and the entries that are ours in it.

Invariants
- Every edit is proved by reading its result: the value is the one before with exactly the wished change, or
  nothing is edited. A fault in the span editors can refuse, and cannot spoil.
- `take` after `put` gives the same bytes.

A byte order mark and the line breaks stay. Not here: files (`files`), what is wished (`table`).
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any, Final, Protocol

from standfast.cli.connect.text import Unreadable, position

MISSING: Final = object()
BOM: Final = "\ufeff"
_ALONE: Final = re.compile(r"\r(?!\n)")
Path = tuple[str, ...]


class Syntax(Protocol):
    """A way to write configurations; a `Json`, or the module `toml_spans` or `yaml_spans`."""

    def read(self, text: str) -> Any:
        """The value of a text, None for an empty one; raises `Unreadable`."""

    def add(self, text: str, path: Path, key: str | None, value: Any) -> str:
        """The text with one more entry in the container at `path`."""

    def among(self, items: list[Any], item: Any) -> list[Any]:
        """A list with one more item where `add` puts it."""

    def cut(self, text: str, path: Path, key: str | int) -> str:
        """The text without one entry of the container at `path`."""

    def clear(self, text: str) -> str:
        """The text without its outermost container, which is empty."""


@dataclass(frozen=True)
class Entry:
    """One thing that is ours: the value at `path`, or with `mark` the item of the list at `path` that holds it.

    `agreed` says that a person has just agreed to this value, so that it replaces whatever is there.
    """

    path: Path
    value: Any
    mark: str = ""
    agreed: bool = False

    @property
    def name(self) -> str:
        """How people are told of it."""
        return ".".join(self.path)

    @property
    def key(self) -> str:
        """How it is remembered; `of_key` finds the same place again."""
        return json.dumps([*self.path, self.mark])

    @staticmethod
    def of_key(key: str) -> Entry:
        """The place that a key names, without a value."""
        *path, mark = json.loads(key)
        return Entry(tuple(path), None, mark)


def digest(value: Any) -> str:
    """What is remembered of a value that was written."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


class Document:
    """The text of one configuration, and what it says. Raises `Unreadable` for what cannot be edited."""

    def __init__(self, text: str, syntax: Syntax) -> None:
        self._bom: Final = BOM if text.startswith(BOM) else ""
        self._syntax: Final = syntax
        self._text = text.removeprefix(BOM)
        self._tree = syntax.read(self._text)
        alone = _ALONE.search(self._text)
        if alone:
            raise Unreadable(f"{position(self._text, alone.start())}: a carriage return without a line feed")
        if not isinstance(self._tree, dict | None):
            raise Unreadable("line 1, column 1: its outermost value is not an object")

    @property
    def text(self) -> str:
        """The text as it is now."""
        return self._bom + self._text

    def get(self, entry: Entry) -> Any:
        """The entry's value here, or `MISSING`; a list of all where more than one item is known as ours."""
        value = self._at(entry.path)
        if not entry.mark or value is MISSING:
            return value
        if not isinstance(value, list | None):
            raise Unreadable(f"{entry.name} is not a list")
        ours = [(value or [])[place] for place in self._places(entry)]
        return ours[0] if len(ours) == 1 else (ours or MISSING)

    def put(self, entry: Entry) -> list[Path]:
        """Adds an entry that is missing; the containers that had to be made, outermost first."""
        if self.get(entry) is not MISSING:
            raise ValueError(f"{entry.name} is there already")
        container = entry.path if entry.mark else entry.path[:-1]
        depth = next((n for n in range(len(container)) if self._at(container[: n + 1]) is MISSING), len(container))
        made = [container[:n] for n in range(depth + 1, len(container) + 1)]
        made = [(), *made] if self._tree is None else made
        value = [entry.value] if entry.mark and depth < len(container) else entry.value
        names: list[str | None] = [*entry.path, *([None] if entry.mark and depth == len(container) else [])]
        for name in reversed(names[depth + 1 :]):
            value = {name: value}
        wished = copy.deepcopy(self._tree) or {}
        self._set(wished, container[:depth], names[depth], value)
        self._become(self._syntax.add(self._text, container[:depth], names[depth], value), wished, container)
        return made

    def take(self, entry: Entry) -> None:
        """Takes an entry out; every item that is known as ours, if it is of a list."""
        for place in reversed(self._places(entry)) if entry.mark else [entry.path[-1]]:
            self._cut(entry.path if entry.mark else entry.path[:-1], place)

    def prune(self, made: list[Path]) -> None:
        """Takes out the containers that were made for entries and are empty."""
        for path in sorted(made, key=len, reverse=True):
            here = self._at(path)
            if here is MISSING or here:
                continue
            if path:
                self._cut(path[:-1], path[-1])
            elif self._text.strip():
                self._become(self._syntax.clear(self._text), None, ())

    def _cut(self, path: Path, key: str | int) -> None:
        wished = copy.deepcopy(self._tree)
        container = wished
        for name in path:
            container = container[name]
        del container[key]
        self._become(self._syntax.cut(self._text, path, key), wished, path)

    def _become(self, text: str, wished: Any, path: Path) -> None:
        """Takes a new text on, if it says what is wished of the container at `path`, and else what was there."""
        try:
            tree = self._syntax.read(text)
        except Unreadable:
            tree = MISSING
        if tree is MISSING or _folded(tree, path) != _folded(wished, path):
            raise Unreadable("it is written in a form that cannot be edited safely; it was left as it is")
        self._text, self._tree = text, tree

    def _at(self, path: Path) -> Any:
        """The value at a path; a missing or empty container on the way has nothing in it."""
        here = self._tree
        for count, name in enumerate(path):
            if here is None or here is MISSING:
                return MISSING
            if not isinstance(here, dict):
                raise Unreadable(f"{'.'.join(path[:count])} is not an object")
            here = here.get(name, MISSING)
        return here

    def _places(self, entry: Entry) -> list[int]:
        items = self._at(entry.path) or []
        return [place for place, item in enumerate(items) if entry.mark in json.dumps(item, default=str)]

    def _set(self, tree: Any, path: Path, key: str | None, value: Any) -> None:
        """Puts a value into a copy, under the key or into the list."""
        for name in path[:-1] if key is None else path:
            if tree.get(name) is None:
                tree[name] = {}
            tree = tree[name]
        if key is None:
            tree[path[-1]] = self._syntax.among(tree[path[-1]] or [], value)
        else:
            tree[key] = value


def _folded(tree: Any, path: Path) -> Any:
    """A value without the empty containers on a path: TOML implies parents, an empty block in YAML is no container."""
    tree = copy.deepcopy(tree)
    for end in range(len(path), 0, -1):
        above = tree
        for name in path[: end - 1]:
            above = above.get(name) if isinstance(above, dict) else None
        if isinstance(above, dict) and not above.get(path[end - 1], MISSING):
            del above[path[end - 1]]
    return tree or None
