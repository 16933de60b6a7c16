"""The main job: a plan is proposed, approved, worked through, and nothing that happens in between changes it."""

from __future__ import annotations

import pytest

from tests.behaviour.world import FIVE, THREE, World, digest

requirement = pytest.mark.requirement


@pytest.mark.requirement("PLAN-SUBMIT-08", "PLAN-SUBMIT-16", "PLAN-SUBMIT-17")
def test_a_submission_is_pending_and_its_file_holds_the_exact_bytes(world: World) -> None:
    agent = world.agent()
    said = agent.submit(THREE).ok()
    assert said.text.startswith("P-1 pending: 3 tasks")
    assert "End your turn" in said.text
    card = world.person.card()
    assert (card["status"], card["sha256"], card["size"]) == ("pending", digest(THREE.encode()), len(THREE))
    (file,) = agent.files()
    assert file.read_bytes() == THREE.encode()
    assert card["path"] == str(file.relative_to(agent.workspace))


@pytest.mark.requirement("PLAN-VERDICT-04", "PLAN-EXECUTION-01", "PLAN-TICK-19")
def test_an_approved_plan_is_handed_out_once_and_ticked_to_its_end(world: World) -> None:
    agent = world.agent()
    agent.submit().ok()
    assert "pending" in agent.do("plan.status").ok().text
    world.person.approve(mode="accept_edits").ok()
    assert agent.session()["mode"] == "agent"
    assert agent.session()["permission_mode"] == "accept_edits"
    instruction = agent.do("plan.status").ok().text
    for part in ("was approved by a person", THREE.strip(), agent.files()[0].name, "Go?"):
        assert part in instruction
    assert "was approved by a person" not in agent.do("plan.status").ok().text
    assert [agent.tick(title).ok().text for title in ("one", "two", "three")] == [
        "1/3 · next P-1.2 two",
        "2/3 · next P-1.3 three",
        "3/3 · all done",
    ]
    assert world.person.states() == ["done"] * 3


@pytest.mark.requirement("PLAN-CASE-19", "PLAN-EXECUTION-12", "PLAN-EXECUTION-13", "I7")
@pytest.mark.parametrize("when", ["pending", "queued", "running"])
def test_a_restart_keeps_three_of_five_ticks_and_interrupts_what_was_live(world: World, when: str) -> None:
    agent = world.agent().works(FIVE)
    for title in ("one", "two", "three"):
        agent.tick(title).ok()
    if when != "running":
        agent.reports("turn.end", stop_reason="completed").ok()
        agent.submit(FIVE.replace("five", "six"), title="Second").ok()
    if when == "queued":
        world.person.approve("P-2", carry=[]).ok()
    before = world.person.ticks()
    world.restart()
    assert world.person.ticks() == before
    card = world.person.card("P-1" if when == "running" else "P-2")
    assert (card["status"], card["execution"]) == {
        "pending": ("interrupted", None),
        "queued": ("approved", "interrupted"),
        "running": ("approved", "interrupted"),
    }[when]
    assert agent.session()["mode"] == ("plan" if when == "pending" else "agent")
    if when != "pending":
        assert agent.tick("four").ok().text.startswith("1/5" if when == "queued" else "4/5")
