"""Agents over the real pipe: what they can do, and that nothing acknowledged is lost when the host is killed."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.hosts import PLAN, Agent, running_host, stop_any

WRITERS = 4
EACH = 25


def test_an_agent_works_through_a_plan_while_the_host_is_killed(home: Path, tmp_path: Path) -> None:
    work = tmp_path / "w"
    with running_host(home) as host, Agent(home, work) as agent:
        assert "P-1 pending" in agent.tool("plan_submit", title="T", question="Go?", markdown=PLAN)
        plan = host.done("plan.get", {"plan": "P-1"})
        wish = {"plan": "P-1", "version": plan["version"], "sha256": plan["sha256"], "mode": "ask"}
        host.done("plan.approve", wish)
        assert "was approved by a person" in agent.tool("plan_status")
        assert "was approved" not in agent.tool("plan_status")
        assert agent.tool("plan_tick", title="one").startswith("1/3")
        host.process.kill()
        with running_host(home) as after:
            assert agent.tool("plan_tick", title="two").startswith("2/3")
            assert "Execution interrupted" in agent.tool("resume")
            assert "P-1.3" in agent.tool("resume")
            assert agent.tool("plan_tick", id="P-1.3").startswith("3/3")
            assert after.done("audit.verify", {})["ok"]


@pytest.mark.requirement("MCP-12")
def test_the_endpoint_is_the_agents_whatever_token_it_is_reached_with(home: Path, tmp_path: Path) -> None:
    work = tmp_path / "w"
    with running_host(home) as host:
        (home / "tokens" / "agent").write_text(host.token("operator"))
        with Agent(home, work) as agent:
            agent.tool("plan_submit", title="T", question="Go?", markdown=PLAN)
            names = {tool["name"] for tool in agent.request("tools/list", {})["tools"]}
            assert not any("approve" in name or "reject" in name or "confirm" in name for name in names)
            assert "pending" in agent.tool("plan_status")
            assert agent.tool("plan_tick", title="one").startswith("no_active_plan")
        assert host.done("plan.get", {"plan": "P-1"})["status"] == "pending"


def test_four_writers_at_once_lose_no_tick_with_the_host_killed_in_the_middle(home: Path, tmp_path: Path) -> None:
    markdown = "## Steps\n" + "".join(f"- [ ] task {n}\n" for n in range(1, EACH + 1))
    acknowledged: list[tuple[int, str]] = []
    with running_host(home) as host:
        agents = [Agent(home, tmp_path / f"w{n}") for n in range(WRITERS)]
        for number, agent in enumerate(agents, start=1):
            agent.tool("plan_submit", title=f"T{number}", question="Go?", markdown=markdown)
        for plan in host.done("plan.list", {})["plans"]:
            seen = {"plan": plan["plan"], "version": plan["version"], "sha256": plan["sha256"]}
            host.done("plan.approve", {**seen, "mode": "ask"})
        killed = threading.Event()

        def work(number: int) -> None:
            for task in range(1, EACH + 1):
                text = agents[number].tool("plan_tick", title=f"task {task}")
                acknowledged.append((number, text))
                if len(acknowledged) > WRITERS * EACH // 2 and not killed.is_set():
                    killed.set()
                    os.kill(host.process.pid, signal.SIGKILL)

        _at_once(work)
        for agent in agents:
            agent.close()
    stop_any(home)
    assert len(acknowledged) == WRITERS * EACH
    with running_host(home) as after:
        plans = after.done("plan.list", {})["plans"]
        assert [plan["done"] for plan in plans] == [EACH] * WRITERS
        for plan in plans:
            done = [item["task"] for item in after.done("plan.ticks", {"plan": plan["plan"]})["ticks"]]
            assert len(done) == len(set(done)) == EACH
        assert after.done("audit.verify", {})["ok"]


def test_four_writers_at_once_lose_no_submission_with_the_host_killed_in_the_middle(home: Path, tmp_path: Path) -> None:
    rounds = 5
    answers: list[str] = []
    with running_host(home) as host:
        killed = threading.Event()

        def work(number: int) -> None:
            for turn in range(rounds):
                with Agent(home, tmp_path / f"w{number}") as agent:
                    title = f"plan {number}.{turn}"
                    answers.append(agent.tool("plan_submit", title=title, question="Go?", markdown=PLAN))
                if len(answers) > WRITERS * rounds // 2 and not killed.is_set():
                    killed.set()
                    os.kill(host.process.pid, signal.SIGKILL)

        _at_once(work)
    stop_any(home)
    assert all("pending: 3 tasks" in answer for answer in answers)
    with running_host(home) as after:
        plans = after.done("plan.list", {"limit": 500})["plans"]
        assert {plan["title"] for plan in plans} == {f"plan {n}.{t}" for n in range(WRITERS) for t in range(rounds)}
        assert len(plans) == WRITERS * rounds
        for plan in plans:
            assert (Path(plan["checkout"]) / plan["path"]).read_text() == PLAN
        files = [path for n in range(WRITERS) for path in (tmp_path / f"w{n}" / ".standfast" / "plan").glob("*.md")]
        assert len(files) == len(plans)
        assert after.done("audit.verify", {})["ok"]


def _at_once(work: Callable[[int], None]) -> None:
    """Runs `work` for every writer at the same time; a writer's failure fails the test."""
    failures: list[BaseException] = []

    def guarded(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not failures, failures
