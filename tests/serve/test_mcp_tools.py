"""What a model is offered and told over MCP, on a real host."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from standfast.host.catalogue import CATALOGUE
from tests.support.hosts import PLAN, Agent, Running, running_host

CHANGES_WORK = {"plan_begin", "plan_tick"}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_host(tmp_path_factory.mktemp("t") / "home") as running:
        yield running


def approve(host: Running, workspace: Path) -> None:
    """The person's yes to the plan that waits in the workspace."""
    plans = host.done("plan.list", {})["plans"]
    [plan] = [item for item in plans if item["status"] == "pending" and item["checkout"] == str(workspace)]
    seen = {name: plan[name] for name in ("plan", "version", "sha256")}
    host.done("plan.approve", {**seen, "mode": "ask"})


@pytest.mark.requirement("MCP-07", "MCP-11")
def test_tools_have_no_output_schema_and_what_plan_mode_needs_is_read_only(host: Running, tmp_path: Path) -> None:
    with Agent(host.home, tmp_path / "w") as agent:
        tools = {tool["name"]: tool for tool in agent.request("tools/list", {})["tools"]}
        assert not [name for name, tool in tools.items() if "outputSchema" in tool]
        read_only = {name for name, tool in tools.items() if tool.get("annotations", {}).get("readOnlyHint") is True}
        assert read_only == set(tools) - CHANGES_WORK
        assert {"plan_enter", "plan_submit", "plan_status", "plan_read", "plan_tasks"} <= read_only


@pytest.mark.requirement("MCP-07")
def test_an_answer_is_one_short_complete_text(host: Running, tmp_path: Path) -> None:
    with Agent(host.home, tmp_path / "w") as agent:
        answers = [
            agent.request("tools/call", {"name": "plan_submit", "arguments": proposal()}),
            agent.request("tools/call", {"name": "plan_status", "arguments": {}}),
        ]
        approve(host, tmp_path / "w")
        for name, arguments in (("plan_tick", {"title": "one"}), ("plan_tasks", {}), ("resume", {})):
            answers.append(agent.request("tools/call", {"name": name, "arguments": arguments}))
    for answer in answers:
        [part] = answer["content"]
        assert (part["type"], answer.get("isError", False)) == ("text", False)
        assert 0 < len(part["text"]) < 1_200
        assert "structuredContent" not in answer


@pytest.mark.requirement("MCP-08")
@pytest.mark.parametrize(
    ("tool", "arguments", "code", "instead"),
    [
        ("plan_tick", {}, "invalid", "`?id`?.*title"),
        ("plan_tick", {"id": "P-1.99"}, "task_unknown", "P-1"),
        ("plan_tick", {"title": "oen"}, "task_unknown", "one"),
        ("plan_tick", {"id": "one"}, "task_unknown", "P-"),
        ("plan_submit", {"title": "T"}, "invalid", "question"),
        ("plan_submit", {"title": "T", "question": "?", "markdown": "x", "mood": "good"}, "invalid", "mood"),
        ("plan_submit", {"title": " ", "question": "?", "markdown": "x"}, "invalid", "title"),
        ("plan_read", {"plan": "P-77"}, "not_found", "P-77"),
        ("plan_status", {"wait_seconds": 1}, "invalid", "wait_seconds"),
        ("plan_tick", {"title": "one", "session": "ses_x"}, "invalid", "session"),
    ],
)
def test_an_error_says_its_code_and_what_to_send_instead(
    host: Running, tmp_path: Path, tool: str, arguments: dict[str, str], code: str, instead: str
) -> None:
    with Agent(host.home, tmp_path / "w") as agent:
        agent.tool("plan_submit", **proposal())
        approve(host, tmp_path / "w")
        answer = agent.request("tools/call", {"name": tool, "arguments": arguments})
        assert answer["isError"] is True
        [part] = answer["content"]
        assert part["text"].startswith(f"{code}: ")
        assert re.search(instead, part["text"]), part["text"]


@pytest.mark.requirement("MCP-03")
def test_of_two_conversations_in_one_directory_each_call_finds_its_own(host: Running, tmp_path: Path) -> None:
    with Agent(host.home, tmp_path / "w") as one, Agent(host.home, tmp_path / "w") as two:
        for agent, task in ((one, "first"), (two, "second")):
            agent.tool("plan_submit", title=task, question="Go?", markdown=f"- [ ] {task}\n- [ ] rest\n")
            approve(host, tmp_path / "w")
        assert two.tool("plan_tick", title="second").startswith("1/2")
        assert one.tool("plan_tick", title="second").startswith("task_unknown")
        assert one.tool("plan_tick", title="first").startswith("1/2")
        assert "second" not in one.tool("resume")
        assert "first" not in two.tool("plan_tasks")


@pytest.mark.requirement("MCP-06")
def test_no_tool_of_a_model_waits_and_no_program_waits_past_fifty_seconds(host: Running, tmp_path: Path) -> None:
    waiting = [entry for entry in CATALOGUE.values() if entry.waiting is not None]
    assert [entry.name for entry in waiting] == ["plan.status"]
    assert all(entry.tool is None or "wait_seconds" in entry.tool.hidden for entry in waiting)
    with Agent(host.home, tmp_path / "w") as agent:
        assert "wait_seconds" not in json.dumps(agent.request("tools/list", {}))
    _, token = host.session(tmp_path / "w", "waits")
    for seconds in (51, -1, 3_600):
        reply = host.op("plan.status", {"wait_seconds": seconds}, "agent", Standfast_Session=token)
        assert reply.code == "limit"


def proposal() -> dict[str, str]:
    """A plan of three tasks."""
    return {"title": "T", "question": "Go?", "markdown": PLAN}
