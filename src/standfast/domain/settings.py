"""Settings that an operator can change: one table of keys, types, limits and defaults.

A value is looked up for the project first, then for the home, then here. What is not in the table does not
exist; an agent can change none of them (the policy table says so).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from standfast.domain.change import Row
from standfast.domain.errors import Refusal
from standfast.domain.evidence import POLICIES
from standfast.domain.gate import SHELL_SETTINGS
from standfast.domain.plan import EXPIRY_DEFAULT_MS, EXPIRY_RANGE_MS

Value = int | str | bool | list[str]


class Setting(Row, frozen=True):
    """A stored value. `scope` is a project's id, or empty for the whole home; `value` is JSON text."""

    scope: str
    key: str
    value: str
    set_at: int


class Rule(msgspec.Struct, frozen=True):
    """What one key accepts: `accepts` says whether a value fits, `says` what fits."""

    default: Value
    accepts: Callable[[object], bool]
    says: str


def _one_of(*words: str) -> Callable[[object], bool]:
    return lambda value: isinstance(value, str) and value in words


def _texts(most: int) -> Callable[[object], bool]:
    return lambda value: (
        isinstance(value, list)
        and len(value) <= most
        and all(isinstance(item, str) and 0 < len(item) <= 200 for item in value)
    )


def _whole(low: int, high: int) -> Callable[[object], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _directory(value: object) -> bool:
    if not isinstance(value, str) or not 0 < len(value) <= 200 or "\0" in value:
        return False
    return all(part not in ("", ".", "..") for part in value.split("/"))


RULES: Final[dict[str, Rule]] = {
    "plan.expiry_ms": Rule(EXPIRY_DEFAULT_MS, _whole(*EXPIRY_RANGE_MS), "milliseconds, from one minute to seven days"),
    "plan.shell": Rule("sandbox", _one_of(*SHELL_SETTINGS), "deny, sandbox or permission"),
    "plan.evidence": Rule("none", _one_of(*POLICIES), "none, any, command or human"),
    "plan.directory": Rule(".standfast/plan", _directory, "a relative path without . or .."),
    "plan.headings": Rule([], _texts(20), "at most 20 heading words; empty means the built-in ones"),
    "gate.read_only_tools": Rule([], _texts(200), "at most 200 tool names"),
    "marker": Rule("changed", _one_of("changed", "every_turn"), "changed or every_turn"),
    "todo.view_items": Rule(40, _whole(1, 256), "how many open todos a view lists, 1 to 256"),
    "todo.reminder_turns": Rule(10, _whole(0, 1_000), "turns without a list write until a reminder, 0 for never"),
    "todo.check_items": Rule(3, _whole(0, 256), "from how many todos on the end asks for a check, 0 for never"),
    "notify.command": Rule(
        "", lambda value: isinstance(value, str) and len(value) <= 1_000, "a command line, or empty"
    ),
}


def checked(key: str, value: object) -> Value:
    """`value` if `key` exists and accepts it, else `invalid` with what would be accepted."""
    rule = RULES.get(key)
    if rule is None:
        raise Refusal("invalid", f"No setting {key!r}; there are: {', '.join(RULES)}.", field="key")
    if not rule.accepts(value):
        raise Refusal("invalid", f"{key} takes {rule.says}.", field="value")
    return value  # type: ignore[return-value]  # accepts() has just shown it


class Settings(msgspec.Struct, frozen=True):
    """The values that hold for one project: stored ones over defaults."""

    stored: Mapping[str, Value]

    def __getitem__(self, key: str) -> Value:
        return self.stored.get(key, RULES[key].default)

    def text(self, key: str) -> str:
        """A setting whose rule accepts texts."""
        return str(self[key])

    def number(self, key: str) -> int:
        """A setting whose rule accepts whole numbers."""
        value = self[key]
        assert isinstance(value, int)
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A setting whose rule accepts lists of texts."""
        value = self[key]
        assert isinstance(value, list)
        return tuple(value)
