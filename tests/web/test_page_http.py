"""The page over HTTP: who gets in, what it is made of, and that nothing in a plan can speak through it."""

from __future__ import annotations

from pathlib import Path

import pytest

from standfast.serve.web.fragments import rendered
from standfast.serve.web.routes import FILES
from standfast.serve.web.tickets import BEARER_SECONDS, MOST, TICKET_SECONDS, Tickets
from tests.support.hosts import Running
from tests.support.page import bearer, origin, ticket

HOSTILE = (
    "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n![i](https://evil.example/i.png)\n\n"
    "[a](javascript:alert(1)) [b](data:text/html,x) [c](https://example.org)\n\n- [ ] <b onclick=x>bold</b>\u202e\n"
)


def test_a_ticket_opens_once_and_only_from_the_page_itself(host: Running) -> None:
    found = {"ticket": ticket(host)}
    assert host.request("POST", "/v1/web/login", found, tcp=True).status == 403
    assert host.request("POST", "/v1/web/login", found, tcp=True, Origin="http://evil.example").status == 403
    assert host.request("POST", "/v1/web/login", found, tcp=True, Origin=origin(host)).status == 200
    assert host.request("POST", "/v1/web/login", found, tcp=True, Origin=origin(host)).status == 401
    for wrong in ({}, {"ticket": ""}, {"ticket": 1}, {"ticket": "x" * 10_000}):
        assert host.request("POST", "/v1/web/login", wrong, tcp=True, Origin=origin(host)).status == 401


@pytest.mark.parametrize("role", ["agent", "observer", "worker"])
def test_only_the_operators_own_token_gets_a_ticket(host: Running, role: str) -> None:
    assert host.request("POST", "/v1/web/ticket", Authorization=f"Bearer {host.token(role)}").status == 403
    assert host.request("POST", "/v1/web/ticket").status == 401
    assert host.request("POST", "/v1/web/ticket", Authorization=bearer(host)).status == 403


@pytest.mark.parametrize("path", [*FILES, "/page/overview", "/page/timeline", "/page/search"])
def test_every_part_of_the_page_is_served_under_a_strict_policy(host: Running, path: str) -> None:
    reply = host.request("GET", path, tcp=True, Authorization=bearer(host))
    assert reply.status == 200
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http:" not in policy
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["referrer-policy"] == "no-referrer"
    assert "set-cookie" not in reply.headers


@pytest.mark.parametrize("path", ["/page/overview", "/page/plans/P-1"])
def test_fragments_are_for_people_only(host: Running, tmp_path: Path, path: str) -> None:
    host.approved(tmp_path / "w")
    assert host.request("GET", path, tcp=True).status == 401
    assert host.request("GET", path, tcp=True, Authorization=f"Bearer {host.token('agent')}").status == 403
    assert host.request("GET", path, tcp=True, Authorization=f"Bearer {host.token('observer')}").status == 200
    assert host.request("GET", path, tcp=True, Host="rebound.example", Authorization=bearer(host)).status == 403


def test_a_page_decides_over_what_it_showed_and_only_with_its_origin(host: Running, tmp_path: Path) -> None:
    _, token = host.session(tmp_path / "w")
    wish = {"title": "T", "question": "Q?", "markdown": "- [ ] one\n"}
    plan = host.done("plan.submit", wish, "agent", Standfast_Session=token)
    page = bearer(host)
    verdict = {"plan": plan["plan"], "version": plan["version"], "sha256": plan["sha256"], "mode": "ask"}
    approve = "/v1/op/plan.approve"
    assert host.request("POST", approve, verdict, tcp=True, Authorization=page).status == 403
    assert host.request("POST", approve, verdict, tcp=True, Authorization=page, Origin="null").status == 403
    stale = verdict | {"version": 9}
    assert host.request("POST", approve, stale, tcp=True, Authorization=page, Origin=origin(host)).code == "stale"
    reply = host.request("POST", approve, verdict, tcp=True, Authorization=page, Origin=origin(host))
    assert reply.json["result"]["resolver"] == "operator:page"
    card = host.request("GET", "/page/plans/P-1", tcp=True, Authorization=page).body.decode()
    assert "a person, on this page" in card
    assert "0/1" in card


def test_after_logging_out_the_bearer_is_nothing(host: Running) -> None:
    page = bearer(host)
    assert host.request("POST", "/v1/web/logout", {}, tcp=True, Authorization=page, Origin=origin(host)).status == 200
    assert host.request("GET", "/page/overview", tcp=True, Authorization=page).status == 401


def test_a_hostile_plan_is_shown_and_does_nothing(host: Running, tmp_path: Path) -> None:
    _, token = host.session(tmp_path / "w")
    wish = {"title": "<script>t</script>", "question": "<img src=x onerror=q>", "markdown": HOSTILE}
    host.done("plan.submit", wish, "agent", Standfast_Session=token)
    for path in ("/page/overview", "/page/plans/P-1", "/page/plans/P-1/text", "/page/search", "/page/timeline"):
        html = host.request("GET", path, tcp=True, Authorization=bearer(host)).body.decode()
        for part in ("<script", "<img", "onerror=alert(1)>", 'javascript:alert(1)"', 'data:text/html,x"', "\u202e"):
            assert part not in html
        assert ("\\u202e" in html) == (path in ("/page/plans/P-1", "/page/plans/P-1/text"))
        assert "&lt;script&gt;" in html


@pytest.mark.parametrize(
    "markdown", ["x" * 524_288, "> " * 2_000 + "x", "[" * 20_000, "| a |\n|---|\n" + "| b |\n" * 5_000]
)
def test_large_and_deep_texts_are_rendered(markdown: str) -> None:
    assert rendered(markdown)


def test_tickets_and_bearers_end_by_the_clock_and_are_few() -> None:
    now = [0.0]
    tickets = Tickets(lambda: now[0])
    first, late = tickets.issue(), tickets.issue()
    now[0] = TICKET_SECONDS - 1
    page = tickets.redeem(first)
    assert page is not None
    now[0] = TICKET_SECONDS
    assert tickets.redeem(late) is None
    now[0] += BEARER_SECONDS - 2
    assert tickets.holds(page)
    now[0] += BEARER_SECONDS
    assert not tickets.holds(page)
    many = [tickets.issue() for _ in range(MOST + 1)]
    assert tickets.redeem(many[0]) is None
    assert tickets.redeem(many[-1]) is not None
