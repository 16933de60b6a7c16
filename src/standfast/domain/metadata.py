"""What the sub-items of a task say about it: `- **Label:** value`.

`After`, `Verify`, `Gate` and `Effect` have a meaning to the host; every other label is kept as it is. A value
that a known label cannot have binds nothing: it is kept as free metadata and said in a warning, because a gate
that somebody believes in and that does not exist is worse than none.

Not here: what the names in `After` stand for (`dependencies`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from standfast.domain.markdown import Reader
from standfast.domain.outline import Item
from standfast.domain.text import collapse_space, escape_title

Effect = Literal["none", "reversible", "irreversible"]
Gate = Literal["human"]

COMMAND_LIMIT: Final = 2_000
"""Characters of a `Verify:` command: it must be readable whole where it is approved."""

_LABEL: Final = re.compile(r"(\*\*|__)([^*_:\n]{1,60})(?:[ \t]*:[ \t]*\1|\1[ \t]*:)\s*", re.UNICODE)
_UNMARKED: Final = re.compile(r"[*_]?(after|verify|gate|effect)[*_]?[ \t]*:", re.IGNORECASE)
_EFFECTS: Final[dict[str, Effect]] = {
    "none": "none",
    "reversible": "reversible",
    "irreversible": "irreversible",
}


class Problem(msgspec.Struct, frozen=True):
    """Metadata that binds nothing, and why. `line` is 1-based."""

    message: str
    line: int


class Name(msgspec.Struct, frozen=True):
    """One name of an `After:` list, inline Markdown. `line` is 1-based."""

    text: str
    line: int


class Metadata(msgspec.Struct, frozen=True):
    """One task's metadata. `after` as written; `free` are the labels without a meaning, in their order."""

    after: tuple[Name, ...] = ()
    verify: str | None = None
    gate: Gate | None = None
    effect: Effect = "none"
    free: tuple[tuple[str, str], ...] = ()
    problems: tuple[Problem, ...] = ()


def read_metadata(reader: Reader, items: Sequence[Item]) -> Metadata:
    """The metadata in a task's own sub-items; those without a label are prose and ignored."""
    gathered = _Gathered(reader)
    for item in items:
        found = _LABEL.match(item.source)
        if found is not None:
            gathered.add(collapse_space(found[2]), item.source[found.end() :].strip(), item.line)
        elif _UNMARKED.match(item.source):
            label = escape_title(item.source.partition(":")[0], 40)
            gathered.problem(f'"{label}:" is not bold, so it is text: write **Label:** value', item.line)
    return gathered.metadata()


class _Gathered:
    """Collects labels one by one; the first valid value of a label counts."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._after: list[Name] = []
        self._verify: str | None = None
        self._gate: Gate | None = None
        self._effect: Effect | None = None
        self._free: list[tuple[str, str]] = []
        self._problems: list[Problem] = []

    def problem(self, message: str, line: int) -> None:
        self._problems.append(Problem(message, line))

    def add(self, label: str, value: str, line: int) -> None:
        match label.casefold():
            case "after":
                self._add_after(label, value, line)
            case "verify":
                self._add_verify(label, value, line)
            case "gate":
                self._add_gate(label, value, line)
            case "effect":
                self._add_effect(label, value, line)
            case _:
                self._keep(label, value)

    def metadata(self) -> Metadata:
        return Metadata(
            after=tuple(self._after),
            verify=self._verify,
            gate=self._gate,
            effect=self._effect or "none",
            free=tuple(self._free),
            problems=tuple(self._problems),
        )

    def _add_after(self, label: str, value: str, line: int) -> None:
        names = [collapse_space(part) for part in value.split(";")]
        self._after.extend(Name(name, line) for name in names if name)
        if not any(names):
            self._refuse(label, value, line, "it names no task")

    def _add_verify(self, label: str, value: str, line: int) -> None:
        spans = [token.content for token in self._reader.inline(value) if token.type == "code_inline"]
        if len(spans) != 1 or not spans[0].strip():
            self._refuse(label, value, line, "it takes one command in backticks")
        elif len(spans[0]) > COMMAND_LIMIT:
            self._refuse(label, value, line, f"a command has at most {COMMAND_LIMIT} characters")
        elif self._verify not in (None, spans[0]):
            self._refuse(label, value, line, "the task has a command already")
        else:
            self._verify = spans[0]

    def _add_gate(self, label: str, value: str, line: int) -> None:
        if self._word(value) == "human":
            self._gate = "human"
        else:
            self._refuse(label, value, line, "the only gate is `human`")

    def _add_effect(self, label: str, value: str, line: int) -> None:
        effect = _EFFECTS.get(self._word(value))
        if effect is None:
            self._refuse(label, value, line, "it is `none`, `reversible` or `irreversible`")
        elif self._effect not in (None, effect):
            self._refuse(label, value, line, "the task has an effect already")
        else:
            self._effect = effect

    def _word(self, value: str) -> str:
        """A value of one word, with its markup and a full stop after it taken off."""
        return self._reader.title(value).removesuffix(".").casefold()

    def _refuse(self, label: str, value: str, line: int, why: str) -> None:
        self._keep(label, value)
        self.problem(f'"{escape_title(label, 40)}: {escape_title(value, 60)}" binds nothing: {why}', line)

    def _keep(self, label: str, value: str) -> None:
        self._free.append((self._reader.title(label), collapse_space(value)))
