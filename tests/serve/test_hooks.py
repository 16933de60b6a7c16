"""Claude Code's hook events through the real `standfast hook`, and what they mean for the MCP calls beside them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from standfast.domain import capabilities
from standfast.host.catalogue import CATALOGUE
from standfast.serve.conversations import CALLS_KEPT, Conversations
from standfast.serve.surface import CallContext
from tests.support.hosts import PLAN, PYTHON, Agent, Running, running_host

WRITING = [("Write", {"file_path": "x"}), ("Edit", {"file_path": "x"}), ("NewTool", {}), ("mcp__db__drop", {})]
READING = [("Read", {"file_path": "x"}), ("Grep", {}), ("AskUserQuestion", {}), ("ExitPlanMode", {})]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_host(tmp_path_factory.mktemp("k") / "home") as running:
        yield running


class Conversation:
    """One conversation of a client: its events, as the client's hooks send them."""

    def __init__(self, home: Path, workspace: Path, name: str) -> None:
        workspace.mkdir(exist_ok=True)
        self.home, self.workspace, self.name = home, workspace, name

    def raw(self, data: bytes, **environ: str) -> subprocess.CompletedProcess[bytes]:
        """The hook process over these bytes."""
        return subprocess.run(
            [*PYTHON, "hook", "claude", "--home", str(self.home)],
            input=data, capture_output=True, timeout=30, check=False, env={**os.environ, **environ},
        )  # fmt: skip

    def event(self, name: str, environ: dict[str, str] | None = None, **fields: Any) -> dict[str, Any]:
        """One event; what the client's hook says to it, or nothing."""
        about = {
            "session_id": self.name,
            "transcript_path": f"/c/claude/projects/-w/{self.name}.jsonl",
            "cwd": str(self.workspace),
            "hook_event_name": name,
        }
        done = self.raw(json.dumps(about | fields).encode(), **(environ or {}))
        assert done.returncode == 0, done.stderr
        assert b"Traceback" not in done.stderr
        said: dict[str, Any] = json.loads(done.stdout)["hookSpecificOutput"] if done.stdout else {}
        assert not said or said["hookEventName"] == name
        return said

    def told(self, name: str, **fields: Any) -> str:
        """The context that an event gives to the model."""
        return str(self.event(name, **fields).get("additionalContext", ""))

    def gate(self, tool: str, arguments: dict[str, Any] | None = None, **fields: Any) -> str | None:
        """The permission decision before a tool call."""
        said = self.event("PreToolUse", tool_name=tool, tool_input=arguments or {}, **fields)
        return said.get("permissionDecision")

    def calls(self, agent: Agent, tool: str, **arguments: Any) -> str:
        """An MCP call, announced by the pre-tool hook and marked as the client marks it."""
        call = f"toolu_{self.name}_{os.urandom(4).hex()}"
        assert self.gate(f"mcp__standfast__{tool}", arguments, tool_use_id=call) is None
        wish = {"name": tool, "arguments": arguments, "_meta": {"claudecode/toolUseId": call}}
        return str(agent.request("tools/call", wish)["content"][0]["text"])


def begun(host: Running, folder: Path, name: str) -> Conversation:
    """A conversation with its first prompt."""
    talk = Conversation(host.home, folder, f"{folder.parent.name}-{name}")
    assert talk.event("SessionStart", source="startup") == {}
    assert talk.event("UserPromptSubmit", prompt_id=f"{name}-1", prompt="plan it") == {}
    return talk


def approve(host: Running, title: str) -> None:
    """The person's yes to the plan with this title."""
    [plan] = [item for item in host.done("plan.list", {"status": "pending"})["plans"] if item["title"] == title]
    host.done("plan.approve", {key: plan[key] for key in ("plan", "version", "sha256")} | {"mode": "client"})


