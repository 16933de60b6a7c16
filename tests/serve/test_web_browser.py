"""A person in a real browser: logs in, sees what waits, decides, and watches it get done."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_web import HOSTILE, origin, ticket

from tests.support.browser import Browser, NoBrowser, browser
from tests.support.hosts import Running, running_host
from tests.support.processes import wait_until

TEXT = "## Steps\n\n- [ ] Back up\n- [ ] Release\n  - **Gate:** human\n"


@pytest.fixture(scope="module")
def window() -> Iterator[Browser]:
    """One browser for this file."""
    try:
        with browser() as window:
            yield window
    except NoBrowser as reason:
        pytest.skip(str(reason))


def submitted(host: Running, folder: Path, markdown: str = TEXT, title: str = "Move it") -> str:
    """A pending plan; the session's token."""
    _, token = host.session(folder, folder.name)
    wish = {"title": title, "question": "Shall I?", "markdown": markdown}
    host.done("plan.submit", wish, "agent", Standfast_Session=token)
    return token


def test_a_person_approves_on_the_page_and_sees_the_work_being_done(window: Browser, tmp_path: Path) -> None:
    with running_host(tmp_path / "home") as host:
        window.open(f"{origin(host)}/#ticket={ticket(host)}")
        window.shows("Waits for you", "Nothing.", "live")
        assert "ticket" not in window.run("return location.href")
        token = submitted(host, tmp_path / "w")
        window.shows("P-1 Move it", "Shall I?", "min")
        window.click(".pending")
        window.shows("Your verdict", "Back up", "waits for a person")
        assert window.run("return document.querySelector('[name=mode]').value") == "ask"
        window.click("[data-do='plan.approve']")
        window.shows("approved", "operator:page", "0/2")
        host.done("plan.tick", {"title": "Back up"}, "agent", Standfast_Session=token)
        host.done("plan.tick", {"title": "Release"}, "agent", Standfast_Session=token)
        window.shows("1/2", "awaiting confirmation")
        window.click("[data-do='plan.confirm']")
        window.shows("2/2", "complete")
        assert [url for url in window.requested() if not url.startswith(f"{origin(host)}/")] == []


def test_a_rejection_takes_its_note_along_and_a_note_survives_news(window: Browser, tmp_path: Path) -> None:
    with running_host(tmp_path / "home") as host:
        submitted(host, tmp_path / "w")
        window.open(f"{origin(host)}/#ticket={ticket(host)}")
        window.shows("P-1 Move it")
        window.click(".pending")
        window.shows("Your verdict")
        window.write("textarea", "Keep the old table.")
        submitted(host, tmp_path / "other", title="Another")
        assert window.run("return document.querySelector('textarea').value") == "Keep the old table."
        window.click("[data-do='plan.reject']")
        window.shows("rejected", "Keep the old table.")
        assert {plan["note"] for plan in host.done("plan.list", {})["plans"]} == {None, "Keep the old table."}


def test_a_verdict_that_another_surface_gave_is_told_and_not_undone(window: Browser, tmp_path: Path) -> None:
    with running_host(tmp_path / "home") as host:
        submitted(host, tmp_path / "w")
        window.open(f"{origin(host)}/#ticket={ticket(host)}")
        window.shows("P-1 Move it")
        window.click(".pending")
        window.shows("Your verdict")
        host.done("plan.reject", {"plan": "P-1"})
        window.shows("rejected")
        assert "Approve" not in window.text()


def test_the_page_comes_back_after_a_restart_of_the_host_and_says_that_it_must_log_in(
    window: Browser, tmp_path: Path
) -> None:
    with running_host(tmp_path / "home") as host:
        submitted(host, tmp_path / "w")
        window.open(f"{origin(host)}/#ticket={ticket(host)}")
        window.shows("P-1 Move it", "live")
        os.kill(host.process.pid, signal.SIGKILL)
        window.shows("not connected")


def test_a_hostile_plan_runs_nothing_in_the_browser(window: Browser, tmp_path: Path) -> None:
    with running_host(tmp_path / "home") as host:
        submitted(host, tmp_path / "w", HOSTILE, title="<script>window.hit=1</script>")
        window.open(f"{origin(host)}/#ticket={ticket(host)}")
        window.shows("P-1 <script>window.hit=1</script>")
        window.click(".pending")
        window.shows("Your verdict", "Look at this")
        assert window.run("return window.hit") is None
        assert window.run("return document.querySelectorAll('main img, main script').length") == 0
        assert [url for url in window.requested() if "evil.example" in url] == []


HOLD_BACK = """
const real = window.fetch;
window.held = [];
window.fetch = async (path, options) => {
  if (path !== "/page/overview") return real(path, options);
  await new Promise((go) => window.held.push(go));
  const answer = await real(path, options);
  const text = answer.text.bind(answer);
  answer.text = async () => { const all = await text(); setTimeout(() => { window.late = true; }); return all; };
  return answer;
};
"""


def test_a_slow_answer_does_not_cover_the_plan_that_the_person_has_gone_to(window: Browser, tmp_path: Path) -> None:
    with running_host(tmp_path / "home") as host:
        submitted(host, tmp_path / "one")
        window.open(f"{origin(host)}/#ticket={ticket(host)}")
        window.shows("P-1 Move it", "live")
        window.run(HOLD_BACK)
        submitted(host, tmp_path / "two", title="Another")
        wait_until(lambda: window.run("return window.held.length") > 0, "the page to ask for the news")
        window.click(".pending")
        window.shows("Your verdict")
        window.run("window.held.forEach((go) => go())")
        wait_until(lambda: window.run("return window.late === true"), "the slow answer")
        assert "Your verdict" in window.text()


def test_the_page_needs_no_scrolling_sideways_on_a_narrow_screen(window: Browser, tmp_path: Path) -> None:
    with running_host(tmp_path / "home") as host:
        submitted(host, tmp_path / "w", TEXT + "\n" + "x" * 5_000 + "\n", title="T" * 200)
        window.open(f"{origin(host)}/#ticket={ticket(host)}")
        window.shows("P-1")
        window.click(".pending")
        window.shows("Your verdict")
        wide = window.run("document.body.style.width='328px'; return document.body.scrollWidth")
        assert wide <= 360
