"""Claude Code: `claude -p` with the plugin folder that `standfast connect claude` writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.clients.bench import Ran
from tests.clients.drivers.base import Driver
from tests.clients.model.script import Asked, Say

MODEL = "claude-opus-4-6"


class Claude(Driver):
    """Anthropic's Claude Code."""

    word = "claude"
    client = "claude-code"
    own = "mcp__plugin_standfast_standfast__"
    write = "Write"

    def configure(self) -> None:
        """A plugin folder, and permissions that ask nobody."""
        self.plugin = self.bench.scratch / "plugin"
        done = self.bench.standfast("connect", "claude", "--plugin", str(self.plugin))
        assert done.code == 0, done.err
        self.settings = self.bench.person / ".claude"
        self.settings.mkdir()
        allowed = {"permissions": {"allow": ["mcp__plugin_standfast_standfast", "Write", "Bash"]}}
        (self.settings / "settings.json").write_text(json.dumps(allowed))

    def environment(self) -> dict[str, str]:
        """The scripted model, and nothing that is not needed."""
        return self.bench.environment(
            ANTHROPIC_BASE_URL=self.bench.model,
            ANTHROPIC_API_KEY="dummy",
            CLAUDE_CONFIG_DIR=self.settings,
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1,
            DISABLE_AUTOUPDATER=1,
        )

    def command(self, text: str) -> list[str | Path]:
        """One print run."""
        again = ["--resume", self.conversation] if self.conversation else []
        flags = ["--plugin-dir", self.plugin, "--model", MODEL, "--output-format", "stream-json", "--verbose"]
        return [self.program, "-p", text, *again, *flags]

    def started(self, ran: Ran) -> str | None:
        """The session id is in every line of the stream."""
        lines = [json.loads(line) for line in ran.out.splitlines() if line.startswith("{")]
        return next((line["session_id"] for line in lines if "session_id" in line), None)

    def system(self, asked: Asked) -> str:
        """Its first line is a header for the provider's billing, which changes with the first user message."""
        return asked.system.partition("\n")[2] if asked.system.startswith("x-anthropic-billing") else asked.system

    def compact(self) -> None:
        """Its own command works in print mode."""
        self.bench.play(Say("aside"))
        self.prompt("/compact keep what matters")

    def writes(self, path: Path) -> dict[str, Any]:
        """A whole file."""
        return {"file_path": str(path), "content": "written\n"}
