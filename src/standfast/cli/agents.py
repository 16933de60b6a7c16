"""Is an agent above this terminal? A hurdle, not a wall: the threat model says what it can and cannot do."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

MARKS = ("CLAUDECODE", "CODEX_SANDBOX", "GEMINI_CLI", "QWEN_CODE", "OPENCODE", "PI_CODING_AGENT", "AGENT")
NAMES = frozenset({"claude", "codex", "gemini", "qwen", "opencode", "pi", "hermes", "aider", "goose"})
DEPTH = 64


def agent_above(environment: Mapping[str, str]) -> str | None:
    """The mark or process that shows an agent, or None."""
    marked = next((name for name in MARKS if environment.get(name)), None)
    return marked or _ancestor(os.getppid())


def _ancestor(pid: int) -> str | None:
    for _ in range(DEPTH):
        try:
            name = Path(f"/proc/{pid}/comm").read_text().strip()
            parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            return None
        if name in NAMES:
            return name
        if parent <= 1:
            return None
        pid = parent
    return None
