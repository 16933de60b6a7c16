"""How much of a file is read, and how much memory that takes. All transcripts are synthetic."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from standfast import transcripts
from standfast.transcripts import events, lines, restoring
from tests.transcripts.left import OPEN, pairs
from tests.transcripts.written import ClaudeSession, CodexSession, save

pytestmark = pytest.mark.requirement("RESTORE-10")

MEGABYTE = 1024 * 1024

PEAK = """
import json, resource, sys
from standfast import transcripts
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
report = transcripts.restore(sys.argv[1])
sum(1 for _ in transcripts.open(sys.argv[1]).events())
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([(after - before) // 1024, report.main.items[0].content]))
"""


def peak_of(path: Path) -> tuple[int, str]:
    """The megabytes by which a process grows that restores and reads a file, and the list's first item."""
    command = [sys.executable, "-c", PEAK, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    grown, first = json.loads(done.stdout)
    return grown, first


def padded(session: ClaudeSession, megabytes: float) -> None:
    """Messages of the model, a hundred kilobytes each."""
    for _ in range(int(megabytes * 10)):
        session.say("x" * 100_000)


def test_reading_stops_where_the_list_is_certain(tmp_path: Path) -> None:
    session = ClaudeSession()
    session.prompt()
    session.call("ExitPlanMode", {"plan": "an old one"})
    padded(session, 6)
    session.todo_write(OPEN)
    padded(session, 1)
    path = save(tmp_path, session.data())
    report = transcripts.restore(path)
    assert (pairs(report.main), report.whole, report.plans) == (OPEN, False, ())
    assert restoring.TAIL <= report.read_bytes <= restoring.TAIL + 2 * lines.BLOCK
    assert "older plans were not looked for" in report.words()
    everything = transcripts.restore(path, whole=True)
    assert (everything.whole, len(everything.plans)) == (True, 1)
    assert everything.lists == report.lists


def test_a_list_of_changes_is_read_to_its_beginning_or_to_a_list_answer(tmp_path: Path) -> None:
    session = ClaudeSession()
    session.prompt()
    session.task_create(1, "One")
    padded(session, 4)
    session.task_update(1, status="in_progress")
    report = transcripts.restore(save(tmp_path, session.data()))
    assert (pairs(report.main), report.whole) == ([("One", "in_progress")], True)
    session.task_list([{"id": "1", "subject": "One", "status": "completed"}])
    padded(session, 3)
    report = transcripts.restore(save(tmp_path, session.data()))
    assert (pairs(report.main), report.whole) == ([("One", "completed")], False)


def test_a_long_file_gives_places_in_bytes(tmp_path: Path) -> None:
    session = CodexSession()
    session.begin()
    for _ in range(180):
        session.event("agent_message", message="x" * 100_000)
    session.update_plan(OPEN)
    path = save(tmp_path, session.data())
    report = transcripts.restore(path)
    assert report.main is not None
    assert report.main.written.line is None
    assert report.main.written.byte is not None
    data = path.read_bytes()
    assert json.loads(data[report.main.written.byte :].split(b"\n")[0])["payload"]["output"] == "Plan updated"


def test_a_line_of_twenty_megabytes_is_read_in_bounded_memory(tmp_path: Path) -> None:
    session = ClaudeSession()
    session.prompt()
    for text in ("x" * 20 * MEGABYTE, "ü" * 10 * MEGABYTE):
        session.result(session.call("Read", {"path": "/project/big"}), text, {"file": text})
        session.todo_write(OPEN)
    grown, first = peak_of(save(tmp_path, session.data()))
    assert first == OPEN[0][0]
    assert grown <= 128


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    session = ClaudeSession()
    session.prompt()
    session.task_create(1, "One")
    padded(session, 5)
    body = session.data()
    path = tmp_path / "session.jsonl"
    with path.open("wb") as file:
        for _ in range(24):
            file.write(body.replace(b"One", b"1ne") + b"\n")
    grown, _ = peak_of(path)
    assert grown <= 64


def test_a_line_that_is_too_long_is_told_and_passed_over(tmp_path: Path) -> None:
    session = ClaudeSession()
    session.prompt()
    session.todo_write(OPEN)
    long = b'{"type":"assistant","text":"' + b"x" * lines.LINE_LIMIT + b'"}\n'
    path = save(tmp_path, session.data() + long)
    report = transcripts.restore(path)
    assert (pairs(report.main), [each.reason for each in report.problems]) == (OPEN, ["line_too_long"])
    there = [event for event in transcripts.open(path).events() if isinstance(event, events.Problem)]
    assert [event.reason for event in there] == ["line_too_long"]


def test_lines_are_the_same_in_both_directions(tmp_path: Path) -> None:
    for data in (b"", b"a", b"a\n", b"\n", b"\n\na\n\nb", b"x" * 700_000 + b"\ny\n" + b"z" * 300_000):
        path = save(tmp_path, data)
        with path.open("rb") as file:
            size = lines.size_of(file)
            there = list(lines.forwards(file, 0, size))
            back = list(lines.backwards(file, size))
        assert there == back[::-1]
        assert b"".join((line.data or b"") + b"\n" * line.ended for line in there) == data
