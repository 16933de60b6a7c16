"""Each client through the command line: what it is given, where, guarded how, and that it is taken away again."""

from __future__ import annotations

import importlib
import json
import shlex
import subprocess
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from standfast.cli.connect import table
from standfast.cli.connect.table import EVENTS, GATES, Scope, Settings
from standfast.domain.clients import CONNECTED, HOOKED
from tests.connect.people import Somebody

WRITTEN = ("claude", "codex", "opencode", "gemini", "qwen", "hermes")
SHARED = ("claude", "codex", "opencode", "gemini", "qwen")
SERVERS = {
    "claude": (".claude.json", ".mcp.json", "mcpServers"),
    "codex": (".codex/config.toml", ".codex/config.toml", "mcp_servers"),
    "opencode": (".config/opencode/opencode.json", "opencode.json", "mcp"),
    "gemini": (".gemini/settings.json", ".gemini/settings.json", "mcpServers"),
    "qwen": (".qwen/settings.json", ".qwen/settings.json", "mcpServers"),
    "hermes": (".hermes/config.yaml", "", "mcp_servers"),
}
READERS = {".json": json.loads, ".toml": tomllib.loads, ".yaml": yaml.safe_load}


def server(path: Path, container: str) -> Any:
    """Our server as a client would read it."""
    return READERS[path.suffix](path.read_text())[container]["standfast"]


def words(entry: Any) -> list[str]:
    """The words that start a server."""
    command = entry["command"]
    return command if isinstance(command, list) else [command, *entry["args"]]


@pytest.mark.requirement("CONNECT-02", "HOOK-03")
@pytest.mark.parametrize("client", WRITTEN)
def test_a_client_is_connected_to_this_home_once_and_nothing_is_left_of_it(client: str, somebody: Somebody) -> None:
    before = somebody.files()
    assert "+" in somebody.done(f"connect {client} --dry-run")
    assert somebody.files() == before
    assert not somebody.home.exists()
    somebody.done(f"connect {client}")
    path, _, container = SERVERS[client]
    assert words(server(somebody.user / path, container)) == ["standfast", "mcp", "--home", str(somebody.home)]
    connected = somebody.files()
    assert "Unchanged" in somebody.done(f"connect {client}")
    assert somebody.files() == connected
    assert list(somebody.project.iterdir()) == []
    somebody.done(f"connect {client} --remove")
    assert somebody.files() == before
    assert [path.name for path in somebody.user.iterdir()] == [".local"]


@pytest.mark.requirement("CONNECT-03")
@pytest.mark.parametrize("client", SHARED)
def test_a_project_is_connected_without_anybodys_paths_or_consent(client: str, somebody: Somebody) -> None:
    somebody.done(f"connect {client} --project")
    files = {path: data for path, data in somebody.files().items() if path.startswith(str(somebody.project))}
    assert files == somebody.files()
    for data in files.values():
        assert str(somebody.user).encode() not in data
        assert b"--home" not in data
    _, path, container = SERVERS[client]
    given = server(somebody.project / path, container)
    assert not {"trust", "required", "default_tools_approval_mode"} & set(given)
    somebody.done(f"connect {client} --project --remove")
    assert somebody.files() == {}
    assert list(somebody.project.iterdir()) == []


@pytest.mark.requirement("CONNECT-03")
def test_a_projects_server_offers_nothing_where_standfast_is_missing(somebody: Somebody) -> None:
    somebody.done("connect claude --project")
    command = words(server(somebody.project / ".mcp.json", "mcpServers"))
    asked = (
        '{"jsonrpc":"2.0","id":"a-1","method":"initialize","params":{"protocolVersion":"2025-11-25"}}\n'
        '{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
        '{"jsonrpc": "2.0", "method": "tools/list", "id": 7}\n'
        '{"method":"server/discover","jsonrpc":"2.0","id":8}\n'
    )
    answer = subprocess.run(
        command, input=asked, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True, timeout=30
    )
    hello, tools, other = map(json.loads, answer.stdout.splitlines())
    assert (hello["id"], hello["result"]["capabilities"], answer.stderr) == ("a-1", {}, "")
    assert (tools["id"], tools["result"]) == (7, {"tools": []})
    assert (other["id"], other["error"]["code"]) == (8, -32601)


