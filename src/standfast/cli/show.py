"""Texts for a terminal: everything that came from outside is made visible first (no ANSI, no controls)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from standfast.domain.text import visible


def clean(text: object, lines: bool = False) -> str:
    """A text that cannot move the cursor, colour the screen or turn the line around."""
    return visible(str(text), lines)


def when(at: int | None) -> str:
    """A time of the host as local time."""
    return "-" if at is None else time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at / 1_000))


def left(until: int, now: int) -> str:
    """The time left until a deadline."""
    seconds = max(0, (until - now) // 1_000)
    return f"{seconds // 60} min {seconds % 60:02d} s"


def table(rows: Sequence[Sequence[object]], heads: Sequence[str]) -> str:
    """Columns under headings; the last one is not padded."""
    lines = [list(heads), *[[clean(cell) for cell in row] for row in rows]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(heads))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line[:-1], widths, strict=False)) + f"  {line[-1]}"
        if len(line) > 1
        else line[0]
        for line in lines
    )


def card(plan: Mapping[str, Any]) -> str:
    """What a person reads before a verdict: texts, tasks, warnings, hidden content, carry-over, time left."""
    parts = [
        f"{plan['number']}  {clean(plan['title'])}",
        f"Question:  {clean(plan['question'])}",
        f"Status:    {plan['status']} (version {plan['version']}), from {plan['origin']}",
        f"File:      {clean(plan['path'])} in {clean(plan['checkout'])}",
        f"Digest:    sha256 {plan['sha256']} ({plan['size']} bytes)",
    ]
    if plan["status"] == "pending":
        parts.append(f"Time left: {left(plan['expires_at'], plan['now'])}")
    parts.append(f"Tasks:     {len(plan['checklist'])}")
    parts += [f"  {task['id']} {clean(task['title'])}{_notes(task)}" for task in plan["checklist"]]
    parts += [f"Warning:   {clean(message)}" for message in plan["warnings"]]
    parts += [f"Hidden:    {item['kind']} in line {item['line']}: {clean(item['text'])}" for item in plan["hidden"]]
    done = [str(item["position"]) for item in plan["carry"]]
    if done:
        parts.append(f"Already done in the older plan: {len(done)} of {len(plan['checklist'])} ({', '.join(done)})")
    return "\n".join(parts)


def _notes(task: Mapping[str, Any]) -> str:
    notes = []
    if task["verify"]:
        notes.append(f"verify: {clean(task['verify'])}")
    if task["gate"]:
        notes.append("you confirm it")
    if task["effect"] == "irreversible":
        notes.append("cannot be undone")
    return f"  ({'; '.join(notes)})" if notes else ""
