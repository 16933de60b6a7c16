"""What the page reads, over HTTP and on both databases."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.hosts import running_host
from tests.support.page import bearer, proposed

LONG = 2**53


@pytest.mark.requirement("PAGE-04")
def test_overview_comparison_search_and_timeline_are_the_same_on_both_databases(home: Path, tmp_path: Path) -> None:
    with running_host(home) as host:
        first, token = host.approved(tmp_path / "w", "- [ ] Größe 100% prüfen\n- [ ] two\n")
        host.done("plan.tick", {"title": "two"}, "agent", Standfast_Session=token)
        host.done("plan.enter", {}, "agent", Standfast_Session=token)
        second = proposed(host, token, "- [ ] Größe 50% prüfen\n- [ ] two\n")
        [shown] = host.done("session.overview", {})["sessions"]
        assert (shown["activity"]["state"], shown["plan"]["number"]) == ("waiting", "P-2")
        assert [wait["for"] for wait in shown["waits"]] == ["verdict"]
        found = host.done("plan.compare", {"plan": second["plan"]})
        assert (found["base"]["plan"], found["added"], found["removed"]) == (first["plan"], 1, 1)
        for text, numbers in (("100%", ["P-1"]), ("Größe", ["P-2", "P-1"]), ("TWO", ["P-2", "P-1"]), ("1_0%", [])):
            plans = host.done("host.search", {"text": text})["plans"]
            assert [plan["number"] for plan in plans] == numbers, text
        assert [each["client"] for each in host.done("host.search", {"text": "TEST"})["sessions"]] == ["test"]
        newest = host.done("events.list", {"before": LONG, "kind": "plan", "limit": 2})["events"]
        assert [event["kind"] for event in newest] == ["plan.submitted", "plan.approved"]
        page = bearer(host)
        for place in (
            "overview",
            f"plans/{second['plan']}",
            f"sessions/{shown['session']}",
            "timeline",
            "search?q=two",
        ):
            assert host.request("GET", f"/page/{place}", tcp=True, Authorization=page).status == 200, place