def hook_commands(client: str, scope: Scope) -> dict[str, str]:
    """The command of each hook that a client of a build that hears them all would be given."""
    parts = [part for part in table.parts(client, scope) if isinstance(part, Settings)]
    entries = [entry for part in parts for entry in part.entries if entry.path[0] == "hooks"]
    return {entry.path[1]: entry.value.get("command") or entry.value["hooks"][0]["command"] for entry in entries}


def status(command: str, tmp_path: Path, script: str, **environ: str) -> tuple[int, bytes]:
    """How a hook's command ends where `standfast` is this script (empty: is missing), and what it said."""
    folder = tmp_path / "bin"
    folder.mkdir(exist_ok=True)
    (folder / "standfast").write_text(f"#!/bin/sh\n{script}\n")
    (folder / "standfast").chmod(0o755 if script else 0o644)
    done = subprocess.run(
        shlex.split(command) if command.startswith("sh -c ") else ["/bin/sh", "-c", command],
        env={"PATH": f"{folder}:/usr/bin:/bin", "HOME": str(tmp_path), **environ},
        capture_output=True,
        check=False,
        timeout=30,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.requirement("CONNECT-03", "HOOK-01")
@pytest.mark.parametrize("client", sorted(EVENTS))
@pytest.mark.parametrize("shared", [False, True], ids=["user", "project"])
def test_every_hook_is_guarded_and_a_failing_gate_is_closed_while_anybody_plans(
    client: str, shared: bool, tmp_path: Path
) -> None:
    if (client, shared) == ("hermes", True):
        with pytest.raises(table.Unavailable, match="no configuration of a project"):
            table.parts(client, Scope(tmp_path, None, {}, frozenset(CONNECTED)))
        return
    home = tmp_path / ".local" / "state" / "standfast"
    scope = Scope(tmp_path, None if shared else str(home), {}, frozenset(CONNECTED))
    commands = hook_commands(client, scope)
    assert tuple(commands) == EVENTS[client]
    (home / "gate").mkdir(parents=True)
    for event, command in commands.items():
        assert (f"--home {home}" in command) is not shared
        assert status(command, tmp_path, "") == (0, b"")
        assert status(command, tmp_path, 'echo "$@"')[1].startswith(f"hook {client}".encode())
        if event in GATES:
            assert status(command, tmp_path, "exit 1") == (0, b"")
            (home / "gate" / "ses_1").write_text("x\ny\n")
            ended, said = status(command, tmp_path, "exit 1")
            assert json.loads(said)["decision"] == "block" if client == "hermes" else ended == 2
            (home / "gate" / "ses_1").unlink()


@pytest.mark.parametrize("client", sorted(HOOKED))
def test_every_event_that_the_host_understands_is_asked_for_and_its_gate_is_guarded(client: str) -> None:
    understood = importlib.import_module(f"standfast.serve.hooks.{client}").EVENTS
    assert set(understood) <= set(EVENTS[client])
    assert {event for event, what in understood.items() if what == "before_tool"} == GATES & set(EVENTS[client])


@pytest.mark.requirement("CONNECT-03")
def test_a_projects_gate_looks_at_every_home_that_the_hook_could_use(tmp_path: Path) -> None:
    command = hook_commands("claude", Scope(tmp_path, None, {}, frozenset(CONNECTED)))["PreToolUse"]
    for variable, home in (("STANDFAST_HOME", tmp_path / "own"), ("XDG_STATE_HOME", tmp_path / "state" / "standfast")):
        value = {variable: str(home if variable == "STANDFAST_HOME" else home.parent)}
        (home / "gate").mkdir(parents=True)
        assert status(command, tmp_path, "exit 1", **value)[0] == 0
        (home / "gate" / "ses_1").write_text("x\ny\n")
        assert status(command, tmp_path, "exit 1", **value)[0] == 2


def test_a_clients_own_variable_says_where_a_persons_configuration_is(tmp_path: Path, somebody: Somebody) -> None:
    for client, variable, path in (
        ("claude", "CLAUDE_CONFIG_DIR", ".claude.json"),
        ("codex", "CODEX_HOME", "config.toml"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/opencode.json"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("qwen", "QWEN_HOME", "settings.json"),
        ("hermes", "HERMES_HOME", "config.yaml"),
    ):
        assert somebody.run(f"connect {client}", **{variable: str(tmp_path / client)}).returncode == 0
        assert (tmp_path / client / path).is_file()
        assert somebody.run(f"connect {client} --project", **{variable: str(tmp_path / "no")}).returncode == (
            1 if client == "hermes" else 0
        )
    assert not (tmp_path / "no").exists()


def test_the_list_says_what_is_connected_where_and_in_which_state(somebody: Somebody) -> None:
    somebody.done("connect claude")
    somebody.done("connect gemini --project")
    path = somebody.user / ".qwen" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"mcpServers": {"standfast": {"command": "mine"}}}')
    (somebody.user / ".codex").mkdir()
    (somebody.user / ".codex" / "config.toml").write_text("[[")
    rows = json.loads(somebody.run("connect --list --json").stdout)["connections"]
    states = {(row["client"], row["scope"]): row["state"] for row in rows}
    assert states["claude", "user"] == "connected"
    assert states["gemini", "project"] == "connected"
    assert states["gemini", "user"] == "not connected"
    assert states["qwen", "user"] == "altered"
    assert states["codex", "user"] == "unreadable"
    assert ("claude", "project") not in states
    assert somebody.done("connect").splitlines()[0].split() == ["CLIENT", "SCOPE", "STATE", "GETS", "FILES"]


def test_a_client_without_an_asset_in_this_build_is_refused_and_nothing_is_written(somebody: Somebody) -> None:
    scope = Scope(somebody.user, str(somebody.home), {})
    if table.asset("pi", scope, somebody.user / "x"):
        somebody.done("connect pi")
        assert (somebody.user / ".pi" / "agent" / "extensions" / "standfast.ts").is_file()
        return
    assert "nothing for Pi" in somebody.done("connect pi", status=1)
    assert somebody.files() == {}


def test_the_users_own_directory_is_no_project(somebody: Somebody) -> None:
    answer = somebody.run("connect claude --project", at=somebody.user)
    assert (answer.returncode, "use --user" in answer.stderr) == (2, True)
    assert somebody.files() == {}


def test_a_home_that_cannot_be_written_is_refused_before_anything_is(somebody: Somebody) -> None:
    (somebody.user / "file").write_text("no folder")
    before = somebody.files()
    assert "cannot be written" in somebody.done(f"connect gemini --home {somebody.user}/file/home", status=1)
    assert somebody.files() == before


def test_connecting_both_ways_is_told_to_run_the_hooks_twice(somebody: Somebody) -> None:
    assert "twice" not in somebody.done("connect claude")
    assert "twice" in somebody.done("connect claude --project")
    assert somebody.run("connect claude --user --project").returncode == 2


@pytest.mark.requirement("CONNECT-02")
def test_clients_that_are_connected_at_the_same_time_are_all_remembered(somebody: Somebody) -> None:
    before = somebody.files()
    with ThreadPoolExecutor() as threads:
        answers = list(threads.map(lambda client: somebody.run(f"connect {client}").returncode, WRITTEN))
        assert answers == [0] * len(WRITTEN)
        states = {row["client"]: row["state"] for row in json.loads(somebody.done("connect --json"))["connections"]}
        assert {states[client] for client in WRITTEN} == {"connected"}
        list(threads.map(lambda client: somebody.done(f"connect {client} --remove"), WRITTEN))
    assert somebody.files() == before
