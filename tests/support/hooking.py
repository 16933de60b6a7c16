"""A client's hooks as the tests play them: events through the real `standfast hook`, one process each."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.hosts import PYTHON, Running

RELAY = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"


class Hooks:
    """One conversation of a client. `about` is what each of its events says of it."""

    def __init__(self, home: Path, client: str, about: Mapping[str, Any]) -> None:
        self.home, self.client, self.about = home, client, dict(about)

    def send(self, *, elsewhere: bool = False, **fields: Any) -> dict[str, Any]:
        """One event; what the hook prints. `elsewhere` sends it from another process of the client."""
        hook = [*PYTHON, "hook", self.client, "--home", str(self.home)]
        command = [PYTHON[0], "-c", RELAY, *hook] if elsewhere else hook
        done = subprocess.run(
            command, input=json.dumps(self.about | fields).encode(), capture_output=True, timeout=30, check=False,
            env=dict(os.environ),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert b"Traceback" not in done.stderr, done.stderr
        said: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
        return said


class Claude(Hooks):
    """A conversation of a client with Claude Code's format of hooks (Codex and Qwen share it)."""

    def __init__(self, home: Path, workspace: Path, name: str, client: str = "claude") -> None:
        workspace.mkdir(exist_ok=True)
        super().__init__(home, client, {"session_id": name, "cwd": str(workspace)})

    def told(self, event: str, **fields: Any) -> str:
        """The context that an event gives to the model."""
        said = self.send(hook_event_name=event, **fields).get("hookSpecificOutput", {})
        assert not said or said["hookEventName"] == event
        return str(said.get("additionalContext", ""))

    def gate(self, tool: str, arguments: Mapping[str, Any] | None = None, **fields: Any) -> str | None:
        """The permission decision before a tool call."""
        wish = {"tool_name": tool, "tool_input": dict(arguments or {}), **fields}
        said = self.send(hook_event_name="PreToolUse", **wish).get("hookSpecificOutput", {})
        decision: str | None = said.get("permissionDecision")
        return decision


def works_on_a_plan(host: Running, workspace: Path, client: str, conversation: str) -> dict[str, Any]:
    """Gives a conversation an approved plan of three tasks, adopted by a person; the session."""
    workspace.mkdir(exist_ok=True)
    wish = {"client": client, "client_session_id": conversation, "workspace": str(workspace), "own_plan_mode": True}
    session: dict[str, Any] = host.done("session.start", wish, "agent")
    plan = {"session": session["session"], "mode": "client", "title": "Plan", "markdown": "- [ ] a\n- [ ] b\n"}
    host.done("plan.adopt", plan)
    return session
