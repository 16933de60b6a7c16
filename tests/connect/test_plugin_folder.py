"""What `standfast connect` writes for a client, and that it takes exactly that away again."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from tests.support.terminal import standfast


def test_the_plugin_folder_names_this_home_and_is_guarded(tmp_path: Path) -> None:
    home, folder = tmp_path / "a home", tmp_path / "plug"
    done = standfast(home, f"connect claude --plugin {folder}")
    assert done.returncode == 0, done.stderr
    assert f"claude --plugin-dir {folder}" in done.stdout
    assert json.loads((folder / ".claude-plugin" / "plugin.json").read_text())["name"] == "standfast"
    server = json.loads((folder / ".mcp.json").read_text())["mcpServers"]["standfast"]
    assert server["args"] == ["mcp", "--home", str(home)]
    hooks = json.loads((folder / "hooks" / "hooks.json").read_text())["hooks"]
    events = {"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"}
    assert events == set(hooks)
    assert "TaskCreate" in hooks["PostToolUse"][0]["matcher"]
    for [entry] in hooks.values():
        [hook] = entry["hooks"]
        assert f"--home '{home}'" in hook["command"]
        without = subprocess.run(
            ["/bin/sh", "-c", hook["command"]], env={"PATH": "/nowhere"}, capture_output=True, check=False, timeout=30
        )
        assert (without.returncode, without.stdout, without.stderr) == (0, b"", b"")


def test_a_hook_that_crashes_opens_no_gate_while_anybody_plans(tmp_path: Path) -> None:
    home, broken = tmp_path / "a home", tmp_path / "bin"
    standfast(home, f"connect claude --plugin {tmp_path}/plug")
    hooks = json.loads((tmp_path / "plug" / "hooks" / "hooks.json").read_text())["hooks"]
    command = hooks["PreToolUse"][0]["hooks"][0]["command"]
    (home / "gate").mkdir(parents=True)
    broken.mkdir()
    (broken / "standfast").write_text("#!/bin/sh\nexit 1\n")
    (broken / "standfast").chmod(0o755)

    def status() -> int:
        environ = {"PATH": f"{broken}:/usr/bin:/bin"}
        return subprocess.run(["/bin/sh", "-c", command], env=environ, check=False, timeout=30).returncode

    assert status() == 0
    (home / "gate" / "ses_1").write_text("claude-code\nx\n")
    assert status() == 2


def test_connecting_twice_changes_nothing_and_removing_leaves_nothing(tmp_path: Path) -> None:
    line = f"connect claude --plugin {tmp_path}/plug"
    for _ in range(2):
        assert standfast(tmp_path / "home", line).returncode == 0
    before = {path: path.read_bytes() for path in (tmp_path / "plug").rglob("*") if path.is_file()}
    assert standfast(tmp_path / "home", f"{line} --remove --dry-run").returncode == 0
    assert {path: path.read_bytes() for path in (tmp_path / "plug").rglob("*") if path.is_file()} == before
    assert standfast(tmp_path / "home", f"{line} --remove").returncode == 0
    assert not (tmp_path / "plug").exists()
    assert standfast(tmp_path / "home", f"{line} --dry-run").returncode == 0
    assert not (tmp_path / "plug").exists()


def test_a_folder_of_somebody_else_and_a_changed_file_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "notes.md").write_text("mine")
    done = standfast(tmp_path / "home", f"connect claude --plugin {tmp_path}/theirs")
    assert (done.returncode, "holds something else" in done.stderr) == (2, True)
    assert [path.name for path in (tmp_path / "theirs").iterdir()] == ["notes.md"]
    line = f"connect claude --plugin {tmp_path}/plug"
    standfast(tmp_path / "home", line)
    (tmp_path / "plug" / ".mcp.json").write_text("{}")
    done = standfast(tmp_path / "home", f"{line} --remove")
    assert "Changed and kept: .mcp.json" in done.stdout
    assert [path.name for path in (tmp_path / "plug").iterdir()] == [".mcp.json"]
