"""What holds for every history: generated sessions against a plain model of what each of their steps does.

A step is a write, a call that must not count, a compaction, or a return to an earlier prompt. The model keeps, for each
prompt, the list as it was then. All transcripts are synthetic.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast import transcripts
from standfast.transcripts import events
from tests.transcripts.written import ClaudeSession, CodexSession, PiSession, Todos, save

TITLES = st.sampled_from(["Read the code", "Write the fix", "Fix it", "Fix it", "Prüfen", "テスト", "a: b, [c]"])
STATUSES = st.sampled_from(["pending", "in_progress", "completed"])
LISTS = st.lists(st.tuples(TITLES, STATUSES), max_size=5)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), LISTS),
        st.tuples(st.sampled_from(["fail", "leave"]), LISTS),
        st.tuples(st.sampled_from(["prompt", "say", "compact"]), st.just([])),
        st.tuples(st.just("back"), st.integers(0, 5).map(lambda n: [("", "")] * n)),
    ),
    max_size=14,
)


class History(Protocol):
    """A client's session, told by steps."""

    expected: Todos | None

    def play(self, step: str, todos: Todos) -> None:
        """One step."""

    def data(self) -> bytes:
        """The file."""


class ClaudeHistory:
    """Claude Code, where a return goes on after an earlier record."""

    def __init__(self) -> None:
        self._session = ClaudeSession()
        self.expected: Todos | None = None
        self._before: list[tuple[str | None, Todos | None]] = []
        self.play("prompt", [])

    def data(self) -> bytes:
        return self._session.data()

    def play(self, step: str, todos: Todos) -> None:
        session = self._session
        rows = {"todos": [{"content": content, "status": status} for content, status in todos]}
        match step:
            case "write":
                session.todo_write(todos)
                self.expected = todos
            case "fail":
                session.result(session.call("TodoWrite", rows), "InputValidationError", error=True)
            case "leave":
                session.call("TodoWrite", rows)
            case "prompt":
                self._before.append((session.tip, self.expected))
                session.prompt()
            case "say":
                session.say("- [ ] words only")
            case "compact":
                session.compact()
            case _:
                tip, expected = self._before[-1 - min(len(todos), len(self._before) - 1)]
                if tip is not None:
                    session.tip, self.expected = tip, expected
                    session.prompt("once more")


class PiHistory:
    """Pi, where a return goes on after an earlier entry."""

    def __init__(self) -> None:
        self._session = PiSession()
        self.expected: Todos | None = None
        self._before: list[tuple[str | None, Todos | None]] = []
        self.play("prompt", [])

    def data(self) -> bytes:
        return self._session.data()

    def play(self, step: str, todos: Todos) -> None:
        session = self._session
        done = [(content, "completed" if status == "completed" else "pending") for content, status in todos]
        rows: list[dict[str, object]] = [
            {"id": 1, "text": text, "done": status == "completed"} for text, status in done
        ]
        match step:
            case "write":
                session.todo(rows)
                self.expected = done
            case "fail":
                session.todo(rows, error="no such item")
            case "leave" | "say":
                session.add("message", message={"role": "assistant", "content": [{"type": "text", "text": "- [ ] x"}]})
            case "prompt":
                self._before.append((session.tip, self.expected))
                session.prompt()
            case "compact":
                session.compact()
            case _:
                tip, expected = self._before[-1 - min(len(todos), len(self._before) - 1)]
                if tip is not None:
                    session.tip, self.expected = tip, expected
                    session.prompt("once more")


class CodexHistory:
    """Codex, where a return is a rollback of the newest turns."""

    def __init__(self) -> None:
        self._session = CodexSession()
        self.expected: Todos | None = None
        self._before: list[Todos | None] = []
        self._turn = ""
        self.play("prompt", [])

    def data(self) -> bytes:
        return self._session.data()

    def play(self, step: str, todos: Todos) -> None:
        session = self._session
        plan = {"plan": [{"step": content, "status": status} for content, status in todos]}
        match step:
            case "write":
                session.update_plan(todos)
                self.expected = todos
            case "fail":
                session.output(session.call("update_plan", plan), "failed to parse function arguments: no")
            case "leave":
                session.call("update_plan", plan)
            case "prompt" | "say":
                session.end(self._turn)
                self._before.append(self.expected)
                self._turn = session.begin("- [ ] words only")
            case "compact":
                session.compact()
            case _:
                turns = min(len(todos), len(self._before) - 1)
                session.end(self._turn)
                session.event("thread_rolled_back", num_turns=turns)
                if turns:
                    self.expected = self._before[-turns]
                    del self._before[-turns:]
                self._before.append(self.expected)
                self._turn = session.begin()


HISTORIES = [ClaudeHistory, CodexHistory, PiHistory]


