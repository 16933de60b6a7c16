"""A proposal expires in front of the person: the clock of the host runs out on the page, and nothing is approved."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.browser import Browser
from tests.support.hosts import running_host
from tests.support.late_host import command
from tests.support.page import log_in, submitted

HALF_AN_HOUR = 30 * 60_000


@pytest.mark.requirement("PAGE-02")
def test_a_proposal_expires_in_front_of_the_person_and_is_offered_again(window: Browser, tmp_path: Path) -> None:
    ahead = tmp_path / "ahead"
    ahead.write_text("0")
    with running_host(tmp_path / "home", program=command(ahead, tmp_path / "home")) as host:
        plan, _ = submitted(host, tmp_path / "w")
        log_in(window, host, f"/plans/{plan['plan']}")
        window.shows("Your verdict", "30 min left")
        window.write("textarea[name=note]", "I was about to")
        ahead.write_text(str(HALF_AN_HOUR - 6_000))
        host.session(tmp_path / "other", "other")
        window.shows(" s left")
        window.has(".left[data-ui-soon]")
        window.shows("Expired", "Nobody decided in time. Nothing of it was approved")
        window.lacks("[data-do='plan.approve']")
        assert host.done("plan.get", {"plan": plan["plan"]})["error_code"] == "PLAN_APPROVAL_TIMEOUT"
        window.click("[data-do='plan.reoffer']")
        window.shows("P-2 Move it", "Your verdict", "30 min left")
