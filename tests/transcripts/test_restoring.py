"""The latest successful structured write on the active branch, in each client's form. All transcripts are synthetic."""

from __future__ import annotations

from pathlib import Path

from standfast import transcripts
from standfast.transcripts.report import FoundList
from tests.transcripts.written import ClaudeSession, CodexSession, PiSession, save

OPEN = [("Read the code", "completed"), ("Write the fix", "in_progress"), ("Run the tests", "pending")]
OLDER = [("Read the code", "in_progress"), ("Write the fix", "pending")]


def left_by(folder: Path, data: bytes) -> transcripts.Report:
    return transcripts.restore(save(folder, data))


def pairs(found: FoundList | None) -> list[tuple[str, str]]:
    assert found is not None
    return [(item.content, item.status) for item in found.items]


def test_the_newest_todo_write_of_claude_code_is_the_list(tmp_path: Path) -> None:
    session = ClaudeSession()
    session.prompt()
    session.todo_write(OLDER)
    session.todo_write(OPEN)
    session.say()
    report = left_by(tmp_path, session.data())
    assert (report.format, report.session) == ("claude", session.session)
    assert pairs(report.main) == OPEN
    assert report.main is not None
    assert report.main.written.line == 5


def test_a_list_of_tasks_is_folded_from_its_changes(tmp_path: Path) -> None:
    session = ClaudeSession()
    session.prompt()
    session.task_create(1, "One")
    session.task_create(2, "Two")
    session.task_create(3, "Three")
    session.task_update(1, status="completed")
    session.task_update(2, status="in_progress", addBlockedBy=["1"])
    session.task_update(3, status="deleted")
    report = left_by(tmp_path, session.data())
    assert pairs(report.main) == [("One", "completed"), ("Two", "in_progress")]
    assert report.main is not None
    assert [(item.id, item.depends_on) for item in report.main.items] == [("1", ()), ("2", ("1",))]


def test_a_list_answer_outranks_older_changes(tmp_path: Path) -> None:
    session = ClaudeSession()
    session.prompt()
    session.task_create(1, "Gone from the store")
    session.task_create(2, "Stays")
    session.task_list([{"id": "2", "subject": "Stays", "status": "in_progress", "blockedBy": []}])
    session.task_update(2, status="completed")
    report = left_by(tmp_path, session.data())
    assert pairs(report.main) == [("Stays", "completed")]
    assert report.main is not None
    assert report.main.from_answer


def test_the_newest_accepted_plan_of_codex_is_the_list(tmp_path: Path) -> None:
    session = CodexSession()
    session.turn(OLDER)
    session.turn(OPEN)
    session.compact()
    turn = session.begin()
    session.call("update_plan", {"plan": []})
    session.event("turn_aborted", turn_id=turn, reason="interrupted")
    report = left_by(tmp_path, session.data())
    assert pairs(report.main) == OPEN
    assert report.main is not None
    assert (report.compactions, report.main.compactions_after) == (1, 1)
    assert [each.why for each in report.ignored] == ["unanswered"]


def test_a_rolled_back_turn_takes_its_list_with_it(tmp_path: Path) -> None:
    session = CodexSession()
    session.turn(OLDER)
    session.turn(OPEN)
    session.event("thread_rolled_back", num_turns=1)
    report = left_by(tmp_path, session.data())
    assert pairs(report.main) == OLDER
    assert [each.why for each in report.ignored] == ["rolled_back"]


def test_the_active_branch_of_pi_decides(tmp_path: Path) -> None:
    session = PiSession()
    session.prompt()
    kept = session.todo([{"id": 1, "text": "Stays", "done": False}])
    session.todo([{"id": 1, "text": "Abandoned", "done": True}])
    session.tip = kept
    session.prompt("another way")
    report = left_by(tmp_path, session.data())
    assert pairs(report.main) == [("Stays", "pending")]
    assert [each.why for each in report.ignored] == ["abandoned"]
