"""A measured figure, what it is relative to, and whether it reaches its goal."""

from __future__ import annotations

import json
import platform
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Row:
    """One figure, None where it was left out. `goal` is a maximum, or with `at_least` a minimum; None: no goal."""

    what: str
    value: float | None
    unit: str
    against: str = ""
    goal: float | None = None
    at_least: bool = False

    @property
    def verdict(self) -> str:
        """`met`, `NOT MET`, or nothing."""
        if self.goal is None or self.value is None:
            return ""
        return "met" if (self.value >= self.goal if self.at_least else self.value <= self.goal) else "NOT MET"

    @property
    def wish(self) -> str:
        """The goal in words."""
        return "" if self.goal is None else f"{'≥' if self.at_least else '≤'} {self.goal:g}"


def table(rows: Sequence[Row]) -> str:
    """The figures as lines."""
    return "\n".join(_line(row) for row in rows)


def _line(row: Row) -> str:
    value = "-" if row.value is None else f"{row.value:.3f}"
    return f"{row.what:44} {value:>10} {row.unit:6} {row.wish:8} {row.verdict:8} {row.against}".rstrip()


def as_json(rows: Sequence[Row]) -> str:
    """The figures and the machine on one line."""
    machine = {"python": platform.python_version(), "sqlite": sqlite3.sqlite_version, "system": platform.machine()}
    return json.dumps({**machine, "rows": [asdict(row) | {"verdict": row.verdict} for row in rows]})