def test_a_plan_goes_from_a_conversation_through_its_verdict_and_a_compaction(host: Running, tmp_path: Path) -> None:
    talk = begun(host, tmp_path / "w", "main")
    with Agent(host.home, tmp_path / "w") as agent:
        assert "Plan mode" in talk.calls(agent, "plan_enter")
        assert talk.gate("Write", {"file_path": str(tmp_path / "w" / "x")}) == "deny"
        assert "pending" in talk.calls(agent, "plan_submit", title="Main", question="Go?", markdown=PLAN)
        assert talk.event("Stop") == {}
        approve(host, "Main")
        instruction = talk.told("UserPromptSubmit", prompt_id="main-2", prompt="go")
        assert "one" in instruction
        assert "approved" in instruction
        assert talk.told("UserPromptSubmit", prompt_id="main-2", prompt="a notice inside the turn") == ""
        assert talk.gate("Write", {"file_path": str(tmp_path / "w" / "x")}) is None
        assert talk.calls(agent, "plan_tick", title="one").startswith("1/3")
        view = talk.told("SessionStart", source="compact")
        assert "P-1.2" in view
        assert "P-1.1" not in view
        assert talk.event("Stop") == {}
        assert talk.told("SessionStart", source="resume") != view
        assert talk.told("SessionStart", source="resume") == ""
        talk.event("UserPromptSubmit", prompt_id="main-3")
        assert talk.told("SessionStart", source="compact").count("[standfast]") == 1


@pytest.mark.requirement("MCP-03")
def test_two_conversations_over_one_connection_keep_two_trackers(host: Running, tmp_path: Path) -> None:
    one, two = begun(host, tmp_path / "w", "one"), begun(host, tmp_path / "w", "two")
    with Agent(host.home, tmp_path / "w") as agent:
        for talk, title in ((one, "First"), (two, "Second")):
            talk.calls(agent, "plan_enter")
            talk.calls(agent, "plan_submit", title=title, question="Go?", markdown=f"- [ ] {title}\n- [ ] rest\n")
            talk.event("Stop")
            approve(host, title)
            talk.event("UserPromptSubmit", prompt_id=f"{title}-go")
        assert two.calls(agent, "plan_tick", title="Second").startswith("1/2")
        assert one.calls(agent, "plan_tick", title="Second").startswith("task_unknown")
        assert one.calls(agent, "plan_tick", title="First").startswith("1/2")


@pytest.mark.requirement("HOOK-01", "PLAN-GATE-13")
def test_without_a_host_the_gate_stays_closed_in_plan_mode_and_open_elsewhere(tmp_path: Path) -> None:
    with running_host(tmp_path / "home") as host:
        planning, working = begun(host, tmp_path / "w", "planning"), begun(host, tmp_path / "w", "working")
        with Agent(host.home, tmp_path / "w") as agent:
            planning.calls(agent, "plan_enter")
        host.process.kill()
        (host.home / "down").touch()
        for tool, arguments in [*WRITING, ("Bash", {"command": "ls"})]:
            assert planning.gate(tool, arguments) == "deny", tool
            assert working.gate(tool, arguments) is None, tool
        for tool, arguments in READING:
            assert planning.gate(tool, arguments) is None, tool
        assert planning.gate("Write", {"file_path": "/c/claude/plans/own.md"}) is None
        assert planning.gate("Write", {"file_path": "/c/claude/plans/../settings.json"}) == "deny"
        for name in ("UserPromptSubmit", "SessionStart", "Stop"):
            assert planning.event(name, source="compact", prompt_id="x") == {}


@pytest.mark.requirement("HOOK-01")
def test_a_call_too_long_to_be_read_is_denied_in_plan_mode_only(tmp_path: Path) -> None:
    with running_host(tmp_path / "home") as host:
        planning, working = begun(host, tmp_path / "w", "planning"), begun(host, tmp_path / "w", "working")
        with Agent(host.home, tmp_path / "w") as agent:
            planning.calls(agent, "plan_enter")
        long = {"file_path": "x", "content": "y" * 5_000_000}
        assert planning.gate("Write", long) == "deny"
        assert working.gate("Write", long) is None


@pytest.mark.requirement("HOOK-01")
def test_without_a_host_a_person_finds_a_note_and_the_agent_nothing(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "down").touch()
    done = Conversation(tmp_path / "home", tmp_path / "w", "x").raw(b'{"hook_event_name":"SessionStart"}')
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.startswith(b"standfast: ")
    assert len(done.stderr.splitlines()) == 1


def test_the_table_of_own_tools_is_the_catalogue_s() -> None:
    assert set(capabilities.OWN_TOOLS) == {entry.tool.name for entry in CATALOGUE.values() if entry.tool is not None}


