"""A client's own todo list, seen through its hooks or found in its transcript, and what the model is told of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.hooking import Claude
from tests.support.hosts import Running, running_host
from tests.transcripts.written import ClaudeSession, save


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_host(tmp_path_factory.mktemp("k") / "home") as running:
        yield running


def begun(host: Running, folder: Path, name: str) -> Claude:
    """A conversation with its first prompt."""
    talk = Claude(host.home, folder / "project", f"{folder.name}-{name}")
    talk.told("SessionStart", source="startup")
    talk.told("UserPromptSubmit", prompt_id="1", prompt="go")
    return talk


def used(talk: Claude, tool: str, arguments: Mapping[str, Any], answer: object, **more: Any) -> None:
    """A tool that has run."""
    talk.told("PostToolUse", tool_name=tool, tool_input=dict(arguments), tool_response=answer, **more)


def lists(host: Running, talk: Claude) -> list[Mapping[str, Any]]:
    """The session's lists."""
    sessions = host.done("session.list", {"limit": 100})["sessions"]
    [own] = [each for each in sessions if each["client_session_id"] == talk.about["session_id"]]
    return list(host.done("todo.read", {"session": own["session"]})["lists"])


def shown(each: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """A list's items: id, words, status."""
    return [(item["id"], item["content"], item["status"]) for item in each["items"]]


def create(talk: Claude, number: int, subject: str) -> None:
    """Claude Code creates a task."""
    used(
        talk, "TaskCreate", {"subject": subject, "description": "-"}, {"task": {"id": str(number), "subject": subject}}
    )


def update(talk: Claude, number: int, **changes: Any) -> None:
    """Claude Code changes a task."""
    answer = {"success": True, "taskId": str(number), "updatedFields": list(changes)}
    used(talk, "TaskUpdate", {"taskId": str(number), **changes}, answer)


@pytest.mark.requirement("LIST-CAPTURE-03")
def test_tasks_are_captured_one_by_one_and_told_after_a_compaction(host: Running, tmp_path: Path) -> None:
    talk = begun(host, tmp_path, "tasks")
    create(talk, 1, "read")
    create(talk, 2, "mend")
    update(talk, 1, status="completed")
    update(talk, 2, status="in_progress", addBlockedBy=["1"])
    (found,) = lists(host, talk)
    assert shown(found) == [("1", "read", "completed"), ("2", "mend", "in_progress")]
    assert (found["source"], found["provenance"]) == ("tasks", "captured")
    view = talk.told("SessionStart", source="compact")
    assert '- [>] 2 "mend"' in view
    assert "read" not in view.split("open ones:")[1].split("Next action")[0]
    assert talk.told("SessionStart", source="compact") == ""


@pytest.mark.requirement("LIST-CAPTURE-03")
def test_a_list_answer_outranks_what_the_calls_said(host: Running, tmp_path: Path) -> None:
    talk = begun(host, tmp_path, "answers")
    create(talk, 1, "read")
    create(talk, 2, "mend")
    rows = [{"id": "2", "subject": "mend", "status": "completed", "blockedBy": []}]
    used(talk, "TaskList", {}, {"tasks": rows})
    assert shown(lists(host, talk)[0]) == [("2", "mend", "completed")]
    create(talk, 3, "tell")
    update(talk, 2, status="deleted")
    assert shown(lists(host, talk)[0]) == [("3", "tell", "pending")]


@pytest.mark.requirement("LIST-CAPTURE-03")
def test_tasks_that_ended_keep_their_numbers_when_another_is_created(host: Running, tmp_path: Path) -> None:
    talk = begun(host, tmp_path, "ended")
    create(talk, 1, "read")
    update(talk, 1, status="completed")
    before = lists(host, talk)[0]["items"][0]["number"]
    create(talk, 2, "mend")
    after = lists(host, talk)[0]
    assert [item["number"] for item in after["items"]] == [before, before + 1]
    assert after["list"] == 1


@pytest.mark.requirement("LIST-CAPTURE-03", "LIST-01")
def test_a_whole_list_is_captured_for_its_agent_and_a_read_changes_nothing(host: Running, tmp_path: Path) -> None:
    talk = begun(host, tmp_path, "whole")
    todos = [{"content": "mend", "status": "in_progress", "activeForm": "Mending"}]
    used(talk, "TodoWrite", {"todos": todos}, {"oldTodos": [], "newTodos": todos})
    child = [{"content": "look", "status": "pending", "activeForm": "Looking"}]
    used(talk, "TodoWrite", {"todos": child}, {"oldTodos": [], "newTodos": child}, agent_id="explorer")
    used(talk, "Read", {"file_path": "x"}, "text")
    found = {each["agent"]: shown(each) for each in lists(host, talk)}
    assert {agent: [words for _, words, _ in items] for agent, items in found.items()} == {
        "main": ["mend"],
        "explorer": ["look"],
    }


@pytest.mark.requirement("RESTORE-14")
def test_a_resumed_session_that_nobody_knew_is_told_the_list_of_its_transcript(host: Running, tmp_path: Path) -> None:
    written = ClaudeSession()
    written.prompt("go")
    written.todo_write([("read", "completed"), ("mend", "in_progress")])
    file = save(tmp_path, written.data())
    talk = Claude(host.home, tmp_path / "project", written.session)
    view = talk.told("SessionStart", source="resume", transcript_path=str(file))
    assert '"mend" (interrupted)' in view
    assert lists(host, talk)[0]["provenance"] == "restored"
    nothing = Claude(host.home, tmp_path / "project", "no-file")
    assert nothing.told("SessionStart", source="resume", transcript_path=str(tmp_path / "none")) == ""
