"""Warnings about a plan, as data: what its author may have meant and what was read instead.

Not here: refusals. A warning never stops a submission; a limit does (`markdown.TooLarge`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

import msgspec

WARNINGS: Final = 200
"""Warnings of one plan; one more says how many were left out."""

CODES: Final[dict[str, str]] = {
    "no_tasks": "The plan has no tasks.",
    "item_skipped": "Something looks like a task and is none.",
    "duplicate_title": "Several tasks have one title.",
    "invalid_metadata": "A task's metadata cannot be what it says and binds nothing.",
    "order_ignored": "An order was asked for where, or how, it has no effect.",
    "unknown_dependency": "An After: names no task and binds nothing.",
    "ambiguous_dependency": "An After: names several tasks and binds nothing.",
    "dependency_cycle": "An After: closes a cycle and binds nothing.",
    "more_warnings": "There are more warnings than are kept.",
}
"""Every code that a warning can have, and its meaning."""


class ChecklistWarning(msgspec.Struct, frozen=True):
    """`code` is one of `CODES`; `message` is a sentence for a person; `line` is 1-based, the first concerned."""

    code: str
    message: str
    line: int


class Located(Protocol):
    """What a rule reports: a sentence and the line it is about."""

    @property
    def message(self) -> str: ...

    @property
    def line(self) -> int: ...


class Coded(Located, Protocol):
    """The same, with the code that it has."""

    @property
    def code(self) -> str: ...


class Warnings:
    """Collects warnings and gives them in the order of the document, at most `WARNINGS`."""

    def __init__(self, first: Sequence[ChecklistWarning] = ()) -> None:
        self._found = list(first)

    def add(self, code: str, message: str, line: int) -> None:
        self._found.append(ChecklistWarning(code, message, line))

    def extend(self, code: str, problems: Iterable[Located]) -> None:
        self._found.extend(ChecklistWarning(code, each.message, each.line) for each in problems)

    def extend_coded(self, problems: Iterable[Coded]) -> None:
        self._found.extend(ChecklistWarning(each.code, each.message, each.line) for each in problems)

    def all(self) -> tuple[ChecklistWarning, ...]:
        """In order of lines; equal lines in the order in which they were found."""
        ordered = sorted(self._found, key=lambda each: each.line)
        rest = len(ordered) - WARNINGS
        if rest <= 0:
            return tuple(ordered)
        more = ChecklistWarning("more_warnings", f"And {rest} more warnings.", ordered[WARNINGS].line)
        return (*ordered[:WARNINGS], more)
