"""What a client's session file left behind, on the command line and in the store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.hosts import Running
from tests.support.terminal import standfast
from tests.transcripts.written import ClaudeSession, save

ITEMS = [("read", "completed"), ("mend", "in_progress"), ("tell", "pending")]


def session(items: list[tuple[str, str]], folder: Path, name: str = "session.jsonl") -> Path:
    """A synthetic session of Claude Code with one list."""
    written = ClaudeSession()
    written.prompt("go")
    written.todo_write(items)
    return save(folder, written.data(), name)


@pytest.mark.requirement("RESTORE-12")
def test_a_list_is_told_and_taken_once_and_longer_versions_extend_it(planned: Running, tmp_path: Path) -> None:
    file = session(ITEMS, tmp_path)
    said = standfast(planned.home, f"restore {file}")
    assert said.returncode == 0, said.stderr
    assert "1 of 3 completed" in said.stdout
    assert "Taken into session" in said.stdout
    again = standfast(planned.home, f"restore {file}")
    assert "Nothing to take" in again.stdout
    file = session([("read", "completed"), ("mend", "completed"), ("tell", "pending")], tmp_path)
    assert "1 of 1 lists" in standfast(planned.home, f"restore {file}").stdout
    shown = standfast(planned.home, "todos")
    assert "TodoWrite, restored): 2/3, revision 2" in shown.stdout


@pytest.mark.requirement("RESTORE-12")
def test_a_list_that_was_written_since_is_not_overwritten_by_a_file(planned: Running, tmp_path: Path) -> None:
    file = session(ITEMS, tmp_path)
    taken = json.loads(standfast(planned.home, f"restore {file} --json").stdout)["taken"]
    live = {"session": taken["session"], "source": "TodoWrite", "todos": [{"content": "newer"}]}
    planned.done("todo.capture", live)
    assert json.loads(standfast(planned.home, f"restore {file} --json").stdout)["taken"]["lists"] == 0
    (found,) = planned.done("todo.read", {"session": taken["session"]})["lists"]
    assert [item["content"] for item in found["items"]] == ["newer"]


@pytest.mark.requirement("RESTORE-13")
def test_a_dry_run_and_a_look_need_no_host(tmp_path: Path) -> None:
    file = session(ITEMS, tmp_path)
    home = tmp_path / "nowhere"
    said = standfast(home, f"restore {file} --dry-run --json")
    report = json.loads(said.stdout)
    assert [item["status"] for item in report["lists"][0]["items"]] == ["completed", "in_progress", "pending"]
    view = standfast(home, f"resume {file}").stdout
    assert "not words of the user" in view
    assert '"mend" (interrupted)' in view
    assert "read" not in view
    assert not home.exists()


@pytest.mark.requirement("RESTORE-13")
@pytest.mark.parametrize(("text", "status"), [("no transcript\n", 1), (None, 2)])
def test_what_is_no_transcript_is_said_and_fails(text: str | None, status: int, tmp_path: Path) -> None:
    file = tmp_path / "file.txt"
    if text is not None:
        file.write_text(text)
    said = standfast(tmp_path / "nowhere", f"restore {file}")
    assert said.returncode == status
    assert "Traceback" not in said.stdout + said.stderr
    assert "unknown_format" in said.stdout or "cannot be read" in said.stderr
