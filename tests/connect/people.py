"""A person with clients: a user directory and a project of their own, and the command line in them."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.support.hosts import PYTHON
from tests.support.terminal import person

SECONDS = 30
PLACES = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "GEMINI_CLI_HOME", "QWEN_HOME", "HERMES_HOME")


@dataclass
class Somebody:
    """Who connects; `run` is one command line in the project."""

    user: Path
    project: Path

    @property
    def home(self) -> Path:
        """The Standfast home."""
        return self.user / ".local" / "state" / "standfast"

    def environ(self, **more: str) -> dict[str, str]:
        """The environment, with this user directory and none of the clients' own variables."""
        kept = {name: value for name, value in person().items() if name not in (*PLACES, "XDG_STATE_HOME")}
        here = f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}"
        return {**kept, "HOME": str(self.user), "PATH": here, **more}

    def run(self, line: str, at: Path | None = None, **environ: str) -> subprocess.CompletedProcess[str]:
        """One command line without a terminal."""
        return subprocess.run(
            [*PYTHON, *line.split()],
            cwd=at or self.project,
            env=self.environ(**environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )

    def done(self, line: str, status: int = 0) -> str:
        """A command line that ends with this status; what it said."""
        answer = self.run(line)
        assert answer.returncode == status, answer.stdout + answer.stderr
        return answer.stdout + answer.stderr

    def files(self) -> dict[str, bytes]:
        """All files of the user and the project but the home's."""
        found = [path for top in (self.user, self.project) for path in top.rglob("*") if path.is_file()]
        return {str(path): path.read_bytes() for path in found if not path.is_relative_to(self.user / ".local")}
