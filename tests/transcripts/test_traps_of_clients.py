"""What is peculiar to one client's files. All transcripts are synthetic."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from standfast import transcripts
from standfast.transcripts import events
from tests.transcripts.left import OLDER, OPEN, left_by, pairs, whys
from tests.transcripts.written import ClaudeSession, CodexSession, Json, PiSession, lines, save


def reasons(report: transcripts.Report) -> set[str]:
    return {problem.reason for problem in report.problems}


def with_missing(session: ClaudeSession, change: Callable[[Json], bool]) -> bytes:
    """The session without the records that `change` picks."""
    return lines(each for each in session.records if not change(each))


class TestClaudeCode:
    @pytest.mark.requirement("RESTORE-01")
    def test_parallel_calls_of_one_message_all_count(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        calls = [(session.call("TaskCreate", {"subject": name}, group="msg_one"), session.tip) for name in "AB"]
        tips = []
        for number, (call, own) in enumerate(calls, 1):
            session.tip = own
            done = {"task": {"id": str(number), "subject": "AB"[number - 1]}}
            tips.append(session.result(call, f"Task #{number} created successfully: {'AB'[number - 1]}", done))
        for tip in tips:
            session.tip = tip
            end = session.say()
            assert pairs(left_by(tmp_path, session.data()).main) == [("A", "pending"), ("B", "pending")]
            session.records = [each for each in session.records if each["uuid"] != end]

    @pytest.mark.requirement("RESTORE-01")
    def test_a_progress_record_does_not_fork_the_conversation(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        prompt = session.prompt()
        session.todo_write(OPEN)
        tip = session.tip
        session.tip = prompt
        session.add("progress", data={"type": "hook_progress"})
        assert pairs(left_by(tmp_path, session.data()).main) == OPEN
        session.tip = tip
        session.say()
        assert pairs(left_by(tmp_path, session.data()).main) == OPEN

    @pytest.mark.requirement("RESTORE-01")
    def test_compactions_are_counted_and_take_nothing_away(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        session.compact("manual")
        session.todo_write(OPEN)
        session.compact()
        session.compact()
        report = left_by(tmp_path, session.data())
        assert pairs(report.main) == OPEN
        assert report.main is not None
        assert (report.compactions, report.main.compactions_after) == (3, 2)
        found = list(transcripts.open(tmp_path / "session.jsonl").events())
        triggers = [event.trigger for event in found if isinstance(event, events.Compaction)]
        assert triggers == ["manual", "auto", "auto"]

    @pytest.mark.requirement("RESTORE-01")
    def test_messages_that_a_compaction_kept_and_wrote_anew_lead_back_to_the_branch(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        start = session.prompt()
        session.todo_write(OPEN)
        session.tip = start
        session.prompt("another way")
        head = session.say("kept")
        session.say("kept and written anew")
        moved = session.records.pop()
        session.compact()
        boundary, summary = session.records[-2:]
        boundary["compactMetadata"] = {"trigger": "auto", "preservedMessages": {"uuids": [head, moved["uuid"]]}}
        session.records.append(moved | {"parentUuid": summary["uuid"]})
        session.tip = str(moved["uuid"])
        session.prompt()
        report = left_by(tmp_path, session.data())
        assert (report.lists, whys(report), report.problems) == ((), ["abandoned"], ())

    @pytest.mark.requirement("RESTORE-01")
    def test_an_old_compaction_without_a_boundary_is_a_seam_too(self, tmp_path: Path) -> None:
        session = ClaudeSession(version="1.0.50")
        session.prompt()
        session.todo_write(OPEN)
        session.tip = None
        session.prompt("This session is being continued from a previous conversation.", isCompactSummary=True)
        report = left_by(tmp_path, session.data())
        assert (pairs(report.main), report.compactions) == (OPEN, 1)

    @pytest.mark.requirement("RESTORE-06")
    def test_a_parent_that_is_not_there_is_told_and_order_decides(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        session.todo_write(OPEN)
        lost = session.say()
        session.prompt()
        report = left_by(tmp_path, with_missing(session, lambda each: each["uuid"] == lost))
        assert (pairs(report.main), reasons(report)) == (OPEN, {"missing_parent"})

    @pytest.mark.requirement("RESTORE-06")
    def test_a_boundary_whose_logical_parent_is_not_there_is_a_gap(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        session.todo_write(OPEN)
        lost = session.say()
        session.compact()
        session.prompt()
        report = left_by(tmp_path, with_missing(session, lambda each: each["uuid"] == lost))
        assert (pairs(report.main), reasons(report)) == (OPEN, {"missing_parent"})

    @pytest.mark.requirement("RESTORE-06")
    def test_a_trimmed_beginning_is_no_harm(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        session.say()
        session.todo_write(OPEN)
        report = left_by(tmp_path, lines(session.records[1:]))
        assert (pairs(report.main), reasons(report)) == (OPEN, {"missing_parent"})

    @pytest.mark.requirement("RESTORE-06")
    def test_several_sessions_and_versions_in_one_file_are_told(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        session.todo_write(OPEN)
        session.session, session.version = "c1a0de00-0000-4000-8000-000000000002", "2.1.332"
        session.prompt()
        report = left_by(tmp_path, session.data())
        assert report.sessions == (session.session, "c1a0de00-0000-4000-8000-000000000001")
        assert (report.session, report.versions) == (session.session, ("2.1.332", "2.1.300"))
        assert pairs(report.main) == OPEN
        assert "2 sessions" in report.words()

    @pytest.mark.requirement("RESTORE-01")
    def test_both_generations_of_list_tools_stand_side_by_side_the_newest_first(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        session.todo_write(OPEN)
        session.task_create(1, "One")
        assert [found.source for found in left_by(tmp_path, session.data()).lists] == ["tasks", "TodoWrite"]

    @pytest.mark.requirement("RESTORE-11")
    def test_a_subagent_s_list_stands_beside_its_parent_s(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        session.todo_write(OPEN)
        child = ClaudeSession()
        child.agent = "a1b2c3"
        child.prompt()
        child.todo_write(OLDER)
        older = ClaudeSession()
        older.agent = "d4e5f6"
        older.prompt()
        older.todo_write(OLDER)
        stranger = ClaudeSession("c1a0de00-0000-4000-8000-00000000000f")
        stranger.agent = "zzz"
        stranger.todo_write(OLDER)
        folder = tmp_path / "session" / "subagents"
        folder.mkdir(parents=True)
        save(folder, child.data(), "agent-a1b2c3.jsonl")
        save(tmp_path, older.data(), "agent-d4e5f6.jsonl")
        save(tmp_path, stranger.data(), "agent-zzz.jsonl")
        report = left_by(tmp_path, session.data())
        assert [found.agent for found in report.lists] == ["", "a1b2c3", "d4e5f6"]
        assert (pairs(report.main), pairs(report.lists[1])) == (OPEN, OLDER)
        alone = transcripts.restore(folder / "agent-a1b2c3.jsonl")
        assert (alone.main, pairs(alone.lists[0])) == (None, OLDER)

    @pytest.mark.requirement("RESTORE-11")
    def test_an_old_sidechain_in_the_same_file_overwrites_nothing(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        session.todo_write(OPEN)
        tip = session.tip
        session.tip, session.agent = None, ""
        session.todo_write(OLDER)
        for record in session.records:
            if record["isSidechain"]:
                del record["agentId"]
        session.tip, session.agent = tip, None
        session.say()
        report = left_by(tmp_path, session.data())
        assert [(found.agent, pairs(found)) for found in report.lists] == [("", OPEN), ("sidechain", OLDER)]

    @pytest.mark.requirement("RESTORE-06")
    def test_call_ids_that_begin_again_are_told_apart(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        for todos in (OLDER, OPEN):
            first = len(session.records)
            session.todo_write(todos)
            for record in session.records[first:]:
                message = record["message"]
                assert isinstance(message, dict)
                for block in message["content"]:
                    block |= {"id": "call_0"} if block["type"] == "tool_use" else {"tool_use_id": "call_0"}
        session.call("TodoWrite", {"todos": []})
        report = left_by(tmp_path, session.data())
        assert (pairs(report.main), whys(report)) == (OPEN, ["unanswered"])


class TestCodex:
    @pytest.mark.requirement("RESTORE-05")
    def test_an_old_rollout_without_wrappers_is_read(self, tmp_path: Path) -> None:
        session = CodexSession()
        session.turn(OPEN)
        bare = [{"id": "old", "timestamp": "2025-05-01T00:00:00Z", "instructions": None, "git": {}}]
        payloads = [each["payload"] for each in session.records if each["type"] == "response_item"]
        state = {"record_type": "state"}
        report = left_by(tmp_path, lines([*bare, state, *payloads, state, {"type": "ghost_snapshot"}]))
        assert (report.format, report.session, pairs(report.main)) == ("codex", "old", OPEN)
        assert report.problems == ()

    @pytest.mark.requirement("RESTORE-06")
    def test_a_fork_is_its_own_session_and_keeps_the_copied_list(self, tmp_path: Path) -> None:
        source = CodexSession("c0de0000-0000-7000-8000-00000000000a")
        source.turn(OPEN)
        fork = CodexSession("c0de0000-0000-7000-8000-00000000000b", forked_from_id=source.session)
        fork.records += source.records
        fork.begin()
        report = left_by(tmp_path, fork.data())
        assert (report.session, report.parent, pairs(report.main)) == (fork.session, source.session, OPEN)
        assert set(report.sessions) == {fork.session, source.session}
        heads = list(transcripts.open(tmp_path / "session.jsonl").events())
        copied = [event.copied for event in heads if isinstance(event, events.SessionHeader)]
        assert copied == [False, True]

    @pytest.mark.requirement("RESTORE-11")
    def test_a_subagent_s_rollout_names_its_parent(self, tmp_path: Path) -> None:
        source = {"subagent": {"thread_spawn": {"parent_thread_id": "parent-1", "depth": 1}}}
        session = CodexSession(source=source)
        session.turn(OPEN)
        assert left_by(tmp_path, session.data()).parent == "parent-1"

    @pytest.mark.requirement("RESTORE-06")
    def test_history_in_another_file_is_told(self, tmp_path: Path) -> None:
        session = CodexSession()
        session.add("rollout_reference", {"path": "elsewhere"})
        assert reasons(left_by(tmp_path, session.data())) == {"history_elsewhere"}

    @pytest.mark.requirement("RESTORE-02")
    def test_a_rollback_counts_prompts_and_not_what_the_client_put_in(self, tmp_path: Path) -> None:
        session = CodexSession()
        session.turn(OPEN)
        session.begin("<environment_context>\n  <cwd>/project</cwd>")
        session.begin("a real one")
        session.update_plan(OLDER)
        session.event("thread_rolled_back", num_turns=1)
        assert pairs(left_by(tmp_path, session.data()).main) == OPEN


class TestPi:
    @pytest.mark.requirement("RESTORE-05")
    def test_a_forked_session_names_its_parent(self, tmp_path: Path) -> None:
        for name in ("parentSession", "branchedFrom"):
            session = PiSession(**{name: "/sessions/parent.jsonl"})
            session.prompt()
            assert left_by(tmp_path, session.data()).parent == "/sessions/parent.jsonl"

    @pytest.mark.requirement("RESTORE-04")
    def test_a_cleared_list_is_empty_and_not_missing(self, tmp_path: Path) -> None:
        session = PiSession()
        session.prompt()
        session.todo([{"id": 1, "text": "One", "done": False}])
        session.todo([], action="clear")
        report = left_by(tmp_path, session.data())
        assert report.main is not None
        assert report.main.state == "cleared"

    @pytest.mark.requirement("RESTORE-06")
    def test_two_headers_and_entries_of_no_known_kind_are_no_harm(self, tmp_path: Path) -> None:
        session = PiSession()
        session.prompt()
        session.add("label", targetId="00000001", label="here")
        session.add("custom", customType="x", data={"todos": []})
        session.todo([{"id": 1, "text": "One", "done": False}])
        session.records.append(session.records[0] | {"id": "01a22d0f-0000-7000-8000-000000000002"})
        session.add("something_new", payload=json.dumps({"a": 1}))
        assert pairs(left_by(tmp_path, session.data()).main) == [("One", "pending")]
