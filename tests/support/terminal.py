"""The command line as a person has it: without a terminal, and on one of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pexpect

from standfast.cli.agents import MARKS
from tests.support.hosts import PLAN, PYTHON, Running

SECONDS = 30


def person() -> dict[str, str]:
    """An environment without an agent's marks."""
    return {name: value for name, value in os.environ.items() if name not in MARKS}


def place(home: Path) -> Path | None:
    """The workspace of the host's first plan, where people are while they speak of P-1."""
    return home.parent / "w" if (home.parent / "w").is_dir() else None


def standfast(home: Path, line: str, at: Path | None = None) -> subprocess.CompletedProcess[str]:
    """One command line without a terminal."""
    return subprocess.run(
        [*PYTHON, *line.split(), "--home", str(home)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env=person(),
        cwd=at or place(home),
    )


def hears_interrupts() -> None:
    """As from a person's shell: what starts tests in the background may have told them not to hear Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def on_terminal(home: Path, line: str, at: Path | None = None, **environ: str) -> Any:
    """One command line on a terminal of its own."""
    command = [*PYTHON[1:], *line.split(), "--home", str(home)]
    where = str(at or place(home) or "/")
    return pexpect.spawn(
        sys.executable,
        command,
        env={**person(), **environ},
        timeout=SECONDS,
        encoding="utf-8",
        dimensions=(50, 200),
        preexec_fn=hears_interrupts,
        cwd=where,
    )


def ended(child: Any) -> tuple[int, str]:
    """The exit status and what was said until then."""
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus, child.before


def pending(host: Running, tmp_path: Path, markdown: str = PLAN, title: str = "Mend the roof") -> dict[str, Any]:
    """A plan that waits for a verdict."""
    _, token = host.session(tmp_path / "w", name=str(tmp_path))
    wish = {"title": title, "question": "Shall I go up?", "markdown": markdown}
    plan: dict[str, Any] = host.done("plan.submit", wish, "agent", Standfast_Session=token)
    return plan
