"""The latest successful structured write on the active branch, for each agent and list.

Events come newest first with their standing (`branch`). The first call that counts decides a list that is written
whole; a list that is known from its changes is folded until something is certain. Reading stops when every list of the
session's own thread that was met is certain and `TAIL` bytes were read. Prose, failed, rejected and unanswered calls,
and what was taken back or abandoned, change nothing and are told with their reason.
"""

from __future__ import annotations

from os import PathLike
from typing import Final

import msgspec

from standfast.transcripts.branch import Standing, Step, active
from standfast.transcripts.events import (
    MAIN,
    Compaction,
    Event,
    ModeSeen,
    Place,
    PlanText,
    Problem,
    SessionHeader,
    StoredList,
    ToolCall,
    UserMessage,
)
from standfast.transcripts.lists import SUPERSEDED, TASKS, Nothing, Whole, Write, hides_a_list, items_of, write
from standfast.transcripts.plans import PLAN_TOOLS, Plans
from standfast.transcripts.reader import Transcript, open_transcript
from standfast.transcripts.report import NOTES_LIMIT, FoundList, Ignored, Report
from standfast.transcripts.subagents import transcripts_of
from standfast.transcripts.tasks import TaskFold

TAIL: Final = 2 * 1024 * 1024
"""Bytes from the end that are always read: plans, compactions and subagents in them are told."""

LISTS_LIMIT: Final = 1_000
"""Lists of one transcript that are kept."""


def restore(path: str | PathLike[str], *, session: str | None = None, whole: bool = False) -> Report:
    """What the transcript at `path` left behind; with `whole` also what is older than the newest list.

    `session` picks one where a file holds several; without it the one used last is read. Raises `OSError` where the
    file cannot be opened. Nothing that stands in the file raises.
    """
    transcript = open_transcript(path, session=session)
    report = _restored(transcript, whole=whole)
    children = [_restored(each, whole=whole).lists for each in transcripts_of(transcript)]
    if not any(children):
        return report
    return msgspec.structs.replace(report, lists=(*report.lists, *(found for lists in children for found in lists)))


def _restored(transcript: Transcript, *, whole: bool) -> Report:
    own = transcript.first_header()
    fold = _Fold(transcript.format, own)
    for step in active(transcript.seen_backwards(), fold.wants):
        fold.take(step)
        if not whole and transcript.reached >= TAIL and fold.certain:
            break
    return fold.report(transcript)


class _Found(msgspec.Struct):
    """A list as far as it is known."""

    agent: str
    source: str
    written: Place
    compactions_after: int
    whole: Whole | None = None
    tasks: TaskFold | None = None
    stored: bool = False

    @property
    def certain(self) -> bool:
        return self.whole is not None or (self.tasks is not None and self.tasks.certain)


