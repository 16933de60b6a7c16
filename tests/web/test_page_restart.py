"""An open page lives through a restart of the host, and shows what the restart interrupted."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.support.browser import Browser
from tests.support.hosts import running_host
from tests.support.page import bearer, log_in, origin, submitted


@pytest.mark.requirement("PAGE-03")
def test_an_open_page_comes_back_after_a_crash_and_the_interrupted_plan_is_offered_again(
    window: Browser, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    with running_host(home) as host:
        port = str(host.facts["port"])
        plan, _ = submitted(host, tmp_path / "w")
        log_in(window, host, f"/plans/{plan['plan']}")
        window.shows("Your verdict", "Back up")
        host.process.signal(signal.SIGKILL)
        window.shows("not connected, trying again", "Your verdict")
        window.run("document.querySelector('[data-do=\"plan.approve\"]').click()")
        window.shows("The host does not answer. Nothing is known to be decided")
    with running_host(home, "--port", port) as host:
        window.shows("live", "The host was restarted", "Interrupted", "Nothing of it was approved")
        window.click("[data-do='plan.reoffer']")
        window.shows("P-2 Move it", "Your verdict")
        window.click("[data-do='plan.approve']")
        window.shows("Approved", "0/2")
        assert [each["status"] for each in host.done("plan.list", {})["plans"]] == ["approved", "interrupted"]


@pytest.mark.requirement("PAGE-03")
def test_the_overview_offers_again_what_a_restart_interrupted(window: Browser, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with running_host(home) as host:
        port = str(host.facts["port"])
        submitted(host, tmp_path / "w")
        log_in(window, host)
        window.shows("P-1 Move it", "min left")
    window.shows("not connected")
    with running_host(home, "--port", port):
        window.shows("The host was restarted while it waited.")
        window.click("[data-do='plan.reoffer']")
        window.shows("P-2 Move it", "Your verdict")


@pytest.mark.requirement("PAGE-05")
def test_a_page_stays_logged_in_over_a_restart_and_a_page_that_logged_out_does_not_come_back(tmp_path: Path) -> None:
    with running_host(tmp_path / "home") as host:
        stays, leaves = bearer(host), bearer(host)
        host.request("POST", "/v1/web/logout", {}, tcp=True, Authorization=leaves, Origin=origin(host))
        kept = host.home / "pages.json"
        assert kept.stat().st_mode & 0o777 == 0o600
        assert stays.removeprefix("Bearer ") not in kept.read_text()
    with running_host(tmp_path / "home") as host:
        assert host.request("GET", "/page/overview", tcp=True, Authorization=stays).status == 200
        assert host.request("GET", "/page/overview", tcp=True, Authorization=leaves).status == 401
