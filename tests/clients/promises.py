"""What every client must show, each a sentence and how it is read off the facts of a story.

`broken` says for one client what was not seen; a driver's `cannot` names the promises that its client cannot keep,
each with what it lacks. A promise that is named there and kept all the same is reported too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from standfast.domain import capabilities
from tests.clients.story import INSTRUCTION, VIEW, Look, Seen


@dataclass(frozen=True)
class Promise:
    """One promise. `trouble` is empty where the facts show it, else says what was seen instead."""

    says: str
    trouble: Callable[[Seen], str]


def _unknown(seen: Seen) -> str:
    found = sorted(tool for tool in seen.tools if capabilities.of(seen.client, tool, {}, "") == "unknown")
    return f"in no table: {', '.join(found)}" if found else "" if seen.tools else "no tools were offered"


def _gate(seen: Seen) -> str:
    if seen.written:
        return "the file was written"
    return "" if "tool_denied_in_plan" in seen.refused else f"the model was told: {seen.refused[:200]}"


def _identity(seen: Seen) -> str:
    return "" if len(seen.sessions) == 1 else f"sessions of: {', '.join(seen.sessions)}"


def _approved(seen: Seen) -> str:
    times = seen.approved.count(INSTRUCTION) if seen.approved else 0
    return "" if times == 1 else f"the instruction came {times} times"


def _ticked(seen: Seen) -> str:
    return "" if seen.done == [1, 2, 3] and seen.audit else f"done: {seen.done}, audit: {seen.audit}"


def _ended(seen: Seen) -> str:
    return "" if seen.execution[0] == "completed" else f"the execution is {seen.execution[0]}"


def _compactions(seen: Seen) -> str:
    return "" if seen.summaries == 2 else f"{seen.summaries} of 2 compactions"


def _views(looks: list[Look], wanted: tuple[str, ...]) -> str:
    for look, title in zip(looks, wanted, strict=True):
        if f"do {title}, then tick it" not in look.view:
            return f"the view says: {look.view.splitlines()[-1]}"
        if look.views != 1:
            return f"the newest view came {look.views} times, views in all {look.asked.count(VIEW)}"
    return ""


def _system(seen: Seen) -> str:
    prompts = {asked.system for asked in seen.prompts}
    return "" if len(prompts) == 1 else f"{len(prompts)} different system prompts"


PROMISES: Mapping[str, Promise] = {
    "tools": Promise("every tool of the client has its capability in the table", _unknown),
    "gate": Promise("plan mode denies a write, and the model reads why", _gate),
    "identity": Promise("hooks and MCP calls belong to one session", _identity),
    "submits": Promise("the plan waits for a person", lambda seen: "" if seen.status == "pending" else seen.status),
    "approval": Promise("the approval reaches the model once, with its instruction", _approved),
    "ticks": Promise("steps are ticked by title, also after the client's and the host's death", _ticked),
    "turns": Promise("the execution ends with its turn", _ended),
    "compacts": Promise("the client's own compaction happened", _compactions),
    "view": Promise(
        "after a compaction the model has the resume view once, with the right next task",
        lambda seen: _views(seen.compacted, ('P-1.2 "Switch the readers"', 'P-1.3 "Drop the old table"')),
    ),
    "resume": Promise(
        "killed and taken up again, also with a new host, the model has the resume view once",
        lambda seen: _views(seen.resumed, ('P-1.3 "Drop the old table"',) * 2),
    ),
    "system": Promise("the system prompt's bytes stay as they were", _system),
}


def broken(seen: Seen, cannot: Mapping[str, str]) -> dict[str, str]:
    """The promises that were not kept and are not excused, and the excuses that are not needed."""
    found = {}
    for name, promise in PROMISES.items():
        trouble = promise.trouble(seen)
        if trouble and name not in cannot:
            found[name] = f"{promise.says}: {trouble}"
        elif not trouble and name in cannot:
            found[name] = f"{promise.says}: kept, although it is said that {cannot[name]}"
    return found