class _Fold:
    """Takes events newest first."""

    def __init__(self, client: str, own: SessionHeader | None) -> None:
        self._client = client
        self._own = own
        self._agent = own.agent if own is not None else MAIN
        self._lists: dict[tuple[str, str], _Found] = {}
        self._plans = Plans()
        self._header: SessionHeader | None = None
        self._sessions: dict[str, None] = {}
        self._versions: dict[str, None] = {}
        self._compactions = 0
        self._list_calls = 0
        self._ignored: list[Ignored] = []
        self._ignored_count = 0
        self._problems: list[Problem] = []
        self._problem_count = 0

    @property
    def certain(self) -> bool:
        """Whether nothing older can change the lists of the file's own thread, of which there is one."""
        own = [found for found in self._lists.values() if found.agent == self._agent]
        return bool(own) and all(found.certain for found in own)

    def wants(self, event: Event) -> bool:
        """Whether an event is worth holding while its standing is open."""
        match event:
            case ToolCall():
                return event.tool in PLAN_TOOLS or write(self._client, event) is not None
            case Compaction() | PlanText() | Problem():
                return True
            case _:
                return False

    def take(self, step: Step) -> None:
        """Takes the next older event."""
        event = step.event
        match event:
            case Problem():
                self._problem(event)
            case SessionHeader():
                self._told(event)
            case Compaction() if step.standing == "active":
                self._compactions += event.agent == self._agent
            case ToolCall():
                self._call(event, step.standing)
            case StoredList():
                self._stored(event)
            case PlanText() | ModeSeen() | UserMessage():
                self._plans.take(event, step.standing)
            case _:
                pass

    def _told(self, event: SessionHeader) -> None:
        if self._header is None and event.agent == self._agent:
            self._header = event
        for known, name in ((self._sessions, event.session), (self._versions, event.version)):
            if name is not None and len(known) < NOTES_LIMIT:
                known.setdefault(name)

    def _problem(self, event: Problem) -> None:
        self._problem_count += 1
        if len(self._problems) < NOTES_LIMIT:
            self._problems.append(event)

    def _call(self, call: ToolCall, standing: Standing) -> None:
        if call.tool in PLAN_TOOLS:
            why = self._plans.take(call, standing)
        elif (found := write(self._client, call)) is not None:
            self._list_calls += 1
            why = self._write(call, found) if standing == "active" else standing
        elif hides_a_list(self._client, call):
            self._list_calls += 1
            why = "inside_code"
        else:
            return
        if why is not None and why != SUPERSEDED:
            self._ignored_count += 1
            if len(self._ignored) < NOTES_LIMIT:
                self._ignored.append(Ignored(call.tool, why, call.place, call.agent))

    def _write(self, call: ToolCall, found: Write) -> str | None:
        """Folds one call in; the word for why it counts for nothing, or None."""
        if isinstance(found.meaning, Nothing):
            return found.meaning.why
        key = (call.agent, found.source)
        known = self._lists.get(key)
        if found.source == TASKS:
            fold = known.tasks if known is not None and known.tasks is not None else TaskFold()
            why = fold.take(call)
            if why is None and known is None:
                self._keep(key, call.answered or call.place).tasks = fold
            return why
        if known is not None:
            return SUPERSEDED
        if isinstance(found.meaning, Whole):
            self._keep(key, call.answered or call.place).whole = found.meaning
        return None

    def _stored(self, event: StoredList) -> None:
        """A list as the client's own store holds it, which nothing that is told of calls can outrank."""
        found = items_of(event.items)
        if isinstance(found, Whole):
            kept = self._keep((event.agent, event.tool), event.place)
            kept.whole, kept.stored = found, True

    def _keep(self, key: tuple[str, str], written: Place) -> _Found:
        found = _Found(*key, written, self._compactions)
        if len(self._lists) < LISTS_LIMIT:
            self._lists[key] = found
        return found

    def report(self, transcript: Transcript) -> Report:
        """What was found."""
        size, reached, mine = transcript.size, transcript.reached, self._agent
        session = self._own if self._client == "codex" else self._header or self._own
        lists = [self._found(each, whole=reached >= size) for each in self._lists.values()]
        return Report(
            str(transcript.path),
            self._client,
            session.session if session is not None else None,
            session.parent if session is not None else None,
            tuple(self._sessions),
            tuple(self._versions),
            tuple(sorted(lists, key=lambda each: each.agent != mine)),
            self._plans.found(),
            self._compactions,
            self._list_calls,
            tuple(self._ignored),
            self._ignored_count,
            tuple(self._problems),
            self._problem_count,
            size,
            reached,
        )

    def _found(self, each: _Found, *, whole: bool) -> FoundList:
        items = each.whole.items if each.whole is not None else each.tasks.items() if each.tasks is not None else ()
        return FoundList(
            each.agent,
            each.source,
            "list" if items else "cleared",
            items,
            each.written,
            each.compactions_after,
            each.whole.explanation if each.whole is not None else None,
            each.stored or (each.tasks is not None and each.tasks.answered),
            each.certain or whole,
            each.whole.malformed if each.whole is not None else 0,
        )
