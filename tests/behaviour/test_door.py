"""The door: who may call what, what a request is answered with, and what is written for it."""

from __future__ import annotations

from typing import Any

import pytest

from standfast.host.catalogue import CATALOGUE
from standfast.host.policy import POLICY, ROLES
from tests.behaviour.doors import Caller, Http
from tests.behaviour.world import World

CALLABLE = [role for role in ROLES if role != "host"]


@pytest.mark.requirement("DOOR-01", "PLAN-CASE-13", "HOST-08")
@pytest.mark.parametrize("role", CALLABLE)
def test_every_operation_that_the_policy_does_not_grant_is_forbidden(world: World, role: str) -> None:
    agent = world.agent()
    count = len(world.events())
    caller = Caller(role, agent.id if role in ("agent", "coordinator") else None, agent.name, str(agent.workspace))
    for operation in CATALOGUE:
        if role not in POLICY[operation]:
            assert world.call(caller, operation, {}).code == "forbidden"
    assert len(world.events()) == count


@pytest.mark.requirement("PLAN-CASE-14", "HTTP-04")
@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer "}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic eDp5"}]
)
def test_nothing_is_answered_without_a_token_of_this_home(world: World, headers: dict[str, str]) -> None:
    if not isinstance(world.door, Http):
        return
    agent = world.agent()
    agent.submit().ok()
    seen = world.person.seen() | {"mode": "ask"}
    for operation in CATALOGUE:
        assert world.door.post(f"/v1/op/{operation}", seen, headers)[0] == 401
    assert world.door.post("/mcp", {}, headers)[0] == 401
    assert world.person.status() == "pending"


@pytest.mark.requirement("DOOR-11", "DOOR-09")
def test_unknown_operations_and_fields_and_wrong_types_have_their_codes(world: World) -> None:
    assert world.person.do("plan.conquer").code in ("unknown_operation", "not_found")
    wrong: list[dict[str, Any]] = [{"nope": 1}, {"plan": 1}, {"plan": ["P-1"]}, {"plan": None}, {}]
    for payload in wrong:
        assert world.person.do("plan.get", **payload).code == "invalid"
    assert world.person.do("plan.get", plan="P-1").code == "not_found"


@pytest.mark.requirement("I3", "DOOR-10", "I12")
@pytest.mark.parametrize("request_id", ["", " ", "x" * 201, "a\nb"])
def test_a_request_id_that_does_not_fit_is_refused(world: World, request_id: str) -> None:
    if isinstance(world.door, Http) and (not request_id.strip() or "\n" in request_id):
        return
    agent = world.agent().works()
    caller = Caller("agent", agent.id, agent.name)
    assert world.call(caller, "plan.tick", {"title": "one"}, request_id).code == "invalid"
    assert world.person.ticks() == []


@pytest.mark.requirement("I4")
def test_a_receipt_belongs_to_its_actor_and_operation(world: World) -> None:
    one, two = world.agent(name="one").works(), world.agent(name="two").works()
    first = one.do("plan.tick", request="same", title="one").ok()
    second = two.do("plan.tick", request="same", title="one").ok()
    assert first.text.split(" · ")[0] == second.text.split(" · ")[0] == "1/3"
    one.do("plan.begin", request="same", title="two").ok()
    plans = world.person.done("plan.list")["plans"]
    assert [plan["done"] for plan in plans] == [1, 1]


@pytest.mark.requirement("I4")
def test_old_receipts_are_pruned_and_those_of_verdicts_are_kept(world: World) -> None:
    agent = world.agent()
    agent.submit().ok()
    verdict = world.person.seen() | {"mode": "ask"}
    world.person.do("plan.approve", request="v", **verdict).ok()
    agent.do("plan.tick", request="t", title="one").ok()
    world.clock.passes(31 * 24 * 3_600_000)
    assert world.person.done("receipts.prune")["receipts"] >= 1
    assert world.person.do("plan.approve", request="v", **verdict).ok().replayed
    assert "already" in agent.do("plan.tick", request="t", title="one").ok().text


@pytest.mark.requirement("STORE-09", "STORE-11")
def test_the_journal_is_read_in_order_and_in_pages(world: World) -> None:
    agent = world.agent().works()
    for title in ("one", "two", "three"):
        agent.tick(title).ok()
    numbers = [event["seq"] for event in world.events()]
    assert numbers == sorted(set(numbers))
    page = world.person.done("events.list", after=numbers[2], limit=2)["events"]
    assert [event["seq"] for event in page] == numbers[3:5]


@pytest.mark.requirement("HOST-08", "MCP-04")
def test_a_session_is_spoken_for_only_with_its_proof(world: World) -> None:
    one, two = world.agent(name="one").works(), world.agent("elsewhere", name="two")
    assert two.do("plan.tick", title="one", session=one.id).code in ("wrong_session", "invalid")
    assert world.call(Caller("agent", None, "stranger"), "plan.tick", {"title": "one"}).code == "session_required"
    assert world.call(Caller("coordinator", two.id), "turn.start", {"turn": "t", "session": one.id}).code == (
        "wrong_session"
    )
    assert world.person.ticks() == []
