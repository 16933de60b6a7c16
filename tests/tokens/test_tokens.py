"""Tool list, answers, marker and resume view stay within their budgets of tokens (o200k_base).

The list is counted as a model gets it: name, description and input schema of each tool as compact JSON.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.hosts import Agent, Running, running_host
from tests.support.npm import installed

HERE = Path(__file__).parent
COUNT = """
const { encode } = require('gpt-tokenizer/cjs/encoding/o200k_base');
const texts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(texts.map((text) => encode(text, { allowedSpecial: 'all' }).length)));
"""
Counter = Callable[..., list[int]]


@pytest.fixture(scope="session")
def tokens() -> Counter:
    """Counts the tokens of texts."""
    place = installed(HERE, "token budgets left out")
    node = shutil.which("node")
    assert node is not None, "npm is there, so node is, too"

    def count(*texts: str) -> list[int]:
        done = subprocess.run(
            [node, "-e", COUNT], input=json.dumps(texts), cwd=place, capture_output=True, text=True, check=True
        )
        found: list[int] = json.loads(done.stdout)
        return found

    return count


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Running]:
    """A real host."""
    with running_host(tmp_path / "home") as running:
        yield running


def checklist(count: int) -> str:
    """A plan of short tasks with titles that differ."""
    return "## Steps\n\n" + "".join(f"- [ ] Move module {n} to the new store\n" for n in range(1, count + 1))


def told(host: Running, token: str, operation: str) -> Any:
    """What a session's agent is told."""
    return host.done(operation, {}, "agent", Standfast_Session=token)


def test_the_counter_counts_tokens(tokens: Counter) -> None:
    assert tokens("", "hello world", "<|endoftext|>") == [0, 2, 1]


@pytest.mark.requirement("MCP-05")
def test_the_default_tools_cost_at_most_500_tokens(host: Running, tmp_path: Path, tokens: Counter) -> None:
    with Agent(host.home, tmp_path / "project", "one") as agent:
        listed = agent.request("tools/list", {})["tools"]
    seen = [{name: tool[name] for name in ("name", "description", "inputSchema")} for tool in listed]
    assert len(seen) == 8
    assert tokens(json.dumps(seen, separators=(",", ":"), ensure_ascii=False))[0] <= 500


@pytest.mark.requirement("MCP-05")
def test_all_tools_together_cost_at_most_1200_tokens(host: Running, tmp_path: Path, tokens: Counter) -> None:
    with Agent(host.home, tmp_path / "project", "one", "--tools", "all") as agent:
        listed = agent.request("tools/list", {})["tools"]
    seen = [{name: tool[name] for name in ("name", "description", "inputSchema")} for tool in listed]
    assert {"plan_submit", "resume", "todo_write", "todo_read"} < {tool["name"] for tool in seen}
    assert tokens(json.dumps(seen, separators=(",", ":"), ensure_ascii=False))[0] <= 1_200


@pytest.mark.requirement("LIST-11")
def test_a_todo_writes_answer_costs_at_most_20_tokens(host: Running, tmp_path: Path, tokens: Counter) -> None:
    items = [{"content": f"Move module {n}", "status": "in_progress" if n == 2 else "pending"} for n in range(100)]
    with Agent(host.home, tmp_path / "project", "one", "--tools", "todos") as agent:
        assert tokens(agent.tool("todo_write", todos=items))[0] <= 20


@pytest.mark.requirement("LIST-VIEW-01")
@pytest.mark.parametrize(("count", "budget"), [(5, 300), (256, 1_100)])
def test_a_resume_view_of_todos_stays_within_its_budget(
    count: int, budget: int, host: Running, tmp_path: Path, tokens: Counter
) -> None:
    _, token = host.session(tmp_path / "project")
    items = [{"content": f"Move module {n} to the new store"} for n in range(1, count + 1)]
    host.done("todo.write", {"todos": items}, "agent", Standfast_Session=token)
    view = told(host, token, "context.resume")["text"]
    assert "Move module 1 to the new store" in view
    assert tokens(view)[0] <= budget, view


@pytest.mark.requirement("PLAN-TICK-19")
def test_a_ticks_answer_costs_at_most_15_tokens_beside_the_title(
    host: Running, tmp_path: Path, tokens: Counter
) -> None:
    _, token = host.approved(tmp_path / "project", checklist(500))
    for n in range(1, 4):
        title, following = (f"Move module {at} to the new store" for at in (n, n + 1))
        answer = host.done("plan.tick", {"title": title}, "agent", Standfast_Session=token)["text"]
        assert following in answer
        whole, beside = tokens(answer, following)
        assert whole - beside <= 15, answer


@pytest.mark.requirement("PLAN-MARKER-02")
def test_a_marker_costs_at_most_60_tokens_beside_the_title(host: Running, tmp_path: Path, tokens: Counter) -> None:
    _, token = host.approved(tmp_path / "project", checklist(500))
    marker = told(host, token, "context.marker")["marker"]
    title = "Move module 1 to the new store"
    assert title in marker
    whole, beside = tokens(marker, title)
    assert whole - beside <= 60, marker


@pytest.mark.parametrize(("tasks", "budget"), [(5, 300), (500, 1_100)])
def test_a_resume_view_stays_within_its_budget(
    tasks: int, budget: int, host: Running, tmp_path: Path, tokens: Counter
) -> None:
    _, token = host.approved(tmp_path / "project", checklist(tasks))
    view = told(host, token, "context.resume")["text"]
    assert "Move module 1 to the new store" in view
    assert tokens(view)[0] <= budget, view
