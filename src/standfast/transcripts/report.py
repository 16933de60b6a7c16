"""What a restore found: as values, as plain data, and in words."""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from standfast.transcripts.events import MAIN, Place, Problem
from standfast.transcripts.lists import STATUSES, ListItem

NOTES_LIMIT: Final = 100
"""Problems, and calls that counted for nothing, that are told one by one; all of them are counted."""

SHOWN: Final = 200
"""Characters of one item or plan that the words show."""

PlanState = Literal["proposed", "rejected", "approved_elsewhere", "superseded"]


class FoundList(msgspec.Struct, frozen=True):
    """A client's list as the session left it.

    `agent` is "" for the session's own thread. `source` names the tool, `tasks` for Claude Code's task tools. `state`
    is `cleared` where the list was written empty, which is not the same as never written. `written` is the newest call
    that counted, `from_answer` says that the whole list rests on what the client's store answered, and `certain` is
    false where the changes that it was folded from may have begun before the file does.
    """

    agent: str
    source: str
    state: Literal["list", "cleared"]
    items: tuple[ListItem, ...]
    written: Place
    compactions_after: int
    explanation: str | None = None
    from_answer: bool = False
    certain: bool = True
    malformed: int = 0

    @property
    def flags(self) -> tuple[str, ...]:
        """What a reader should know before trusting it: a foreign list is kept as it is."""
        running = sum(item.status == "in_progress" and item.parent is None for item in self.items)
        found = {
            "several_in_progress": running > 1,
            "unknown_status": any(item.status not in STATUSES for item in self.items),
            "unknown_content": any(not item.content for item in self.items),
            "malformed_items": self.malformed > 0,
            "incomplete": not self.certain,
        }
        return tuple(name for name, holds in found.items() if holds)


class FoundPlan(msgspec.Struct, frozen=True):
    """A plan that the session proposed. It is shown and never executed: a verdict here needs a new submission.

    `approved_elsewhere` was approved in the client. `text` is None where the client kept it in a file (`file`) only.
    """

    agent: str
    state: PlanState
    place: Place
    text: str | None = None
    file: str | None = None


class Ignored(msgspec.Struct, frozen=True):
    """A call of a list tool, or a plan, that counted for nothing, and the word for why."""

    tool: str
    why: str
    place: Place
    agent: str = MAIN


class Report(msgspec.Struct, frozen=True):
    """All that a restore found in one transcript.

    `session` is the one that goes on; `sessions` and `versions` are all that the records name, the newest first, and
    `parent` is what the session was forked from or started by.

    `lists` begins with the session's own thread, the newest first; then those of its subagents. `plans` are newest
    first. `read_bytes` of `size` were read, from the end: lists of the session's own thread are certain however little
    that is; plans, compactions and subagents are told as far as was read.
    """

    path: str
    format: str
    session: str | None
    parent: str | None
    sessions: tuple[str, ...]
    versions: tuple[str, ...]
    lists: tuple[FoundList, ...]
    plans: tuple[FoundPlan, ...]
    compactions: int
    list_calls: int
    ignored: tuple[Ignored, ...]
    ignored_count: int
    problems: tuple[Problem, ...]
    problem_count: int
    size: int
    read_bytes: int

    @property
    def main(self) -> FoundList | None:
        """The newest list of the session's own thread."""
        return next((found for found in self.lists if found.agent == MAIN), None)

    @property
    def whole(self) -> bool:
        """Whether the file was read to its beginning."""
        return self.read_bytes >= self.size

    def data(self) -> dict[str, object]:
        """The report as plain data for JSON."""
        found: dict[str, object] = msgspec.to_builtins(self)
        found["whole"] = self.whole
        found["lists"] = [msgspec.to_builtins(each) | {"flags": list(each.flags)} for each in self.lists]
        return found

    def words(self) -> str:
        """The report for a person. Texts of the file are on one line each, with what is invisible escaped."""
        lines = [
            f"{_printable(self.path)}: {_client(self.format)}"
            + (f", session {_line(self.session)}" if self.session else "")
        ]
        for found in self.lists:
            lines += _list_words(found, self.compactions)
        if not self.lists and self.format:
            lines.append(_no_list(self))
        for plan in self.plans:
            lines += _plan_words(plan)
        lines += _note_words(self)
        return "\n".join(lines)


def _client(name: str) -> str:
    return name or "no transcript of a known client"


def _no_list(report: Report) -> str:
    if report.list_calls:
        return f"No list: none of {_many(report.list_calls, 'list tool call')} changed one."
    return "This session has no list tool calls."


def _list_words(found: FoundList, compactions: int) -> list[str]:
    whose = "" if found.agent == MAIN else f" of subagent {_line(found.agent)}"
    if found.state == "cleared":
        return [f"List{whose} ({found.source}): cleared, {_where(found.written)}."]
    done = sum(item.status == "completed" for item in found.items)
    before = compactions - found.compactions_after
    lines = [
        f"List{whose} ({found.source}): {done} of {len(found.items)} completed. Last written {_where(found.written)}; "
        f"{_many(before, 'compaction')} before it, {found.compactions_after} after it."
    ]
    if found.flags:
        lines.append(f"  Note: {', '.join(found.flags)}.")
    lines += [
        f"  [{_line(item.status)}] {f'{_line(item.id)}. ' if item.id else ''}{_line(item.content)}"
        for item in found.items
    ]
    return lines


def _plan_words(plan: FoundPlan) -> list[str]:
    said = {
        "proposed": "proposed, without a verdict; submit it anew to decide on it",
        "rejected": "rejected",
        "approved_elsewhere": "approved elsewhere; shown only",
        "superseded": "superseded by a newer proposal",
    }[plan.state]
    title = next((line for line in (plan.text or "").splitlines() if line.strip()), plan.file or "(no text)")
    return [f"Plan {_where(plan.place)}: {said}.", f"  {_line(title)}"]


def _note_words(report: Report) -> list[str]:
    lines = []
    if len(report.sessions) > 1:
        lines.append(f"The file names {len(report.sessions)} sessions; their newest records count.")
    if report.ignored_count:
        whys: dict[str, int] = {}
        for each in report.ignored:
            whys[f"{each.tool}: {each.why}"] = whys.get(f"{each.tool}: {each.why}", 0) + 1
        told = ", ".join(f"{_line(why)} ({count})" for why, count in whys.items())
        lines.append(f"Ignored {_many(report.ignored_count, 'call')}: {told}.")
    if report.problem_count:
        lines.append(f"{_many(report.problem_count, 'problem')} in the file:")
        lines += [f"  {_where(each.place)}: {each.reason}" + _detail(each.detail) for each in report.problems]
    if not report.whole:
        lines.append(f"Read {report.read_bytes} of {report.size} bytes from the end; older plans were not looked for.")
    return lines


def _detail(text: str) -> str:
    return f" ({_line(text)})" if text else ""


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _where(place: Place) -> str:
    spots = (("line", place.line), ("message", place.message), ("byte", place.byte))
    spot = next((f"at {name} {number}" for name, number in spots if number is not None), "in the file")
    return f"{spot} ({_line(place.time)})" if place.time else spot


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def _line(text: str | None) -> str:
    """A text as one printable line of at most `SHOWN` characters."""
    shown = _printable(" ".join((text or "").split()))
    return shown if len(shown) <= SHOWN else shown[: SHOWN - 1] + "…"
