"""Troubles with lists that people reported in public, replayed as small histories of our own.

Each case gives what a restore must say where a client lost, doubled or revived a list. What such a report asks of a
running host (what is injected when, claims, reminders, hooks) is not a reader's to show. All transcripts are synthetic.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.transcripts.left import OLDER, OPEN, left_by, pairs, whys
from tests.transcripts.written import ClaudeSession, CodexSession, lines
from tests.transcripts.written_others import ChatSession, OpenCodeSession

pytestmark = pytest.mark.requirement("RESTORE-01")

Claude = Callable[[ClaudeSession], None]


def claude(play: Claude) -> ClaudeSession:
    session = ClaudeSession()
    session.prompt()
    play(session)
    return session


def test_the_list_is_there_after_compaction_with_the_same_ids(tmp_path: Path) -> None:
    def play(session: ClaudeSession) -> None:
        session.task_create(1, "One")
        session.task_create(2, "Two")
        before = left_by(tmp_path, session.data()).main
        session.compact()
        after = left_by(tmp_path, session.data()).main
        assert before is not None
        assert after is not None
        assert [(item.id, item.content) for item in before.items] == [(item.id, item.content) for item in after.items]

    claude(play)


def test_a_resume_whose_numbers_begin_again_says_that_an_older_list_was_left(tmp_path: Path) -> None:
    def play(session: ClaudeSession) -> None:
        session.task_create(1, "Unfinished before the resume")
        session.prompt("resumed")
        session.task_create(1, "After the resume")

    report = left_by(tmp_path, claude(play).data())
    assert (pairs(report.main), whys(report)) == ([("After the resume", "pending")], ["older_store"])


def test_clearing_the_context_is_not_clearing_the_list(tmp_path: Path) -> None:
    def play(session: ClaudeSession) -> None:
        session.todo_write(OPEN)
        session.prompt("<command-name>/clear</command-name>")
        session.prompt("next")

    assert pairs(left_by(tmp_path, claude(play).data()).main) == OPEN


def test_completed_items_stay_for_the_audit(tmp_path: Path) -> None:
    def play(session: ClaudeSession) -> None:
        session.todo_write([("One", "completed"), ("Two", "completed")])

    report = left_by(tmp_path, claude(play).data())
    assert report.main is not None
    assert (report.main.state, len(report.main.items)) == ("list", 2)


def test_finished_work_that_was_never_recorded_stays_open(tmp_path: Path) -> None:
    def play(session: ClaudeSession) -> None:
        session.todo_write([("One", "in_progress")])
        session.say("Everything is done, all tasks are completed.")

    assert pairs(left_by(tmp_path, claude(play).data()).main) == [("One", "in_progress")]


def test_a_completion_that_a_summary_invents_changes_nothing(tmp_path: Path) -> None:
    def play(session: ClaudeSession) -> None:
        session.task_create(1, "One")
        session.compact()
        session.records[-1]["message"] = {"role": "user", "content": "Summary: task #1 was completed successfully."}

    assert pairs(left_by(tmp_path, claude(play).data()).main) == [("One", "pending")]


def test_a_subagent_never_overwrites_the_list_of_its_parent(tmp_path: Path) -> None:
    def play(session: ClaudeSession) -> None:
        session.todo_write(OPEN)
        tip, session.tip, session.agent = session.tip, None, "child"
        session.todo_write(OLDER)
        session.tip, session.agent = tip, None

    report = left_by(tmp_path, claude(play).data())
    assert [(found.agent, pairs(found)) for found in report.lists] == [("", OPEN), ("child", OLDER)]


def test_a_list_answer_that_is_empty_right_after_a_creation_is_believed_and_shown_as_an_answer(tmp_path: Path) -> None:
    def play(session: ClaudeSession) -> None:
        session.task_create(1, "One")
        session.compact()
        session.task_list([])

    report = left_by(tmp_path, claude(play).data())
    assert report.main is not None
    assert (report.main.state, report.main.from_answer) == ("cleared", True)


def test_a_plan_of_codex_outlives_compaction(tmp_path: Path) -> None:
    session = CodexSession()
    session.turn(OPEN)
    for _ in range(3):
        session.compact()
        session.end(session.begin())
    report = left_by(tmp_path, session.data())
    assert pairs(report.main) == OPEN
    assert report.main is not None
    assert report.main.compactions_after == 3


def test_a_completed_plan_stays_completed_in_a_replay(tmp_path: Path) -> None:
    done = [(step, "completed") for step, _ in OPEN]
    session = CodexSession()
    session.turn(OPEN)
    session.turn(done)
    session.begin()
    session.call("update_plan", {"plan": [{"step": step, "status": status} for step, status in OPEN]})
    assert pairs(left_by(tmp_path, session.data()).main) == done


def test_an_interrupted_turn_leaves_the_plan_as_the_last_accepted_call_wrote_it(tmp_path: Path) -> None:
    session = CodexSession()
    turn = session.begin()
    session.update_plan(OPEN)
    session.call("update_plan", {"plan": []})
    session.event("turn_aborted", turn_id=turn, reason="interrupted")
    assert pairs(left_by(tmp_path, session.data()).main) == OPEN


def test_a_resume_that_leaves_history_out_is_told_as_a_gap(tmp_path: Path) -> None:
    def play(session: ClaudeSession) -> None:
        session.todo_write(OPEN)
        session.say()
        session.prompt()

    session = claude(play)
    report = left_by(tmp_path, lines(session.records[:-2] + session.records[-1:]))
    assert (pairs(report.main), [each.reason for each in report.problems]) == (OPEN, ["missing_parent"])


def test_cancelled_items_stay_cancelled(tmp_path: Path) -> None:
    session = ChatSession()
    session.prompt()
    session.todo([("One", "cancelled"), ("Two", "pending")])
    report = left_by(tmp_path, lines([session.hermes()]))
    assert report.main is not None
    assert [(item.status, item.open) for item in report.main.items] == [("cancelled", False), ("pending", True)]
    assert report.main.flags == ()


def test_an_injected_list_is_no_write(tmp_path: Path) -> None:
    session = ChatSession()
    session.prompt()
    session.todo(OPEN)
    session.prompt("[Your active task list was preserved across context compression]\n- [>] 9. Stale (in_progress)")
    assert pairs(left_by(tmp_path, lines([session.hermes()])).main) == OPEN


def test_an_empty_list_wins_over_an_older_one(tmp_path: Path) -> None:
    session = ChatSession()
    session.prompt()
    session.todo(OPEN)
    session.todo([])
    report = left_by(tmp_path, lines([session.hermes()]))
    assert report.main is not None
    assert report.main.state == "cleared"


def test_todos_of_opencode_outlive_compaction_and_pruning(tmp_path: Path) -> None:
    session = OpenCodeSession()
    session.prompt()
    session.write_todos(OPEN)
    parts = session.messages[-1]["parts"]
    assert isinstance(parts, list)
    parts[0]["state"] |= {"output": "[Old tool result content cleared]"}
    parts[0]["state"]["time"]["compacted"] = 3
    session.compact()
    report = left_by(tmp_path, session.data())
    assert pairs(report.main) == OPEN


def test_an_unknown_status_breaks_nothing_and_counts_as_open(tmp_path: Path) -> None:
    session = OpenCodeSession()
    session.prompt()
    session.write_todos([("One", "failed"), ("Two", "completed")])
    report = left_by(tmp_path, session.data())
    assert report.main is not None
    assert ([item.open for item in report.main.items], report.main.flags) == ([True, False], ("unknown_status",))


def test_a_generic_list_that_replaced_a_detailed_one_is_what_the_client_has(tmp_path: Path) -> None:
    def play(session: ClaudeSession) -> None:
        session.todo_write([(f"Step {n}", "pending") for n in range(8)])
        session.todo_write([("Do it", "pending")])

    assert pairs(left_by(tmp_path, claude(play).data()).main) == [("Do it", "pending")]


def test_two_in_progress_are_two_in_progress(tmp_path: Path) -> None:
    session = CodexSession()
    session.turn([("One", "in_progress"), ("Two", "in_progress")])
    report = left_by(tmp_path, session.data())
    assert report.main is not None
    assert ([item.status for item in report.main.items], report.main.flags) == (
        ["in_progress", "in_progress"],
        ("several_in_progress",),
    )


def test_a_failed_write_is_never_the_state(tmp_path: Path) -> None:
    def play(session: ClaudeSession) -> None:
        session.todo_write(OPEN)
        session.result(session.call("TodoWrite", {"todos": []}), "InputValidationError", error=True)

    assert pairs(left_by(tmp_path, claude(play).data()).main) == OPEN


def test_missing_or_finished_blockers_stay_as_they_were_told(tmp_path: Path) -> None:
    def play(session: ClaudeSession) -> None:
        session.task_create(1, "One")
        session.task_update(1, addBlockedBy=["99"])

    report = left_by(tmp_path, claude(play).data())
    assert report.main is not None
    assert report.main.items[0].depends_on == ("99",)