@pytest.mark.requirement("MCP-03")
def test_a_repeated_call_id_and_a_reused_process_id_lead_to_no_other_session() -> None:
    told = Conversations()
    told.speaks("claude-code", 7, "one")
    told.called("call_0", 7, "one")
    told.called("call_0", 8, "two")

    def asked(process: int | None, client: str = "claude-code", **meta: object) -> str | None:
        return told.of(CallContext(client_name=client, parent_pid=process, meta=meta))

    mark = {"claudecode/toolUseId": "call_0"}
    assert asked(7, **mark) == "one"
    assert asked(8, **mark) == "two"
    assert asked(7) == "one"
    assert asked(7, client="another") is None
    assert asked(9) is None
    for n in range(CALLS_KEPT):
        told.called(f"later_{n}", 8, "two")
    assert asked(None, **mark) is None


@pytest.mark.requirement("PLAN-GATE-12", "PLAN-GATE-13")
def test_an_unattended_session_is_never_asked_and_reads_and_plans_in_plan_mode(host: Running, tmp_path: Path) -> None:
    talk = Conversation(host.home, tmp_path / "w", f"{tmp_path.name}-alone")
    alone = {"CLAUDE_CODE_SESSION_ATTENDED": "0"}
    talk.event("SessionStart", alone, source="startup")
    talk.event("UserPromptSubmit", alone, prompt_id="p1")
    with Agent(host.home, tmp_path / "w") as agent:
        talk.calls(agent, "plan_enter")
    assert talk.gate("Bash", {"command": "ls"}) == "deny"
    for tool, arguments in WRITING:
        assert talk.gate(tool, arguments) == "deny", tool
    for tool, arguments in READING:
        assert talk.gate(tool, arguments) is None, tool


@pytest.mark.parametrize("data", [b"", b"{", b"null", b"[]", b'{"hook_event_name":"PreToolUse"}', b"\xff", b"{}" * 9])
def test_what_is_no_event_changes_nothing_and_is_no_trace(host: Running, tmp_path: Path, data: bytes) -> None:
    before = host.done("host.status", {})["events"]
    done = Conversation(host.home, tmp_path / "w", "x").raw(data)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"Traceback" not in done.stderr
    assert host.done("host.status", {})["events"] == before


def test_only_a_person_s_own_hooks_are_heard(host: Running, tmp_path: Path) -> None:
    event = {"hook_event_name": "SessionStart", "session_id": "x", "cwd": str(tmp_path), "source": "startup"}
    for role in ("agent", "observer", "worker"):
        body = {"event": event, "process": 1, "attended": True}
        reply = host.request("POST", "/v1/hooks/claude", body, Authorization=f"Bearer {host.token(role)}")
        assert (reply.status, reply.code) == (403, "forbidden")
    reply = host.request("POST", "/v1/hooks/nobody", {}, Authorization=f"Bearer {host.token('operator')}")
    assert (reply.status, reply.code) == (404, "not_found")


def test_switched_off_the_hook_says_and_notes_nothing(host: Running, tmp_path: Path) -> None:
    before = host.done("host.status", {})["events"]
    done = Conversation(host.home, tmp_path / "w", "off").raw(b'{"hook_event_name":"SessionStart"}', STANDFAST_OFF="1")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert host.done("host.status", {})["events"] == before


@pytest.mark.requirement("PLAN-GATE-13")
@pytest.mark.parametrize(
    ("tool", "arguments", "capability"),
    [
        ("Read", {}, "read"),
        ("TodoWrite", {}, "todo_write"),
        ("mcp__standfast__plan_submit", {}, "plan"),
        ("mcp__plugin_standfast_standfast__plan_tick", {}, "tick"),
        ("mcp__standfast__drop", {}, "foreign"),
        ("mcp__other__plan_submit", {}, "foreign"),
        ("Write", {"file_path": "/c/plans/a.md"}, "plan"),
        ("Write", {"file_path": "/c/plans2/a.md"}, "write"),
        ("Write", {"file_path": 7}, "write"),
        ("Tomorrow", {}, "unknown"),
    ],
)
def test_a_tool_is_what_the_clients_table_says(tool: str, arguments: dict[str, Any], capability: str) -> None:
    assert capabilities.of("claude", tool, arguments, "/c/plans") == capability
