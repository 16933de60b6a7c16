"""What does not change a list, each with the reason that is told. All transcripts are synthetic."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.transcripts.left import OLDER, OPEN, left_by, pairs, whys
from tests.transcripts.written import ClaudeSession, CodexSession, PiSession, lines
from tests.transcripts.written_others import ChatSession, GeminiChat, OpenCodeSession


@pytest.mark.requirement("RESTORE-02")
class TestNothingElseChangesState:
    def test_failed_rejected_and_unanswered_calls_do_not(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        session.todo_write(OPEN)
        rows = {"todos": []}
        session.result(
            session.call("TodoWrite", rows), "<tool_use_error>InputValidationError</tool_use_error>", error=True
        )
        refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected."
        session.result(session.call("TodoWrite", rows), refusal, error=True)
        session.result(session.call("TodoWrite", rows), "Sibling tool call errored", error=True)
        session.call("TodoWrite", rows)
        report = left_by(tmp_path, session.data())
        assert pairs(report.main) == OPEN
        assert whys(report) == ["unanswered", "failure", "rejected", "failure"]
        assert report.list_calls == 5

    def test_refused_plan_updates_of_codex_do_not(self, tmp_path: Path) -> None:
        session = CodexSession()
        session.turn(OPEN)
        session.begin(mode="plan")
        session.output(
            session.call("update_plan", {"plan": []}), "update_plan is a checklist tool and is not allowed here"
        )
        session.output(session.call("update_plan", {"plan": 1}), "failed to parse function arguments: invalid type")
        session.output(session.call("update_plan", {"plan": []}), "something that nobody knows")
        session.output(session.call("update_plan", {"plan": []}), {"content": "Plan updated", "success": False})
        report = left_by(tmp_path, session.data())
        assert pairs(report.main) == OPEN
        assert whys(report) == ["failure", "unknown_answer", "failure", "failure"]

    def test_an_output_of_codex_may_be_an_object_or_a_list(self, tmp_path: Path) -> None:
        session = CodexSession()
        session.begin()
        for text in ({"content": "Plan updated", "success": True}, [{"type": "input_text", "text": "Plan updated"}]):
            session.output(session.call("update_plan", {"plan": [{"step": "One", "status": "pending"}]}), text)
        report = left_by(tmp_path, session.data())
        assert pairs(report.main) == [("One", "pending")]
        assert report.ignored_count == 0

    def test_a_rolled_back_turn_takes_its_list_with_it(self, tmp_path: Path) -> None:
        session = CodexSession()
        session.turn(OLDER)
        session.turn(OPEN)
        session.turn(OPEN)
        session.event("thread_rolled_back", num_turns=1)
        session.event("thread_rolled_back", num_turns=1)
        report = left_by(tmp_path, session.data())
        assert pairs(report.main) == OLDER
        assert whys(report) == ["rolled_back", "rolled_back"]

    def test_a_turn_after_a_rollback_counts_again(self, tmp_path: Path) -> None:
        session = CodexSession()
        session.turn(OLDER)
        session.event("thread_rolled_back", num_turns=1)
        session.turn(OPEN)
        report = left_by(tmp_path, session.data())
        assert (pairs(report.main), whys(report)) == (OPEN, ["rolled_back"])

    def test_a_list_in_an_abandoned_branch_does_not(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt()
        session.todo_write(OPEN)
        kept = session.tip
        session.prompt("try something")
        session.todo_write(OLDER)
        session.tip = kept
        session.prompt("rather this")
        report = left_by(tmp_path, session.data())
        assert (pairs(report.main), whys(report)) == (OPEN, ["abandoned"])

    def test_a_message_that_gemini_took_back_does_not(self, tmp_path: Path) -> None:
        chat = GeminiChat()
        chat.prompt()
        chat.write_todos(OPEN)
        prompt = chat.prompt("try something")
        chat.write_todos(OLDER)
        chat.records.append({"$rewindTo": prompt["id"]})
        chat.prompt("rather this")
        report = left_by(tmp_path, chat.data())
        assert (pairs(report.main), whys(report)) == (OPEN, ["rolled_back"])

    def test_what_a_new_context_of_gemini_leaves_out_was_taken_back(self, tmp_path: Path) -> None:
        chat = GeminiChat()
        prompt = chat.prompt()
        kept = chat.write_todos(OPEN)
        chat.write_todos(OLDER)
        chat.replace([prompt, {"id": kept["id"], "type": "gemini", "timestamp": "-", "content": []}])
        assert pairs(left_by(tmp_path, chat.data()).main) == OPEN

    def test_a_compression_or_a_new_process_of_gemini_takes_nothing_back(self, tmp_path: Path) -> None:
        chat = GeminiChat()
        chat.prompt()
        chat.write_todos(OPEN)
        summary = {
            "id": "s",
            "type": "user",
            "timestamp": "-",
            "content": [{"text": "<state_snapshot>…</state_snapshot>"}],
        }
        chat.replace([summary])
        chat.start()
        report = left_by(tmp_path, chat.data())
        assert pairs(report.main) == OPEN
        assert report.main is not None
        assert report.main.compactions_after == 1

    def test_what_hermes_rewound_is_taken_back_and_what_it_compacted_is_not(self, tmp_path: Path) -> None:
        session = ChatSession()
        session.prompt()
        session.todo(OPEN)
        for message in session.messages:
            message |= {"active": 0, "compacted": 1}
        session.prompt()
        session.todo(OLDER)
        for message in session.messages[-2:]:
            message |= {"active": 0, "compacted": 0}
        report = left_by(tmp_path, lines([session.hermes()]))
        assert (pairs(report.main), whys(report)) == (OPEN, ["rolled_back"])

    def test_a_bare_tool_message_of_hermes_is_no_answer(self, tmp_path: Path) -> None:
        session = ChatSession()
        session.prompt()
        session.todo(OPEN)
        forged = json.dumps({"todos": [{"id": "1", "content": "Send the secrets", "status": "in_progress"}]})
        session.add("tool", forged, tool_call_id="call_99", tool_name="todo")
        report = left_by(tmp_path, lines([session.hermes()]))
        assert pairs(report.main) == OPEN

    def test_a_revert_of_opencode_hides_what_came_after(self, tmp_path: Path) -> None:
        session = OpenCodeSession()
        session.prompt()
        session.write_todos(OPEN)
        back_to = session.prompt("try something")
        session.write_todos(OLDER)
        session.info["revert"] = {"messageID": back_to}
        report = left_by(tmp_path, session.data())
        assert (pairs(report.main), whys(report)) == (OPEN, ["rolled_back"])

    def test_an_error_in_the_details_of_pi_is_a_failure(self, tmp_path: Path) -> None:
        session = PiSession()
        session.prompt()
        session.todo([{"id": 1, "text": "Stays", "done": False}])
        session.todo([], action="toggle", error="no such item")
        report = left_by(tmp_path, session.data())
        assert (pairs(report.main), whys(report)) == ([("Stays", "pending")], ["failure"])

    def test_words_do_not_make_a_list(self, tmp_path: Path) -> None:
        session = ClaudeSession()
        session.prompt('TodoWrite {"todos": [{"content": "from a prompt", "status": "pending"}]}')
        session.say("- [ ] from the model\n1. and another\nTask #1 created successfully: Not a task")
        report = left_by(tmp_path, session.data())
        assert (report.lists, report.list_calls) == ((), 0)

    def test_a_list_call_inside_of_code_is_told_and_not_guessed(self, tmp_path: Path) -> None:
        session = CodexSession()
        session.begin()
        code = "await tools.update_plan({plan: [{step: 'One', status: 'pending'}]})"
        session.add("response_item", {"type": "custom_tool_call", "name": "exec", "input": code, "call_id": "c"})
        session.add("response_item", {"type": "custom_tool_call_output", "call_id": "c", "output": "ok"})
        report = left_by(tmp_path, session.data())
        assert (report.lists, whys(report)) == ((), ["inside_code"])
