"""Installs the official conformance suite and the Node that runs it, and says so when it could not."""

from __future__ import annotations

import fcntl
import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CACHE = HERE.parents[1] / ".cache" / "conformance"
UNREACHABLE = re.compile(r"ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|ERR_SOCKET_TIMEOUT")
LEFT_OUT = "MCP conformance suite left out"


def installed() -> Path:
    """The folder with the installed suite. Skips when npm cannot be reached, fails for any other trouble."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip(f"{LEFT_OUT}: there is no npm on this machine")
    CACHE.mkdir(parents=True, exist_ok=True)
    lock = (HERE / "package-lock.json").read_bytes()
    stamp, wanted = CACHE / "installed", hashlib.sha256(lock).hexdigest()
    with (CACHE / "install.lock").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != wanted:
            for name in ("package.json", "package-lock.json"):
                shutil.copyfile(HERE / name, CACHE / name)
            command = [npm, "ci", "--no-audit", "--no-fund"]
            done = subprocess.run(command, cwd=CACHE, capture_output=True, text=True, timeout=300, check=False)
            if done.returncode != 0 and (reason := UNREACHABLE.search(done.stderr)):
                pytest.skip(f"{LEFT_OUT}: npm cannot reach its registry ({reason.group()})")
            assert done.returncode == 0, done.stderr
            stamp.write_text(wanted)
    return CACHE


@pytest.fixture(scope="session")
def suite() -> list[str]:
    """The command of the installed suite."""
    modules = installed() / "node_modules"
    return [str(modules / ".bin/node"), str(modules / "@modelcontextprotocol/conformance/dist/index.js")]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in the last lines what was left out, whatever the verbosity."""
    reasons = {
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", [])
        if isinstance(report.longrepr, tuple) and LEFT_OUT in report.longrepr[2]
    }
    for reason in sorted(reasons):
        terminalreporter.write_line(reason)
