"""Codex runs a hook only if its person trusts it, and skips it silently otherwise.

Codex itself says which hooks it reads and by which hash it would trust them (`codex app-server`, `hooks/list`);
nothing is computed here. The hashes are written into its `config.toml` only after a person agreed, and asked
for again afterwards: trust that Codex does not see is not claimed.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from standfast.cli.connect.document import Entry
from standfast.cli.connect.table import TRUST

SECONDS: Final = 20
_MARK: Final = "standfast hook codex"


@dataclass(frozen=True)
class Hook:
    """One of our hooks as Codex reads it."""

    key: str
    hash: str
    trusted: bool

    @property
    def entry(self) -> Entry:
        """What makes Codex trust it."""
        return Entry((*TRUST, self.key), {"trusted_hash": self.hash}, agreed=True)


class Silent(Exception):
    """Codex cannot be asked; the text says why."""


def hooks(folder: Path, environ: Mapping[str, str]) -> list[Hook]:
    """Our hooks that Codex runs for somebody in `folder`. Raises `Silent`."""
    program = shutil.which("codex", path=environ.get("PATH"))
    if program is None:
        raise Silent("there is no `codex` on the PATH")
    questions: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "standfast", "version": "1"}}},
        {"method": "initialized", "params": {}},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [str(folder)]}},
    ]
    try:
        [listed] = _ask([program, "app-server"], folder, environ, questions)["result"]["data"]
        return [
            Hook(str(each["key"]), str(each["currentHash"]), each["trustStatus"] == "trusted")
            for each in listed["hooks"]
            if _MARK in str(each.get("command"))
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise Silent(f"`codex app-server` does not list its hooks ({type(error).__name__})") from error


def _ask(
    command: list[str], folder: Path, environ: Mapping[str, str], questions: list[dict[str, Any]]
) -> Mapping[str, Any]:
    """The answer to the last question. The server ends with its input, so that stays open until it has answered."""
    wanted = questions[-1]["id"]
    server = subprocess.Popen(
        command,
        cwd=folder,
        env=dict(environ),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    late = threading.Timer(SECONDS, os.killpg, (server.pid, signal.SIGKILL))
    late.start()
    try:
        with server:
            assert server.stdin is not None
            assert server.stdout is not None
            server.stdin.write(b"".join(json.dumps(each).encode() + b"\n" for each in questions))
            server.stdin.flush()
            for line in server.stdout:
                answer = json.loads(line)
                if answer.get("id") == wanted:
                    return dict(answer)
        raise ValueError("no answer")
    finally:
        late.cancel()
