"""Answers that hold a list, empty lists, and lists that only a foreign client writes. All transcripts are synthetic."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from standfast import transcripts
from tests.transcripts.left import OPEN, left_by, pairs, whys
from tests.transcripts.written import ClaudeSession, CodexSession, PiSession
from tests.transcripts.written_others import GeminiChat, QwenChat, opencode_storage


@pytest.mark.requirement("RESTORE-03")
class TestAnswers:
    def test_a_list_answer_outranks_older_changes(self, tmp_path: Path) -> None:
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

    def test_the_text_of_a_list_answer_is_read_where_there_is_nothing_else(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        call = session.call("TaskList", {})
        session.result(call, "#6 [completed] Six\n#10 [pending] Ten [blocked by #7]\n#7 [in_progress] Seven (worker)")
        report = left_by(tmp_path, session.data())
        assert report.main is not None
        assert [(item.id, item.status, item.depends_on) for item in report.main.items] == [
            ("6", "completed", ()),
            ("7", "in_progress", ()),
            ("10", "pending", ("7",)),
        ]

    def test_a_task_that_the_store_did_not_find_is_gone(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        session.task_create(1, "One")
        session.task_create(2, "Two")
        session.result(session.call("TaskUpdate", {"taskId": "2"}), "Task not found", error=True)
        session.result(session.call("TaskGet", {"taskId": "9"}), "Task not found", {"task": None})
        assert pairs(left_by(tmp_path, session.data()).main) == [("One", "pending")]

    def test_a_task_answer_counts_for_the_task_that_it_holds(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        session.task_create(1, "One")
        session.task_update(1, status="in_progress")
        task = {"id": "1", "subject": "One, as stored", "status": "completed", "blocks": [], "blockedBy": []}
        session.result(session.call("TaskGet", {"taskId": "1"}), "Task #1: One", {"task": task})
        assert pairs(left_by(tmp_path, session.data()).main) == [("One, as stored", "completed")]

    def test_a_task_that_the_client_hides_is_shown_when_an_update_shows_it(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        for number, name in ((1, "Hidden"), (2, "Seen")):
            hidden = {"subject": name, "description": "-", "metadata": {"_internal": True}}
            done = {"task": {"id": str(number), "subject": name}}
            session.result(session.call("TaskCreate", hidden), f"Task #{number} created successfully: {name}", done)
        session.task_update(2, metadata={"_internal": None})
        assert pairs(left_by(tmp_path, session.data()).main) == [("Seen", "pending")]

    def test_numbers_that_begin_again_belong_to_another_store(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        for number in (1, 2, 3):
            session.task_create(number, f"Old {number}")
        session.compact()
        session.task_create(1, "New 1")
        session.task_create(2, "New 2")
        report = left_by(tmp_path, session.data())
        assert pairs(report.main) == [("New 1", "pending"), ("New 2", "pending")]
        assert set(whys(report)) == {"older_store"}

    def test_a_change_of_a_task_whose_creation_is_cut_off_is_kept_and_flagged(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        session.task_update(7, status="in_progress")
        report = left_by(tmp_path, session.data())
        assert pairs(report.main) == [("", "in_progress")]
        assert report.main is not None
        assert report.main.flags == ("unknown_content",)

    def test_the_list_in_opencode_s_own_store_outranks_its_calls(self, tmp_path: Path) -> None:
        storage = opencode_storage(tmp_path, OPEN)
        (storage / "todo").mkdir()
        stored = [{"id": "1", "content": "As stored", "status": "pending", "priority": "low"}]
        (storage / "todo" / "ses_0001.json").write_text(json.dumps(stored))
        report = transcripts.restore(storage)
        assert (report.format, pairs(report.main)) == ("opencode", [("As stored", "pending")])


@pytest.mark.requirement("RESTORE-04")
class TestEmptyIsNotMissing:
    def test_a_list_that_was_written_empty_is_cleared(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        session.todo_write(OPEN)
        session.todo_write([])
        report = left_by(tmp_path, session.data())
        assert report.main is not None
        assert (report.main.state, report.main.items) == ("cleared", ())
        assert "cleared" in report.words()

    def test_an_empty_list_answer_clears(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        session.task_create(1, "One")
        session.task_list([])
        report = left_by(tmp_path, session.data())
        assert report.main is not None
        assert report.main.state == "cleared"

    @pytest.mark.parametrize("build", [ClaudeSession, CodexSession, PiSession, GeminiChat, QwenChat])
    def test_a_session_without_list_calls_is_told_as_such(self, tmp_path: Path, build: type[ClaudeSession]) -> None:
        session = build()
        session.begin() if isinstance(session, CodexSession) else session.prompt()
        report = left_by(tmp_path, session.data())
        assert report.lists == ()
        assert "This session has no list tool calls." in report.words()


@pytest.mark.requirement("RESTORE-08")
class TestForeignLists:
    def test_several_in_progress_and_unknown_statuses_are_kept_and_flagged(self, tmp_path: Path) -> None:
        session = CodexSession()
        session.turn([("One", "in_progress"), ("Two", "in_progress"), ("Three", "failed")])
        report = left_by(tmp_path, session.data())
        assert pairs(report.main) == [("One", "in_progress"), ("Two", "in_progress"), ("Three", "failed")]
        assert report.main is not None
        assert report.main.flags == ("several_in_progress", "unknown_status")
        assert [item.open for item in report.main.items] == [True, True, True]

    def test_items_with_equal_words_stay_two(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        session.todo_write([("Fix it", "completed"), ("Fix it", "pending")])
        assert pairs(left_by(tmp_path, session.data()).main) == [("Fix it", "completed"), ("Fix it", "pending")]

    def test_a_list_that_arrives_as_text_is_taken(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        rows = json.dumps([{"content": "One", "status": "pending", "activeForm": "One"}])
        session.result(session.call("TodoWrite", {"todos": rows}), "Todos have been modified successfully.")
        assert pairs(left_by(tmp_path, session.data()).main) == [("One", "pending")]

    def test_entries_that_are_no_items_are_counted(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        rows = [{"content": "One", "status": "pending"}, "two", None]
        session.result(session.call("TodoWrite", {"todos": rows}), "Todos have been modified successfully.")
        report = left_by(tmp_path, session.data())
        assert report.main is not None
        assert (report.main.malformed, report.main.flags) == (2, ("malformed_items",))