def played(build: type[History], steps: list[tuple[str, Todos]]) -> History:
    history = build()
    for step, todos in steps:
        history.play(step, todos)
    return history


def restored(data: bytes, *, whole: bool = False) -> transcripts.Report:
    with tempfile.TemporaryDirectory() as folder:
        return transcripts.restore(save(Path(folder), data), whole=whole)


def listed(report: transcripts.Report) -> Todos | None:
    return None if report.main is None else [(item.content, item.status) for item in report.main.items]


@pytest.mark.parametrize("build", HISTORIES)
@given(steps=STEPS)
@pytest.mark.requirement("RESTORE-01", "RESTORE-02", "RESTORE-04")
def test_the_list_is_what_the_active_branch_last_wrote(build: type[History], steps: list[tuple[str, Todos]]) -> None:
    history = played(build, steps)
    report = restored(history.data())
    assert listed(report) == history.expected
    assert report.problems == ()
    if history.expected == []:
        assert report.main is not None
        assert report.main.state == "cleared"


@pytest.mark.parametrize("build", HISTORIES)
@given(steps=STEPS)
@pytest.mark.requirement("RESTORE-09")
def test_the_same_file_twice_changes_no_list_and_no_plan(build: type[History], steps: list[tuple[str, Todos]]) -> None:
    data = played(build, steps).data()
    once, twice = restored(data), restored(data + data)
    assert (twice.lists, twice.plans, twice.compactions) == (once.lists, once.plans, once.compactions)


@pytest.mark.parametrize("build", HISTORIES)
@given(steps=STEPS, cut=st.floats(0, 1))
@pytest.mark.requirement("RESTORE-09")
def test_a_longer_file_only_adds_events(build: type[History], steps: list[tuple[str, Todos]], cut: float) -> None:
    data = played(build, steps).data()
    with tempfile.TemporaryDirectory() as folder:
        longer = list(transcripts.open(save(Path(folder), data)).events())
        size = int(len(data) * cut)
        shorter = list(transcripts.open(save(Path(folder), data[:size])).events())
    certain = [event for event in shorter if not isinstance(event, events.Problem)]
    settled = [event for event in certain if not (isinstance(event, events.ToolCall) and event.outcome == "unanswered")]
    theirs = [event for event in longer if event in settled]
    assert theirs == settled


@pytest.mark.parametrize("build", HISTORIES)
@given(steps=STEPS)
@pytest.mark.requirement("RESTORE-09")
def test_each_prefix_gives_the_list_of_its_time(build: type[History], steps: list[tuple[str, Todos]]) -> None:
    history = build()
    for step, todos in steps:
        history.play(step, todos)
        assert listed(restored(history.data())) == history.expected


@pytest.mark.parametrize("build", HISTORIES)
@given(steps=STEPS)
@pytest.mark.requirement("RESTORE-10")
def test_both_directions_tell_the_same_events(build: type[History], steps: list[tuple[str, Todos]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        opened = transcripts.open(save(Path(folder), played(build, steps).data()))
        there = [event for event in opened.events() if isinstance(event, events.ToolCall | events.Compaction)]
        back = [event for event in opened.backwards() if isinstance(event, events.ToolCall | events.Compaction)]
    assert sorted(map(repr, there)) == sorted(map(repr, back))


@given(verdicts=st.lists(st.sampled_from(["accepted", "refused", "failed", "open"]), max_size=5))
@pytest.mark.requirement("RESTORE-07")
def test_a_proposal_is_never_more_than_what_was_decided(verdicts: list[str]) -> None:
    session = ClaudeSession()
    session.prompt()
    for verdict in verdicts:
        call = session.call("ExitPlanMode", {"plan": verdict})
        if verdict == "accepted":
            session.result(call, "User has approved your plan.")
        elif verdict != "open":
            refused = "The user doesn't want to proceed with this tool use."
            session.result(call, refused if verdict == "refused" else "not in plan mode", error=True)
    report = restored(session.data())
    states = {"accepted": "approved_elsewhere", "refused": "rejected", "open": "proposed"}
    expected = [(text, states[text]) for text in reversed(verdicts) if text != "failed"]
    expected = expected[:1] + [(text, "superseded" if state == "proposed" else state) for text, state in expected[1:]]
    assert [(plan.text, plan.state) for plan in report.plans] == expected
    assert report.lists == ()


@pytest.mark.parametrize("build", HISTORIES)
@given(steps=STEPS)
@pytest.mark.requirement("RESTORE-10")
def test_words_and_data_depend_on_the_file_only(build: type[History], steps: list[tuple[str, Todos]]) -> None:
    data = played(build, steps).data()
    first, second = restored(data), restored(data, whole=True)
    assert first.words().partition("\n")[2] == second.words().partition("\n")[2]
    assert first.data() | {"path": ""} == second.data() | {"path": ""}
