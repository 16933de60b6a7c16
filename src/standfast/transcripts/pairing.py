"""Brings calls and their results together, in the file's order or against it.

A call keeps its own place; its result says what became of it. Call ids are not unique in every client (some model
servers count from `call_0` again with each answer), so a result belongs to the nearest earlier call with its id that
has none yet. What waits is bounded: a file in which thousands of calls wait for results is no client's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from standfast.transcripts.entries import Call, Entry, Result
from standfast.transcripts.events import Event, OrphanResult, Problem, ToolCall

WAITING_LIMIT: Final = 2_000
"""Calls, or results, that wait for their other half."""

TEXT_BUDGET: Final = 16_000_000
"""Characters of answers, and bytes stored beside them, that wait for their calls."""

_Key = tuple[str, str | None]


class Seen(msgspec.Struct):
    """One entry with its events, calls and results brought together."""

    entry: Entry
    events: list[Event]


def forwards(entries: Iterable[Entry | Problem]) -> Iterator[Event]:
    """The events in order; a call comes when its result does, or at the end without one."""
    waiting: dict[_Key, Call] = {}
    for entry in entries:
        if isinstance(entry, Problem):
            yield entry
            continue
        for part in entry.parts:
            if isinstance(part, Call):
                key = (part.agent, part.call)
                older = waiting.pop(key, None)
                if older is not None and (older.tool, older.arguments) == (part.tool, part.arguments):
                    # The same call, written again while it runs.
                    older = None
                elif older is None and len(waiting) >= WAITING_LIMIT:
                    older = waiting.pop(next(iter(waiting)))
                if older is not None:
                    yield together(older, None)
                waiting[key] = part
            elif isinstance(part, Result):
                call = waiting.pop((part.agent, part.call), None)
                yield _orphan(part) if call is None else together(call, part)
            else:
                yield part
    for call in waiting.values():
        yield together(call, None)


def backwards(entries: Iterable[Entry | Problem]) -> Iterator[Seen | Problem]:
    """The entries, newest first as they come, each with its events newest first; a call stands at its own entry."""
    waiting: dict[_Key, Result] = {}
    held = 0
    for entry in entries:
        if isinstance(entry, Problem):
            yield entry
            continue
        seen = Seen(entry, [])
        for part in reversed(entry.parts):
            if isinstance(part, Result):
                key = (part.agent, part.call)
                lost = waiting.pop(key, None)
                waiting[key] = part
                held += _length(part) - _length(lost)
                while len(waiting) > WAITING_LIMIT or (held > TEXT_BUDGET and len(waiting) > 1):
                    oldest = waiting.pop(next(iter(waiting)))
                    held -= _length(oldest)
                    seen.events.append(_orphan(oldest))
                if lost is not None:
                    seen.events.append(_orphan(lost))
            elif isinstance(part, Call):
                result = waiting.pop((part.agent, part.call), None)
                held -= _length(result)
                seen.events.append(together(part, result))
            else:
                seen.events.append(part)
        yield seen
    for result in waiting.values():
        yield Seen(Entry(result.place, [], agent=result.agent), [_orphan(result)])


def together(call: Call, result: Result | None) -> ToolCall:
    """A call with its result, or without one."""
    if result is None:
        return ToolCall(
            call.place, call.call, call.tool, call.arguments, "unanswered", agent=call.agent, group=call.group
        )
    return ToolCall(
        call.place,
        call.call,
        call.tool,
        call.arguments,
        result.outcome,
        result.answer,
        result.stored,
        result.place,
        call.agent,
        call.group,
    )


def _orphan(result: Result) -> OrphanResult:
    return OrphanResult(result.place, result.call, result.agent)


def _length(result: Result | None) -> int:
    return len(result.answer or "") + len(result.stored or b"") if result is not None else 0
