"""A person in a real browser: sees what waits, decides, and watches it get done; two pages, both live."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.browser import Browser
from tests.support.hosts import Running
from tests.support.page import address, approved, log_in, origin, proposed, submitted, tick
from tests.support.processes import wait_until
from tests.support.terminal import ended, on_terminal

pytestmark = pytest.mark.requirement("PAGE-01")


def test_from_a_pending_plan_to_the_last_tick_on_two_pages_that_are_both_live(
    window: Browser, host: Running, tmp_path: Path
) -> None:
    window.open(address(host))
    window.shows("Waits for you", "Nothing.", "live")
    assert "ticket" not in window.run("return location.href")
    plan, token = submitted(host, tmp_path / "w")
    window.shows("P-1 Move it", "Shall I?", "min left")
    first = window.handle()
    window.second()
    log_in(window, host, f"/plans/{plan['plan']}")
    window.shows("Your verdict", "Back up", "a person confirms it")
    second = window.handle()
    window.turn_to(first)
    window.click(".wait .title")
    window.shows("Your verdict")
    assert window.run("return document.querySelector('[name=mode]:checked').value") == "ask"
    window.click("[data-do='plan.approve']")
    for page in (first, second):
        window.turn_to(page)
        window.shows("Approved", "a person, on this page", "0/2")
    tick(host, token, "Back up")
    tick(host, token, "Release")
    for page in (first, second):
        window.turn_to(page)
        window.shows("1/2", "ticked by the agent")
    window.click("[data-do='plan.confirm']")
    for page in (first, second):
        window.turn_to(page)
        window.shows("2/2", "complete", "confirmed by a person, on this page")
    assert [url for url in window.requested() if not url.startswith(f"{origin(host)}/")] == []


def test_a_rejection_takes_its_note_along_and_a_note_survives_news(
    window: Browser, host: Running, tmp_path: Path
) -> None:
    plan, _ = submitted(host, tmp_path / "w")
    log_in(window, host, f"/plans/{plan['plan']}")
    window.shows("Your verdict")
    window.write("textarea[name=note]", "Keep the old table.")
    submitted(host, tmp_path / "other", title="Another")
    wait_until(lambda: window.run("return document.title") == "(2) Standfast", "the news")
    assert window.run("return document.querySelector('textarea').value") == "Keep the old table."
    window.click("[data-do='plan.reject']")
    window.shows("Rejected", "Keep the old table.")
    assert {each["note"] for each in host.done("plan.list", {})["plans"]} == {None, "Keep the old table."}


def test_a_verdict_that_another_surface_gave_is_told_and_not_undone(
    window: Browser, host: Running, tmp_path: Path
) -> None:
    plan, _ = submitted(host, tmp_path / "w")
    log_in(window, host, f"/plans/{plan['plan']}")
    window.shows("Your verdict")
    host.done("plan.reject", {"plan": plan["plan"]})
    window.shows("Rejected", "a person, on the command line")
    assert not window.run("return document.querySelector('[data-do^=\"plan.approve\"]')")


STOP_NEWS = """
const real = window.fetch;
window.fetch = (path, options) => path.startsWith("/page/") ? new Promise(() => {}) : real(path, options);
"""


@pytest.mark.parametrize("button", ["plan.approve", "plan.adopt"])
def test_a_click_that_comes_after_another_verdict_changes_nothing_and_says_why(
    window: Browser, host: Running, tmp_path: Path, button: str
) -> None:
    plan, _ = submitted(host, tmp_path / "w")
    log_in(window, host, f"/plans/{plan['plan']}")
    window.shows("Your verdict")
    window.click("#edit summary")
    wait_until(lambda: window.run("return document.querySelector('[name=edited]').value") != "", "the text to edit")
    window.run(STOP_NEWS)
    host.done("plan.reject", {"plan": plan["plan"], "note": "No."})
    window.run(f"document.querySelector('[data-do=\"{button}\"]').click()")
    window.has("#message:not([hidden])")
    window.shows("verdict")
    found = host.done("plan.list", {})["plans"]
    assert [(each["status"], each["note"]) for each in found] == [("rejected", "No.")]


def test_a_verdict_on_the_page_wins_over_a_terminal_that_still_asks(
    window: Browser, host: Running, tmp_path: Path
) -> None:
    plan, _ = submitted(host, tmp_path / "w")
    log_in(window, host, f"/plans/{plan['plan']}")
    window.shows("Your verdict")
    terminal = on_terminal(host.home, "plans approve P-1 --mode auto")
    terminal.expect("Approve P-1")
    window.click("[data-do='plan.reject']")
    window.shows("Rejected")
    terminal.sendline("y")
    status, said = ended(terminal)
    assert (status, "conflict" in said) == (1, True)
    assert host.done("plan.get", {"plan": plan["plan"]})["status"] == "rejected"


def test_of_two_verdicts_at_once_exactly_one_counts_and_the_other_is_told(
    window: Browser, host: Running, tmp_path: Path
) -> None:
    for n in range(4):
        plan, _ = submitted(host, tmp_path / f"w{n}")
        log_in(window, host, f"/plans/{plan['plan']}")
        window.shows("Your verdict")
        seen = {"plan": plan["plan"], "version": plan["version"], "sha256": plan["sha256"], "mode": "auto"}
        with ThreadPoolExecutor(1) as other:
            reply = other.submit(host.op, "plan.approve", seen)
            window.run("document.querySelector('[data-do=\"plan.reject\"]')?.click()")
        status = host.done("plan.get", {"plan": plan["plan"]})["status"]
        assert (reply.result().status == 200) == (status == "approved")
        window.shows({"approved": "By a person, on the command line", "rejected": "By a person, on this page"}[status])


def test_an_edited_version_is_approved_in_the_proposals_place(window: Browser, host: Running, tmp_path: Path) -> None:
    plan, _ = submitted(host, tmp_path / "w")
    log_in(window, host, f"/plans/{plan['plan']}")
    window.shows("Your verdict")
    window.click("#edit summary")
    wait_until(lambda: "Back up" in window.run("return document.querySelector('[name=edited]').value"), "the text")
    window.write("[name=edited]", "- [ ] And look twice\n")
    window.click("[data-do='plan.adopt']")
    window.shows("P-2 Move it", "Approved", "And look twice", "0/3", "Compared with", "P-1 Move it")
    assert {each["number"]: each["status"] for each in host.done("plan.list", {})["plans"]} == {
        "P-1": "rejected",
        "P-2": "approved",
    }


def test_a_revision_shows_what_changed_and_carries_over_what_is_ticked(
    window: Browser, host: Running, tmp_path: Path
) -> None:
    steps = "- [ ] one\n- [ ] two\n  - **Gate:** human\n- [ ] three\n"
    plan, token = submitted(host, tmp_path / "w", steps)
    approved(host, plan)
    tick(host, token, "one")
    tick(host, token, "two")
    host.done("plan.confirm", {"id": "P-1.2"})
    host.done("plan.enter", {}, "agent", Standfast_Session=token)
    revision = proposed(host, token, steps.replace("three", "three or four"))
    log_in(window, host, f"/plans/{revision['plan']}")
    window.shows("2 of 3 are already done in the plan before", "Compared with", "+1", "−1")
    assert window.run("return document.querySelector('.line.added mark').textContent").strip() == "or four"
    boxes = "return [...document.querySelectorAll('[name=carry]')].map((box) => box.checked)"
    assert window.run(boxes) == [True, False]
    window.run("document.querySelectorAll('[name=carry]')[1].click()")
    window.click("[data-do='plan.approve']")
    window.shows("Approved", "2/3", "carried over")


def test_an_uncertain_task_is_resolved_by_a_person_on_the_page(window: Browser, host: Running, tmp_path: Path) -> None:
    plan, token = submitted(host, tmp_path / "w", "- [ ] drop\n  - **Effect:** irreversible\n")
    approved(host, plan)
    session = plan["session"] if "session" in plan else host.done("plan.get", {"plan": plan["plan"]})["session"]
    host.done("turn.start", {"turn": "t1", "session": session})
    host.done("plan.begin", {"title": "drop"}, "agent", Standfast_Session=token)
    host.done("turn.end", {"stop_reason": "lost", "session": session})
    log_in(window, host)
    window.shows("nobody knows whether it happened")
    window.click(".wait.outcome .title")
    window.has("[data-outcome=done]")
    window.click("[data-outcome=done]")
    window.shows("1/1", "complete", "said to be done")


def test_a_plan_is_stopped_only_after_a_second_look(window: Browser, host: Running, tmp_path: Path) -> None:
    plan, _ = submitted(host, tmp_path / "w")
    approved(host, plan)
    log_in(window, host, f"/plans/{plan['plan']}")
    window.has("#more")
    window.click("#more summary")
    window.click("[data-do='plan.abandon']")
    window.shows("Abandon P-1 for good?")
    window.click("#sure [value=no]")
    assert host.done("plan.get", {"plan": plan["plan"]})["tracker"] == "active"
    window.click("[data-do='plan.abandon']")
    window.click("#sure [value=yes]")
    window.shows("abandoned")
    assert host.done("plan.get", {"plan": plan["plan"]})["tracker"] == "abandoned"


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


def test_a_slow_answer_does_not_cover_the_plan_that_the_person_has_gone_to(
    window: Browser, host: Running, tmp_path: Path
) -> None:
    submitted(host, tmp_path / "one")
    log_in(window, host)
    window.shows("P-1 Move it")
    window.run(HOLD_BACK)
    submitted(host, tmp_path / "two", title="Another")
    wait_until(lambda: window.run("return window.held.length") > 0, "the page to ask for the news")
    window.click(".wait .title")
    window.shows("Your verdict")
    window.run("window.held.forEach((go) => go())")
    wait_until(lambda: window.run("return window.late === true"), "the slow answer")
    assert "Your verdict" in window.text()
