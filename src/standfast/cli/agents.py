"""Is an agent above this terminal? A hurdle, not a wall: the threat model says what it can and cannot do.

Marks in the environment and the names of the ancestor processes are looked at. Clients that run on an
interpreter are known by the script that it runs.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

MARKS = ("CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI", "QWEN_CODE", "OPENCODE", "PI_CODING_AGENT", "AGENT")
NAMES = frozenset({"claude", "codex", "gemini", "qwen", "opencode", "pi", "hermes", "aider", "goose"})
INTERPRETERS = ("node", "bun", "deno", "python")
DEPTH = 64
PS_SECONDS = 5


def agent_above(environment: Mapping[str, str]) -> str | None:
    """The mark or process that shows an agent, or None."""
    marked = next((name for name in MARKS if environment.get(name)), None)
    return marked or _ancestor(os.getppid())


def _ancestor(pid: int) -> str | None:
    for _ in range(DEPTH):
        found = _from_proc(pid) if os.path.isdir("/proc/self") else _from_ps(pid)
        if found is None:
            return None
        words, parent = found
        known = agent_name(words)
        if known is not None or parent <= 1:
            return known
        pid = parent
    return None


def agent_name(words: list[str]) -> str | None:
    """The agent client that a command line runs, by its program or by its interpreter's script, or None."""
    names = [os.path.basename(word) for word in words if not word.startswith("-")]
    if not names:
        return None
    script = names[1:2] if names[0].startswith(INTERPRETERS) else []
    plain = [os.path.splitext(name)[0] for name in (names[0], *script)]
    return next((name for name in plain if name in NAMES), None)


def _from_proc(pid: int) -> tuple[list[str], int] | None:
    try:
        name = Path(f"/proc/{pid}/comm").read_text().strip()
        line = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
        parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return None
    words = line.strip("\0").split("\0")
    return ([name] if name in NAMES else words), parent


def _from_ps(pid: int) -> tuple[list[str], int] | None:
    """The same where there is no `/proc`."""
    command = ["ps", "-o", "ppid=,args=", "-p", str(pid)]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=PS_SECONDS, check=True)
        parent, *words = answer.stdout.split()
        return words, int(parent)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
