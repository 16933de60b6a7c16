"""What a crash, a power cut or an old client does to a file is tolerated and told. All transcripts are synthetic."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from standfast import transcripts
from standfast.transcripts import events
from tests.transcripts.left import OLDER, OPEN, left_by, pairs
from tests.transcripts.written import ClaudeSession, CodexSession, PiSession, lines, save
from tests.transcripts.written_others import GeminiChat, KiroSession, QwenChat

pytestmark = pytest.mark.requirement("RESTORE-06")


def claude() -> bytes:
    session = ClaudeSession()
    session.prompt()
    session.todo_write(OPEN)
    return session.data()


def codex() -> bytes:
    session = CodexSession()
    session.turn(OPEN)
    return session.data()


def pi() -> bytes:
    session = PiSession()
    session.prompt()
    session.todo([{"id": n, "text": text, "done": status == "completed"} for n, (text, status) in enumerate(OPEN)])
    return session.data()


def gemini() -> bytes:
    chat = GeminiChat()
    chat.prompt()
    chat.write_todos(OPEN)
    return chat.data()


def qwen() -> bytes:
    chat = QwenChat()
    chat.prompt()
    chat.write_todos(OPEN)
    return chat.data()


def kiro() -> bytes:
    session = KiroSession()
    session.add("Prompt", {"kind": "text", "data": "go on"})
    session.todo({"command": "create"}, [{"task_description": text, "completed": False} for text, _ in OPEN])
    return session.data()


FILES = {each.__name__: each() for each in (claude, codex, pi, gemini, qwen, kiro)}
every_file = pytest.mark.parametrize("data", FILES.values(), ids=FILES)
CONTENTS = [content for content, _ in OPEN]


def left(folder: Path, data: bytes) -> tuple[list[str], set[str]]:
    """The contents of the list, and the reasons of the problems."""
    report = left_by(folder, data)
    assert report.main is not None
    return [item.content for item in report.main.items], {problem.reason for problem in report.problems}


@every_file
def test_records_that_are_glued_on_one_line_are_all_read(tmp_path: Path, data: bytes) -> None:
    head, _, tail = data.partition(b"\n")
    assert left(tmp_path, head + b"\n" + tail.replace(b"}\n{", b"}{")) == (CONTENTS, {"glued_records"})


@every_file
def test_an_unfinished_last_line_is_told_and_left_out(tmp_path: Path, data: bytes) -> None:
    for tail in (b'{"type":', b'{"type":"user","message":{"role":"user","content":"half', b"{", b"\xff\xfe"):
        contents, problems = left(tmp_path, data + tail)
        assert contents == CONTENTS
        assert "unfinished_line" in problems


@every_file
def test_a_record_that_breaks_off_does_not_hide_the_next_one_on_its_line(tmp_path: Path, data: bytes) -> None:
    first, *rest = data.splitlines(keepends=True)
    assert left(tmp_path, first + b'{"type":"user","text":"br' + b"".join(rest)) == (CONTENTS, {"torn_record"})


@every_file
def test_bytes_that_are_no_text_are_replaced(tmp_path: Path, data: bytes) -> None:
    spoilt = data.replace(b"go on", b"go \xff\xc3(on")
    assert spoilt != data
    assert left(tmp_path, spoilt) == (CONTENTS, {"invalid_utf8"})


@every_file
def test_half_a_surrogate_pair_is_replaced(tmp_path: Path, data: bytes) -> None:
    assert left(tmp_path, data.replace(b"go on", b"\\ud83d go on \\\\ud800 \\ud83d\\ude00")) == (
        CONTENTS,
        {"lone_surrogate"},
    )


@every_file
def test_zero_bytes_of_a_power_cut_are_taken_away(tmp_path: Path, data: bytes) -> None:
    first, *rest = data.splitlines(keepends=True)
    assert left(tmp_path, first + b"\0" * 512 + b"".join(rest) + b"\0" * 512) == (CONTENTS, {"null_bytes"})


@every_file
def test_lines_that_are_no_records_are_told(tmp_path: Path, data: bytes) -> None:
    first, *rest = data.splitlines(keepends=True)
    noise = b'\n\n[1, 2]\n"text"\n12\nnull\nnot json\n{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"
    contents, problems = left(tmp_path, first + noise + b"".join(rest))
    assert contents == CONTENTS
    assert problems >= {"unexpected_shape", "malformed_record", "too_deep"}


@every_file
def test_windows_line_ends_and_a_byte_order_mark_are_no_trouble(tmp_path: Path, data: bytes) -> None:
    assert left(tmp_path, b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n")) == (CONTENTS, set())


@every_file
def test_a_file_that_is_there_twice_says_so_and_changes_nothing(tmp_path: Path, data: bytes) -> None:
    once, twice = left_by(tmp_path, data), left_by(tmp_path, data + data)
    assert (twice.lists, twice.compactions, twice.list_calls) == (once.lists, once.compactions, once.list_calls)
    assert [problem.reason for problem in twice.problems] == ["repeated_file"]


@every_file
def test_both_directions_tell_the_same_problems(tmp_path: Path, data: bytes) -> None:
    path = save(tmp_path, data.replace(b"}\n{", b"}{", 1) + b"\nnoise\n" + data + b'{"half')
    opened = transcripts.open(path)
    there = [event.reason for event in opened.events() if isinstance(event, events.Problem)]
    back = [event.reason for event in opened.backwards() if isinstance(event, events.Problem)]
    assert sorted(there) == sorted(back)
    assert len(there) >= 3


def test_a_copy_of_a_part_does_not_bring_an_older_list_back(tmp_path: Path) -> None:
    session = ClaudeSession()
    session.prompt()
    session.todo_write(OLDER)
    half = len(session.data())
    session.todo_write(OPEN)
    data = session.data()
    assert left(tmp_path, data + data[:half]) == (CONTENTS, {"repeated_file"})


def test_a_document_that_breaks_off_is_told(tmp_path: Path) -> None:
    chat = GeminiChat()
    chat.prompt()
    chat.write_todos(OPEN)
    report = left_by(tmp_path, chat.document()[:-20])
    assert (report.format, [problem.reason for problem in report.problems]) == ("gemini", ["malformed_record"])
    assert report.lists == ()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "unknown_format"),
        (b"\n\n", "unknown_format"),
        (b"# A plan\n\n- [ ] One\n", "unknown_format"),
        (b'{"name": "package", "version": "1.0.0"}\n', "unknown_format"),
        (b"\x00" * 10_000, "unknown_format"),
        (gzip.compress(b"{}"), "compressed"),
        (b"\x28\xb5\x2f\xfd" + b"\x00" * 20, "compressed"),
        (b"SQLite format 3\x00" + b"\x00" * 100, "unknown_format"),
    ],
    ids=["empty", "blank", "text", "other", "zeroes", "gzip", "zstd", "database"],
)
def test_a_file_that_is_no_transcript_says_so(tmp_path: Path, data: bytes, reason: str) -> None:
    report = left_by(tmp_path, data)
    assert (report.format, report.lists) == ("", ())
    assert [problem.reason for problem in report.problems] == [reason]
    assert "no transcript of a known client" in report.words()


def test_records_of_another_shape_are_told_one_by_one(tmp_path: Path) -> None:
    session = ClaudeSession()
    session.prompt()
    session.todo_write(OPEN)
    odd = [{"type": "user", "uuid": {"a": 1}, "sessionId": "s"}, {"type": "assistant", "uuid": "x", "message": [1]}]
    report = left_by(tmp_path, lines(odd) + session.data() + lines(odd))
    assert pairs(report.main) == OPEN
    assert {problem.reason for problem in report.problems} == {"unexpected_shape"}


def test_a_missing_file_is_the_system_s_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        transcripts.restore(tmp_path / "nowhere.jsonl")


def test_the_report_is_plain_data_and_its_words_cannot_harm_a_terminal(tmp_path: Path) -> None:
    session = ClaudeSession()
    session.prompt()
    session.todo_write([("\x1b[31mred\x07\nline \u202e\u200b", "\x1b]0;title")])
    report = left_by(tmp_path, session.data())
    assert json.loads(json.dumps(report.data()))["lists"][0]["flags"] == ["unknown_status"]
    assert all(line.isprintable() for line in report.words().splitlines())
