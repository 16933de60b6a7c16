"""What a model and a person read of todo lists: one line each item, bounded, the same for the same state.

For a model only open items count: what has ended stays in the record and never comes back into its context, but
for the ended ancestors of open items, which are plain headings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from standfast.domain.text import escape_title
from standfast.domain.todo import MAIN, OWN, Item, TodoRevision, progress

ITEM_LIMIT: Final = 400
SHOWN_LISTS: Final = 3
ROOM: Final = 4_000
"""Characters that open items get in a view or a reminder."""
MARKS: Final = {"pending": " ", "in_progress": ">", "completed": "x", "cancelled": "~"}


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """One list as views show it. `interrupted` says that the turn or process which wrote it is gone."""

    revision: TodoRevision
    interrupted: bool = False

    @property
    def main(self) -> bool:
        """Whether it is the main thread's."""
        return self.revision.agent == MAIN


def summary(items: Sequence[Item]) -> str:
    """`done/total`."""
    done, total = progress(items)
    return f"{done}/{total}"


def focus(shown: Shown) -> Item | None:
    """The item in progress, the innermost one, else None."""
    running = [item for item in shown.revision.items if item.state == "in_progress"]
    return running[-1] if running else None


def open_lines(shown: Shown) -> list[tuple[str, bool]]:
    """The open items and their ended ancestors in order, as lines; whether a line is an item's own."""
    items = shown.revision.items
    by_number = {item.number: item for item in items}
    wanted = {item.number for item in items if item.open}
    for item in items:
        above = by_number.get(item.parent or 0) if item.open else None
        while above is not None and above.number not in wanted:
            wanted.add(above.number)
            above = by_number.get(above.parent or 0)
    return [(_line(shown, item, by_number), item.open) for item in items if item.number in wanted]


def _line(shown: Shown, item: Item, by_number: dict[int, Item]) -> str:
    words = f'"{escape_title(item.content, ITEM_LIMIT)}"'
    if not item.open:
        return f"- {words}:"
    notes = []
    if item.state == "in_progress" and shown.interrupted:
        notes.append("interrupted")
    if item.state not in MARKS:
        notes.append(f'status "{escape_title(item.state)}"')
    waits = [by_number[number].id for number in item.depends_on if number in by_number and by_number[number].open]
    if waits:
        notes.append(f"after {', '.join(map(escape_title, waits))}")
    return f"- [{MARKS.get(item.state, '?')}] {escape_title(item.id)} {words}" + (
        f" ({'; '.join(notes)})" if notes else ""
    )


def block(lists: Sequence[Shown], most: int, room: int) -> list[str]:
    """The lists of a session for a resume view: open items of the main thread, the others by their counts.

    At most `most` items and `room` characters, then a count of the rest.
    """
    result: list[str] = []
    for shown in lists:
        lines = open_lines(shown) if shown.main else []
        if lines:
            head = f"Todos {summary(shown.revision.items)}{_source(shown)}, open ones:"
            room -= len(head) + 1
            kept = _bounded(lines, most, room)
            most -= sum(1 for line in kept if line.startswith("- ["))
            room -= sum(len(line) + 1 for line in kept)
            result += [head, *kept]
    others = [shown for shown in lists if not shown.main and any(item.open for item in shown.revision.items)]
    result += [
        f'Todos of subagent "{escape_title(shown.revision.agent)}": {summary(shown.revision.items)}, not yours.'
        for shown in others[:SHOWN_LISTS]
    ]
    return result


def _source(shown: Shown) -> str:
    if shown.revision.source != OWN:
        return f" (from {escape_title(shown.revision.source)})"
    return " (restored)" if shown.revision.provenance == "restored" else ""


def _bounded(lines: Sequence[tuple[str, bool]], most: int, room: int) -> list[str]:
    kept: list[str] = []
    left = sum(own for _, own in lines)
    for line, own in lines:
        room -= len(line) + 1
        if room < 0 or (own and most == 0):
            return [*kept, f"and {left} more: todo_read"]
        most -= own
        left -= own
        kept.append(line)
    return kept


def reminder(shown: Shown, most: int, room: int) -> str:
    """What is said when a list has not been written for long: the open items, no descriptions."""
    lines = [line for line, own in open_lines(shown) if own]
    head = "[standfast] These todos have not been updated for a while; update or clear them if they no longer hold:"
    return "\n".join([head, *_bounded([(line, True) for line in lines], most, room)])


def whole(items: Sequence[Item]) -> list[str]:
    """Every item as a line, for a person."""
    depth = {item.number: item.parent for item in items}
    return [f"{'  ' * _depth(item, depth)}[{MARKS.get(item.state, '?')}] {item.id} {item.content}" for item in items]


def _depth(item: Item, parents: dict[int, int | None]) -> int:
    seen: list[int] = []
    above = item.parent
    while above is not None and above not in seen:
        seen.append(above)
        above = parents.get(above)
    return len(seen)
