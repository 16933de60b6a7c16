"""Every operation that writes is killed at points of its own, in a short form; `make faults` takes all of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from standfast.host.catalogue import CATALOGUE
from standfast.testing.faults import Baseline, violations
from standfast.testing.play import Call, Play
from standfast.testing.scenarios import SCENARIOS

WRITING = [name for name, entry in CATALOGUE.items() if entry.effect == "write"]
CALL = Call("operator", None, "plan.abort", {})


def test_every_operation_that_writes_has_a_scenario() -> None:
    assert sorted(SCENARIOS) == sorted(WRITING)


@pytest.mark.parametrize("operation", WRITING)
def test_a_scenarios_call_is_the_operation_and_is_not_refused(operation: str, tmp_path: Path) -> None:
    play = Play(tmp_path / "home")
    call = SCENARIOS[operation](play)
    assert call.operation == operation
    play.call(call)
    assert play.person("audit.verify")["ok"]
    play.close()


@pytest.mark.requirement("PLAN-CASE-38", "STORE-02", "PLAN-SUBMIT-23", "I3")
def test_a_host_killed_at_any_point_has_stored_all_or_nothing_and_all_that_it_acknowledged() -> None:
    command = [sys.executable, "-m", "standfast.testing.faults", "--points", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" kept") == len(WRITING)
    assert int(done.stdout.splitlines()[-1].split()[0]) > 2 * len(WRITING)


BASE = Baseline(CALL, 0, ["a", "b"], {}, {"after": ["a", "b"], "again": {"result": {}}})
GOOD: dict[str, Any] = {"events": ["a", "b"], "files": [], "audit": [], "after": ["a", "b"]}
STORED = GOOD | {"again": {"result": {"x": 1}, "replayed": True}}
NOTHING = GOOD | {"events": [], "again": {"result": {"x": 1}, "replayed": False}}


@pytest.mark.parametrize(
    ("told", "found", "sound"),
    [
        ({"result": {"x": 1}}, STORED, True),
        (None, STORED, True),
        (None, NOTHING, True),
        ({"result": {"x": 1}}, NOTHING, False),
        ({"result": {"x": 2}}, STORED, False),
        (None, STORED | {"events": ["a"]}, False),
        (None, STORED | {"after": ["a", "b", "a", "b"]}, False),
        (None, NOTHING | {"after": []}, False),
        (None, NOTHING | {"again": {"refused": "conflict"}}, False),
        (None, STORED | {"again": {"refused": "conflict"}}, False),
        (None, STORED | {"files": ["x is nobody's"]}, False),
        (None, STORED | {"audit": ["a hash"]}, False),
    ],
)
def test_the_judge_knows_a_broken_promise(told: Any, found: dict[str, Any], sound: bool) -> None:
    assert (violations(BASE, told, found) == []) is sound
