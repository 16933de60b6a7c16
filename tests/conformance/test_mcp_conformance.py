"""The official MCP conformance suite against a real host's endpoint, in both protocol eras.

The scenarios are those that apply to any server that offers tools, resources and prompts; the others call the
fixtures of an example server. One of them needs a tool that always fails: it runs against the same endpoint over
such a tool. `expected-failures.yml` says which may fail, and why.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.hosts import Running, running_host

HERE = Path(__file__).parent
STANDIN = HERE.parent / "serve" / "mcp_standin.py"
SOURCE = HERE.parents[1] / "src"
BASELINE = ("--expected-failures", str(HERE / "expected-failures.yml"))
SCENARIOS = (
    "server-initialize",
    "server-session-lifecycle",
    "server-stateless",
    "ping",
    "tools-list",
    "resources-list",
    "prompts-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
    "caching",
    "http-header-validation",
    "sep-2164-resource-not-found",
)


@pytest.fixture(scope="module")
def host(suite: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A running host, once the suite is installed."""
    with running_host(tmp_path_factory.mktemp("conformance") / "home") as running:
        yield running


@pytest.fixture
def failing_tool(suite: list[str], tmp_path: Path) -> Iterator[str]:
    """The address of the endpoint over the suite's own tool that always fails."""
    environ = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, str(STANDIN), str(tmp_path / "home"), "--tcp"]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def passes(suite: list[str], url: str, scenario: str, results: Path, token: str = "") -> None:
    """Runs one scenario; it must pass, and show that it checked something."""
    environ = {"NODE_OPTIONS": f"--import={(HERE / 'bearer.mjs').as_uri()}", "STANDFAST_TOKEN": token}
    done = subprocess.run(
        [*suite, "server", "--url", url, "--scenario", scenario, "-o", str(results), *BASELINE],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **environ},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [report] = results.glob("*/checks.json")
    checks = json.loads(report.read_text())
    assert any(check["status"] == "SUCCESS" for check in checks)
    for check in checks:
        if check["status"] not in ("SUCCESS", "SKIPPED", "INFO"):
            assert check.get("details", {}).get("untestable"), check


@pytest.mark.requirement("MCP-02")
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_endpoint_passes_the_official_scenario(
    suite: list[str], host: Running, scenario: str, tmp_path: Path
) -> None:
    url = f"http://127.0.0.1:{host.facts['port']}/mcp"
    passes(suite, url, scenario, tmp_path / "results", host.token("agent"))


@pytest.mark.requirement("MCP-02")
def test_a_tool_that_fails_is_told_as_the_official_scenario_wants_it(
    suite: list[str], failing_tool: str, tmp_path: Path
) -> None:
    passes(suite, failing_tool, "tools-call-error", tmp_path / "results")
