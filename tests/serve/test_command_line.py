"""The command line as a script uses it, against a real host: output, exit status, errors."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from standfast.cli.commands import build_parser
from tests.support.hosts import Running
from tests.support.terminal import standfast

READING = [
    "status",
    "doctor",
    "doctor --policy",
    "web",
    "plans",
    "plans list",
    "plans show P-1",
    "plans open P-1",
    "plans tasks P-1",
    "plans ticks P-1",
    "sessions",
    "sessions list",
    "settings",
    "events",
    "audit",
    "audit verify",
    "call plan.list",
]


@pytest.fixture
def host(planned: Running) -> Running:
    return planned


@pytest.mark.requirement("CLI-01", "CLI-02", "CLI-04")
@pytest.mark.parametrize("line", READING)
def test_every_reading_command_succeeds_as_text_and_as_json_and_without_colour(host: Running, line: str) -> None:
    text = standfast(host.home, line)
    assert (text.returncode, text.stderr) == (0, "")
    assert text.stdout.strip()
    assert "\x1b" not in text.stdout
    answer = standfast(host.home, f"{line} --json")
    assert (answer.returncode, answer.stderr) == (0, "")
    if line == "events":
        assert all(json.loads(each)["seq"] for each in answer.stdout.splitlines())
    else:
        json.loads(answer.stdout)


@pytest.mark.requirement("CLI-02")
def test_every_command_takes_json() -> None:
    reading = {line.split(" --")[0] for line in READING}
    seen = set()

    def walk(parser: Any, path: str) -> None:
        for action in parser._actions:
            if isinstance(action.choices, dict):
                for name, child in action.choices.items():
                    walk(child, f"{path} {name}".strip())
        if path:
            seen.add(path)
            assert "--json" in parser.format_usage(), path

    walk(build_parser(), "")
    assert len(seen) > 30
    assert {line.removesuffix(" P-1").removesuffix(" plan.list") for line in reading} <= seen


@pytest.mark.requirement("CLI-01")
@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ("plans show P-77", 1, r"^standfast: not_found: .*P-77"),
        ("sessions show nobody", 1, r"^standfast: not_found: "),
        ("settings set plan.shell sometimes", 1, r"^standfast: invalid: "),
        ("plans confirm P-1.9 --plan nothing", 1, r"^standfast: forbidden: "),
        ("plans approve P-1", 1, r"^standfast: forbidden: .*terminal"),
        ("call no.such", 1, r'"unknown_operation"'),
        ("call plan.list --json [", 2, r"not JSON"),
        ("call plan.list --json 7", 2, r"JSON object"),
        ("plans shwo P-1", 2, r"invalid choice"),
        ("plans approve P-1 --mode always", 2, r"invalid choice"),
        ("nonsense", 2, r"invalid choice"),
        ("verify /nowhere/at/all.db", 1, r"^standfast: "),
    ],
)
def test_the_exit_status_says_what_kind_of_failure_it_is(host: Running, line: str, status: int, said: str) -> None:
    done = standfast(host.home, line)
    assert done.returncode == status, done.stderr
    assert re.search(said, done.stderr), done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.requirement("CLI-01", "CLI-02")
def test_a_host_that_cannot_be_reached_is_exit_status_3(tmp_path: Path) -> None:
    assert standfast(tmp_path / "home", "status").returncode == 3
    assert not (tmp_path / "home").exists()
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / "down").touch()
    done = standfast(tmp_path / "home", "plans list --json")
    assert done.returncode == 3
    assert json.loads(done.stderr)["error"]["code"] == "host_unreachable"
    assert "standfast up" in done.stderr


@pytest.mark.requirement("CLI-02")
def test_a_refusal_with_json_is_an_object_with_code_and_message(host: Running) -> None:
    done = standfast(host.home, "plans show P-77 --json")
    assert (done.returncode, done.stdout) == (1, "")
    assert json.loads(done.stderr)["error"]["code"] == "not_found"


@pytest.mark.requirement("CLI-03")
def test_a_fault_is_one_line_and_its_trace_is_shown_only_with_debug(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    plain = standfast(tmp_path / "file", "status")
    assert plain.returncode in (1, 3)
    assert len(plain.stderr.splitlines()) == 1
    debug = standfast(tmp_path / "file", "status --debug")
    assert debug.returncode == plain.returncode
    assert "Traceback" in debug.stderr
