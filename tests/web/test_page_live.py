"""The rest of what a person does on the page: sessions, timeline, search, copies, notices, login and the lock."""

from __future__ import annotations

from pathlib import Path

import pytest

from standfast.host.lock import make_verifier
from tests.support.browser import Browser
from tests.support.hosts import Running
from tests.support.page import address, approved, log_in, origin, submitted, tick
from tests.support.processes import wait_until


@pytest.mark.requirement("PAGE-04")
def test_a_session_shows_its_tracker_what_its_model_reads_and_what_happened(
    window: Browser, host: Running, tmp_path: Path
) -> None:
    plan, token = submitted(host, tmp_path / "w")
    approved(host, plan)
    session = host.done("plan.get", {"plan": plan["plan"]})["session"]
    log_in(window, host)
    window.click(".row .client")
    window.shows("Tracker", "P-1.1", "0/2")
    view = host.done("context.show", {"session": session})
    said = window.run("return [...document.querySelectorAll('main pre')].map((each) => each.textContent)")
    assert said == [view["marker"], view["resume"]]
    tick(host, token, "Back up")
    window.shows("1/2", "P-1.1 was ticked")
    assert host.done("context.show", {"session": session})["shown"] == ""
    window.click(".filters a[href*='kind=turn']")
    window.has(".filters a[aria-current][href*='kind=turn']")
    window.shows("A turn began")
    assert "was ticked" not in window.text()


@pytest.mark.requirement("PAGE-04", "LIST-01")
def test_a_session_shows_the_list_of_each_agent_and_source_live(window: Browser, host: Running, tmp_path: Path) -> None:
    session, token = host.session(tmp_path / "w")
    log_in(window, host, f"/sessions/{session}")
    window.shows("No todo list was written here.")
    items = [{"content": "Read <b>the</b> log", "status": "completed"}, {"content": "Mend it", "status": "in_progress"}]
    host.done("todo.write", {"todos": items}, "agent", Standfast_Session=token)
    window.shows("The agent", "1/2", "Read <b>the</b> log", "a claim, no evidence", "Mend it")
    client = {"todos": [{"content": "Look around"}], "source": "TodoWrite", "agent": "scout", "session": session}
    host.done("todo.capture", client)
    window.shows("scout", "TodoWrite, as the client has it", "Look around")


@pytest.mark.requirement("PAGE-04")
def test_plans_are_found_by_their_words_and_a_link_to_one_stays(window: Browser, host: Running, tmp_path: Path) -> None:
    submitted(host, tmp_path / "w", title="Move the billing tables")
    log_in(window, host, "/search?q=BILLING")
    window.shows("Found for “BILLING”", "Move the billing tables")
    window.write("#find input", "nothing like this\ue007")
    window.shows("No plan holds these words")
    window.open("about:blank")
    window.open(address(host, "P-1"))
    window.shows("Move the billing tables", "Your verdict")
    here = window.run("return location.href")
    assert here.endswith(f"/#/plans/{host.done('plan.get', {'plan': 'P-1'})['plan']}")


@pytest.mark.requirement("PAGE-04")
def test_the_digest_is_copied_and_the_exact_bytes_are_saved(window: Browser, host: Running, tmp_path: Path) -> None:
    plan, _ = submitted(host, tmp_path / "w", "- [ ] one\r\n")
    window.devtools("Browser.grantPermissions", permissions=["clipboardReadWrite"], origin=origin(host))
    log_in(window, host, f"/plans/{plan['plan']}")
    window.has("#text-part[data-ui-loaded]")
    window.run("window.copied = []; navigator.clipboard.writeText = async (text) => { window.copied.push(text); }")
    window.click(".facts .copy")
    wait_until(lambda: window.run("return window.copied") == [plan["sha256"]], "the copy")
    window.devtools("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path / "saved"))
    window.click("[data-view=exact]")
    window.click("[data-download]")
    saved = tmp_path / "saved" / "P-1.md"
    wait_until(saved.exists, "the saved file")
    assert saved.read_bytes() == b"- [ ] one\r\n"


SPY = """
window.told = [];
window.Notification = class { constructor(title, options) { window.told.push([title, options.body]); } };
window.Notification.permission = "granted";
document.hasFocus = () => arguments[0];
"""


@pytest.mark.requirement("PAGE-08")
def test_the_browser_tells_of_a_wanted_verdict_while_the_person_is_elsewhere(
    window: Browser, host: Running, tmp_path: Path
) -> None:
    log_in(window, host)
    window.shows("Notify me")
    window.run(SPY, False)
    submitted(host, tmp_path / "w")
    wait_until(lambda: window.run("return window.told") == [["P-1 waits for your verdict", "Move it"]], "the notice")
    wait_until(lambda: window.run("return document.title") == "(1) Standfast", "the count")
    window.run(SPY, True)
    submitted(host, tmp_path / "v")
    wait_until(lambda: window.run("return document.title") == "(2) Standfast", "the second plan")
    assert window.run("return window.told") == []


@pytest.mark.requirement("PAGE-05")
def test_login_keeps_no_cookie_and_logging_out_leaves_nothing(window: Browser, host: Running, tmp_path: Path) -> None:
    submitted(host, tmp_path / "w")
    window.open(f"{origin(host)}/")
    window.shows("Log in", "standfast web")
    window.write("#enter input", address(host))
    window.click("#enter button")
    window.shows("P-1 Move it", "live")
    assert window.run("return document.cookie + JSON.stringify(localStorage)") == "{}"
    kept = window.run("return sessionStorage.getItem('standfast-bearer')")
    window.click("#logout")
    window.shows("You are logged out.", "standfast web")
    assert "Move it" not in window.text()
    assert window.run("return sessionStorage.length") == 0
    assert host.request("GET", "/page/overview", tcp=True, Authorization=f"Bearer {kept}").status == 401


@pytest.mark.requirement("PAGE-05", "HOST-10")
def test_with_the_operator_lock_closed_the_page_asks_for_the_passphrase(
    window: Browser, host: Running, tmp_path: Path
) -> None:
    plan, _ = submitted(host, tmp_path / "w")
    host.done("operator.protect", {"verifier": make_verifier("größer battery")})
    log_in(window, host, f"/plans/{plan['plan']}")
    window.shows("Your verdict")
    window.click("[data-do='plan.approve']")
    window.shows("The operator lock is closed")
    window.write("#sure input", "not this one")
    window.click("#sure [value=yes]")
    window.shows("That was not the passphrase")
    window.write("#sure input", "größer battery\ue007")
    window.shows("Approved", "a person, on this page")
    assert window.run("return document.querySelector('#sure input').value") == ""


@pytest.mark.requirement("PAGE-01")
def test_a_newcomer_is_told_what_to_do_next(window: Browser, host: Running) -> None:
    log_in(window, host)
    window.shows("Waits for you", "Nothing.", "No agent has spoken to this host yet", "standfast connect claude")


@pytest.mark.requirement("PAGE-01")
def test_the_overview_groups_sessions_by_project_and_says_what_each_does(
    window: Browser, host: Running, tmp_path: Path
) -> None:
    for project in ("one", "two"):
        (tmp_path / project / ".git").mkdir(parents=True)
    plan, token = submitted(host, tmp_path / "one")
    approved(host, plan)
    host.done("plan.status", {}, "agent", Standfast_Session=token)
    host.session(tmp_path / "two", "idle")
    log_in(window, host)
    window.shows("working on P-1.1 Back up", "idle", "0/2")
    names = window.run("return [...document.querySelectorAll('.project h3')].map((each) => each.textContent)")
    assert sorted(names) == ["one", "two"]
