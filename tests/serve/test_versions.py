"""Two versions on one home: the newer one takes over, the older one is told what to do."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import standfast
from tests.support.hosts import PYTHON, Agent, running_host, stop_any
from tests.support.processes import wait_until

AS_VERSION = (
    "import sys, standfast; standfast.__version__ = sys.argv.pop(1); "
    "from standfast.cli.main import main; sys.argv[0] = 'standfast'; sys.exit(main())"
)


def as_version(version: str, *words: str) -> subprocess.CompletedProcess[str]:
    """The command line, as another version would run it."""
    command = [PYTHON[0], "-P", "-c", AS_VERSION, version, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, env=dict(os.environ))


def announced(home: Path) -> dict[str, Any]:
    """What the running host says of itself."""
    facts: dict[str, Any] = json.loads((home / "host.json").read_bytes())
    return facts


@pytest.mark.requirement("HOST-06")
@pytest.mark.parametrize("command", ["up", "plans"])
def test_a_newer_client_takes_an_older_host_over_and_agents_go_on(tmp_path: Path, command: str) -> None:
    home = tmp_path / "home"
    with running_host(home) as host, Agent(home, tmp_path / "w") as agent:
        agent.tool("plan_submit", title="T", question="Go?", markdown="- [ ] one\n- [ ] two\n")
        seen = host.done("plan.get", {"plan": "P-1"})
        host.done("plan.approve", {name: seen[name] for name in ("plan", "version", "sha256")} | {"mode": "ask"})
        assert agent.tool("plan_tick", title="one").startswith("1/2")
        done = as_version("99.0.0", command, "--home", str(home))
        assert done.returncode == 0, done.stderr
        wait_until(lambda: not host.process.running(), "the older host to have ended")
        assert announced(home)["pid"] != host.process.pid
        assert agent.tool("plan_tick", title="two").startswith("2/2")
        stop_any(home)


@pytest.mark.requirement("HOST-06")
def test_an_older_client_is_told_what_to_do_and_changes_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with running_host(home) as host:
        done = as_version("0.0.1", "plans", "--home", str(home))
        assert done.returncode == 3
        assert f"The host is Standfast {standfast.__version__}" in done.stderr
        assert "update this installation" in done.stderr
        assert host.process.running()
        assert as_version(standfast.__version__, "plans", "--home", str(home)).returncode == 0
