"""Where a person switched Standfast off, a client that starts it all the same notices nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from standfast.client.home import switched_off

ASKED: tuple[dict[str, Any], ...] = (
    {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}}},
    {"method": "notifications/initialized"},
    {"id": 2, "method": "tools/list"},
    {"id": "three", "method": "ping"},
    {"id": 4, "method": "tools/call", "params": {"name": "plan_submit"}},
)


def answers(folder: Path, environ: Mapping[str, str]) -> dict[Any, Any]:
    """What `standfast mcp` answers, by request id."""
    asked = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in ASKED)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "standfast", "mcp"],
        input=f"no message\n{asked}",
        cwd=folder,
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert done.stderr == ""
    return {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}


@pytest.mark.requirement("HOST-07")
@pytest.mark.parametrize("by", ["environment", "project"])
def test_a_client_gets_a_server_that_offers_nothing_and_leaves_no_trace(by: str, tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project" / "below"
    project.mkdir(parents=True)
    environ = {"STANDFAST_HOME": str(home), "STANDFAST_OFF": "1" if by == "environment" else ""}
    if by == "project":
        (tmp_path / "project" / ".standfast").mkdir()
        (tmp_path / "project" / ".standfast" / "off").touch()
    got = answers(project, environ)
    assert got[1]["result"]["protocolVersion"] == "2025-11-25"
    assert got[1]["result"]["capabilities"] == {}
    assert got[2]["result"] == {"tools": []}
    assert got["three"]["result"] == {}
    assert got[4]["error"]["message"] == "Standfast is switched off here."
    assert not home.exists()


def test_it_is_on_unless_a_person_said_otherwise(tmp_path: Path) -> None:
    assert not switched_off({}, str(tmp_path))
    assert not switched_off({"STANDFAST_OFF": "0"}, str(tmp_path))
    assert switched_off({"STANDFAST_OFF": "yes"}, str(tmp_path))
