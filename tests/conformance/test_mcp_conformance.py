"""The official MCP conformance suite against the endpoint on a real server, in both protocol eras.

The scenarios are those that apply to any server that offers tools, resources and prompts; the others call the
fixtures of an example server. `expected-failures.yml` says which may fail, and why.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

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
    "tools-call-error",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
    "caching",
    "http-header-validation",
    "sep-2164-resource-not-found",
)


@pytest.fixture(scope="module")
def url(suite: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the endpoint on a loopback port."""
    home = tmp_path_factory.mktemp("conformance")
    environ = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, str(STANDIN), str(home / "home"), "--tcp"]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.kill()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_endpoint_passes_the_official_scenario(suite: list[str], url: str, scenario: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [*suite, "server", "--url", url, "--scenario", scenario, "-o", str(tmp_path), *BASELINE],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [report] = tmp_path.glob("*/checks.json")
    checks = json.loads(report.read_text())
    assert any(check["status"] == "SUCCESS" for check in checks)
    for check in checks:
        if check["status"] not in ("SUCCESS", "SKIPPED", "INFO"):
            assert check.get("details", {}).get("untestable"), check
