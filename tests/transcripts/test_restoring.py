"""The latest successful structured write on the active branch, in each client's form. All transcripts are synthetic."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from standfast import transcripts
from tests.transcripts.left import OLDER, OPEN, left_by, pairs, whys
from tests.transcripts.written import ClaudeSession, CodexSession, PiSession, lines
from tests.transcripts.written_others import (
    ChatSession,
    GeminiChat,
    KiroSession,
    OpenCodeSession,
    QwenChat,
    opencode_storage,
)


@pytest.mark.requirement("RESTORE-01")
class TestEachClient:
    def test_the_newest_todo_write_of_claude_code_is_the_list(self, tmp_path: Path) -> None:
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
        assert report.main.written.time == "2026-01-01T00:00:04.000Z"

    def test_a_list_of_tasks_is_folded_from_its_changes(self, tmp_path: Path) -> None:
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
        assert report.main.flags == ()

    def test_the_newest_accepted_plan_of_codex_is_the_list(self, tmp_path: Path) -> None:
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
        assert whys(report) == ["unanswered"]

    def test_a_plan_of_codex_keeps_its_explanation(self, tmp_path: Path) -> None:
        session = CodexSession()
        session.begin()
        session.update_plan(OPEN, "Smaller steps.")
        report = left_by(tmp_path, session.data())
        assert report.main is not None
        assert report.main.explanation == "Smaller steps."

    def test_the_active_branch_of_pi_decides(self, tmp_path: Path) -> None:
        session = PiSession()
        session.prompt()
        kept = session.todo([{"id": 1, "text": "Stays", "done": False}])
        session.todo([{"id": 1, "text": "Abandoned", "done": True}])
        session.tip = kept
        session.prompt("another way")
        report = left_by(tmp_path, session.data())
        assert pairs(report.main) == [("Stays", "pending")]
        assert whys(report) == ["abandoned"]

    def test_a_session_of_pi_without_a_tree_is_read_in_order(self, tmp_path: Path) -> None:
        session = PiSession(version=None)
        session.prompt()
        session.todo([{"id": 1, "text": "Old", "done": False}])
        session.compact()
        session.todo([{"id": 1, "text": "Old", "done": True}, {"id": 2, "text": "New", "done": False}])
        report = left_by(tmp_path, session.data())
        assert pairs(report.main) == [("Old", "completed"), ("New", "pending")]
        assert report.versions == ("1",)

    def test_the_message_of_gemini_that_is_written_again_counts(self, tmp_path: Path) -> None:
        chat = GeminiChat()
        chat.prompt()
        chat.write_todos(OLDER)
        chat.write_todos(OPEN)
        chat.message("gemini", "done")
        report = left_by(tmp_path, chat.data())
        assert (report.format, pairs(report.main)) == ("gemini", OPEN)

    def test_a_chat_of_gemini_that_is_one_document_is_read_under_any_name(self, tmp_path: Path) -> None:
        chat = GeminiChat()
        chat.prompt()
        chat.write_todos(OPEN)
        report = left_by(tmp_path, chat.document(), "chat.jsonl")
        assert (report.format, pairs(report.main), report.session) == ("gemini", OPEN, chat.session)
        assert report.main is not None
        assert report.main.written.message == 2

    def test_a_checkpoint_of_gemini_is_read(self, tmp_path: Path) -> None:
        rows = [{"description": text, "status": status} for text, status in OPEN]
        call = {"functionCall": {"name": "write_todos", "args": {"todos": rows}}}
        answer = {"functionResponse": {"name": "write_todos", "response": {"output": "Successfully updated."}}}
        contents = [
            {"role": "user", "parts": [{"text": "go on"}]},
            {"role": "model", "parts": [call]},
            {"role": "user", "parts": [answer]},
        ]
        for number, form in enumerate((contents, {"history": contents})):
            data = json.dumps(form, indent=2).encode()
            report = left_by(tmp_path, data, f"checkpoint-{number}.json")
            assert (report.format, pairs(report.main)) == ("gemini", OPEN)

    def test_the_list_of_qwen_survives_its_compression(self, tmp_path: Path) -> None:
        chat = QwenChat()
        chat.prompt()
        chat.write_todos(OPEN)
        chat.compress()
        chat.prompt()
        report = left_by(tmp_path, chat.data())
        assert (report.format, pairs(report.main)) == ("qwen", OPEN)
        assert report.main is not None
        assert report.main.compactions_after == 1

    def test_the_completed_write_of_opencode_is_the_list(self, tmp_path: Path) -> None:
        session = OpenCodeSession()
        session.prompt()
        session.write_todos(OPEN)
        session.compact()
        session.write_todos(OLDER, status="running")
        session.write_todos(OLDER, status="error", error="Tool execution aborted")
        report = left_by(tmp_path, session.data())
        assert (report.format, pairs(report.main)) == ("opencode", OPEN)
        assert whys(report) == ["failure", "unanswered"]
        assert report.main is not None
        assert report.main.compactions_after == 1

    def test_the_answer_of_hermes_is_the_list(self, tmp_path: Path) -> None:
        session = ChatSession()
        session.prompt()
        session.todo(OLDER)
        session.todo(OPEN, "todo_list", as_text=True)
        report = left_by(tmp_path, lines([session.hermes()]))
        assert (report.format, report.session) == ("hermes", session.session)
        assert pairs(report.main) == OPEN

    def test_a_session_of_vibe_is_read_as_lines_as_a_folder_and_as_a_document(self, tmp_path: Path) -> None:
        session = ChatSession()
        session.prompt()
        rows = [{"id": str(n), "content": text, "status": status} for n, (text, status) in enumerate(OPEN)]
        session.call("todo", {"action": "write", "todos": rows}, "message: Updated 3 todos\ntodos: [TodoItem(id='0')]")
        session.call("todo", {"action": "read"}, "message: Retrieved 3 todos")
        assert pairs(left_by(tmp_path, lines(session.messages), "messages.jsonl").main) == OPEN
        (tmp_path / "meta.json").write_text(json.dumps({"session_id": "v0"}))
        folder = transcripts.restore(tmp_path)
        assert (folder.session, pairs(folder.main)) == ("v0", OPEN)
        document = {"metadata": {"session_id": "v1"}, "messages": session.messages}
        report = left_by(tmp_path, json.dumps(document, indent=2).encode(), "session.json")
        assert (report.format, report.session, pairs(report.main)) == ("vibe", "v1", OPEN)

    def test_the_state_in_an_answer_of_kiro_is_the_list(self, tmp_path: Path) -> None:
        session = KiroSession()
        session.add("Prompt", {"kind": "text", "data": "go on"})
        session.todo({"command": "create", "tasks": ["One", "Two"]}, None)
        created = left_by(tmp_path, session.data())
        assert (created.format, pairs(created.main)) == ("kiro", [("One", "pending"), ("Two", "pending")])
        tasks = [{"task_description": "One", "completed": True}, {"task_description": "Two", "completed": False}]
        session.todo({"command": "complete", "completed_indices": [0], "context_update": "-", "current_id": "1"}, tasks)
        assert pairs(left_by(tmp_path, session.data()).main) == [("One", "completed"), ("Two", "pending")]

    def test_a_saved_conversation_of_kiro_is_read(self, tmp_path: Path) -> None:
        tasks = [{"task_description": "One", "completed": True}]
        answer = "TO" + f"DO LIST STATE: {json.dumps({'tasks': tasks})}\n\n ID: 1"
        used = {"message_id": "m", "content": "", "tool_uses": [{"id": "t", "name": "todo_list", "args": {}}]}
        results = {"tool_use_results": [{"tool_use_id": "t", "content": [{"Text": answer}], "status": "Success"}]}
        history = [
            {"user": {"content": {"Prompt": {"prompt": "go on"}}}, "assistant": {"ToolUse": used}},
            {"user": {"content": {"ToolUseResults": results}}, "assistant": {"Response": {"content": "done"}}},
        ]
        for number, pairs_of in enumerate((history, [[each["user"], each["assistant"]] for each in history])):
            data = json.dumps({"conversation_id": "k1", "history": pairs_of}).encode()
            report = left_by(tmp_path, data, f"kiro-{number}")
            assert (report.format, report.session, pairs(report.main)) == ("kiro", "k1", [("One", "completed")])


@pytest.mark.requirement("RESTORE-01")
def test_opencode_s_storage_is_read_from_its_small_files(tmp_path: Path) -> None:
    storage = opencode_storage(tmp_path, OPEN)
    assert pairs(transcripts.restore(storage).main) == OPEN
    assert pairs(transcripts.restore(storage / "session" / "project" / "ses_0001.json").main) == OPEN
    assert transcripts.restore(storage, session="ses_none").problems[0].reason == "unreadable"
