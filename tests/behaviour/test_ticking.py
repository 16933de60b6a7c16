"""Ticking: which reference means which task, what is accepted, what is recorded, and what a person must say."""

from __future__ import annotations

import pytest

from tests.behaviour.world import FIVE, THREE, World

DANGER = "- [ ] Prepare\n- [ ] Drop the tables\n  - **Effect:** irreversible\n- [ ] Tidy up\n"
GATED = "- [ ] Draft\n- [ ] Release\n  - **Gate:** human\n- [ ] Announce\n  - **After:** Release\n- [ ] Tidy\n"


@pytest.mark.requirement("PLAN-TICK-01", "PLAN-CASE-37")
@pytest.mark.parametrize(
    "named",
    [{}, {"id": "P-1.1", "title": "one"}, {"id": ""}, {"title": ""}, {"id": "x" * 129}, {"title": "x" * 2_001}],
    ids=["neither", "both", "empty id", "empty title", "long id", "long title"],
)
def test_a_tick_names_exactly_one_of_id_and_title(world: World, named: dict[str, str]) -> None:
    agent = world.agent().works()
    assert agent.tick(**named).code in ("invalid", "limit")
    assert world.person.ticks() == []


@pytest.mark.requirement("PLAN-TICK-04", "PLAN-CASE-37", "I8")
def test_an_unknown_title_is_refused_with_the_ones_that_are_next(world: World) -> None:
    agent = world.agent().works(FIVE)
    agent.tick("one").ok()
    said = agent.tick("seven")
    assert said.code == "task_unknown"
    for title in ("two", "three", "four", "five"):
        assert title in said.text
    assert agent.tick(id="P-1.6").code == "task_unknown"
    assert agent.tick(id="P-1.0").code in ("task_unknown", "invalid")
    assert agent.tick(id="nonsense").code in ("task_unknown", "invalid")


@pytest.mark.requirement("PLAN-TICK-05", "I8")
@pytest.mark.parametrize("near", ["ONE", "on", "one.", "one two", "ones"])
def test_what_is_only_similar_matches_nothing(world: World, near: str) -> None:
    agent = world.agent().works()
    assert agent.tick(near).code == "task_unknown"


@pytest.mark.requirement("PLAN-TICK-04", "PLAN-CASE-33")
def test_titles_equal_but_for_white_space_need_an_id_and_say_which(world: World) -> None:
    agent = world.agent().works("- [ ] same  thing\n- [ ] same thing\n- [ ] other\n")
    said = agent.tick("same thing")
    assert said.code == "task_ambiguous"
    for part in ("P-1.1", "P-1.2"):
        assert part in said.text
    assert agent.tick(id="P-1.2").ok().text.startswith("1/3")
    assert world.person.states() == ["open", "done", "open"]


@pytest.mark.requirement("PLAN-CASE-35", "PLAN-CASE-36", "PLAN-TICK-03", "PLAN-CHECKLIST-09")
@pytest.mark.parametrize(
    ("markdown", "given"),
    [
        ("- [ ] First\n\ttask\n", "First task"),
        ("- [ ] First\n  task\n", "First\ttask"),
        ("- [ ] Run `make test` *twice* and **stop**\n", "Run make test twice and stop"),
        ("- [ ] Run `make test` *twice* and **stop**\n", "Run `make test` *twice* and **stop**"),
        ("- [ ] See [the docs](https://example.org)\n", "See the docs"),
        ("- [ ] Cafe\u0301\n", "Café"),
        ("- [ ] 2 * 3 * 4 < 25 & more\n", "2 * 3 * 4 < 25 & more"),
        ("- [ ]   much   space  \n", " much space "),
    ],
)
def test_a_title_resolves_as_written_and_as_printed(world: World, markdown: str, given: str) -> None:
    agent = world.agent().works(markdown)
    printed = world.person.tasks()["tasks"][0]["shown"]
    assert agent.tick(given).ok().text.startswith("1/1")
    assert agent.tick(printed).ok().text.startswith("1/1")


@pytest.mark.requirement("PLAN-CASE-40", "PLAN-TICK-06")
def test_a_re_tick_answers_as_before_and_appends_nothing(world: World) -> None:
    agent = world.agent().works()
    first = agent.tick("one").ok()
    count = len(world.events())
    again = agent.tick("one").ok()
    assert "already" in again.text or again.result.get("already")
    assert first.text.split(" ·")[0] in again.text
    assert len(world.events()) == count
    assert len(world.person.ticks()) == 1


@pytest.mark.requirement("PLAN-CASE-39", "PLAN-CHECKLIST-01", "I6", "PLAN-CASE-53", "PLAN-MARKER-09")
def test_a_hundred_ticks_leave_the_file_and_the_system_prompt_as_they_were(world: World) -> None:
    text = "".join(f"- [ ] task {n}\n" for n in range(1, 101))
    agent = world.agent().works(text)
    for n in range(1, 101):
        agent.tick(f"task {n}").ok()
    assert agent.files()[0].read_text() == text
    assert world.person.card()["tracker"] == "complete"
    assert len(world.person.ticks()) == 100


@pytest.mark.requirement("PLAN-CASE-41", "PLAN-TICK-07")
def test_a_tick_out_of_order_is_taken_and_flagged(world: World) -> None:
    agent = world.agent().works()
    said = agent.tick("three").ok()
    assert "P-1.1" in said.text or "out of order" in said.text
    assert world.person.states() == ["open", "open", "done"]


@pytest.mark.requirement("PLAN-CASE-41", "PLAN-CHECKLIST-11", "PLAN-TICK-07")
def test_strict_order_refuses_what_comes_too_early(world: World) -> None:
    agent = world.agent().works("## Steps\n\nOrder: strict\n\n- [ ] one\n- [ ] two\n")
    assert agent.tick("two").code == "out_of_order"
    agent.tick("one").ok()
    assert agent.tick("two").ok().text.startswith("2/2")


@pytest.mark.requirement("PLAN-TICK-10")
def test_what_cannot_be_undone_is_announced_first(world: World) -> None:
    agent = world.agent().works(DANGER)
    agent.tick("Prepare").ok()
    assert agent.tick("Drop the tables").code == "begin_required"
    agent.begin("Drop the tables").ok()
    assert agent.tick("Drop the tables").ok().text.startswith("2/3")


@pytest.mark.requirement("PLAN-CASE-42", "PLAN-TICK-11", "PLAN-TICK-12", "I10", "I13")
@pytest.mark.parametrize("outcome", ["done", "open"])
@pytest.mark.parametrize("end", ["lost", "error", "aborted"])
def test_begun_and_not_ticked_when_the_turn_failed_waits_for_a_person(world: World, end: str, outcome: str) -> None:
    agent = world.agent().works(DANGER)
    agent.tick("Prepare").ok()
    agent.begin("Drop the tables").ok()
    agent.reports("turn.end", stop_reason=end).ok()
    world.restart()
    assert agent.tick("Drop the tables").code == "task_uncertain"
    assert agent.begin("Drop the tables").code == "task_uncertain"
    view = agent.resume()
    assert "P-1.2" in view
    assert 'Next action: do P-1.2 "Drop' not in view
    assert world.person.tasks()["tasks"][1]["state"] == "ambiguous"
    assert agent.do("plan.resolve_task", id="P-1.2", outcome="done").code == "forbidden"
    world.person.do("plan.resolve_task", id="P-1.2", outcome=outcome).ok()
    assert world.person.states()[1] == outcome
    if outcome == "open":
        agent.begin("Drop the tables").ok()
        agent.tick("Drop the tables").ok()
    assert world.person.states()[:2] == ["done", "done"]


@pytest.mark.requirement("PLAN-TICK-13")
def test_what_can_be_undone_is_offered_again_with_was_begun(world: World) -> None:
    agent = world.agent().works()
    agent.begin("one").ok()
    agent.reports("turn.end", stop_reason="lost").ok()
    view = agent.resume()
    assert "was begun" in view
    assert "Next action: go on with P-1.1" in view
    assert agent.tick("one").ok().text.startswith("1/3")


@pytest.mark.requirement("PLAN-CASE-48", "PLAN-TICK-08", "PLAN-TICK-09")
def test_a_human_gate_holds_what_comes_after_until_a_person_confirms(world: World) -> None:
    agent = world.agent().works(GATED)
    agent.tick("Draft").ok()
    assert agent.tick("Release").ok().text.startswith("1/4")
    assert world.person.states() == ["done", "awaiting_confirmation", "open", "open"]
    assert agent.tick("Announce").code == "out_of_order"
    assert agent.begin("Announce").code == "out_of_order"
    assert agent.do("plan.confirm", id="P-1.2").code == "forbidden"
    agent.tick("Tidy").ok()
    world.person.do("plan.confirm", id="P-1.2").ok()
    assert world.person.states() == ["done", "done", "open", "done"]
    agent.tick("Announce").ok()
    assert world.person.card()["tracker"] == "complete"


@pytest.mark.requirement("PLAN-TICK-08")
def test_only_what_waits_is_confirmed(world: World) -> None:
    agent = world.agent().works(GATED)
    assert world.person.do("plan.confirm", id="P-1.2").code in ("invalid_action", "conflict")
    assert world.person.do("plan.confirm", id="P-1.9").code == "task_unknown"
    agent.tick("Release").ok()
    world.person.do("plan.confirm", id="P-1.2").ok()
    world.person.do("plan.confirm", id="P-1.2").ok()
    assert [tick["action"] for tick in world.person.ticks()].count("confirm") == 1


@pytest.mark.requirement("PLAN-CASE-49", "PLAN-TICK-14", "I9")
def test_evidence_that_is_missing_is_named_and_what_is_given_says_who_vouches(world: World) -> None:
    agent = world.agent()
    agent.submit().ok()
    world.person.approve(evidence="any").ok()
    assert agent.tick("one").code == "evidence_missing"
    evidence = [{"kind": "url", "value": "https://example.org/run/1"}]
    agent.tick("one", evidence=evidence).ok()
    (tick,) = world.person.ticks()
    assert tick["evidence"][0]["kind"] == "url"
    assert tick["evidence"][0]["vouched_by"] == "agent"


@pytest.mark.requirement("PLAN-TICK-14")
def test_the_strictest_of_verdict_workspace_and_task_counts(world: World) -> None:
    world.person.do("settings.set", key="plan.evidence", value="any").ok()
    agent = world.agent().works()
    assert agent.tick("one").code == "evidence_missing"
    agent.tick("one", evidence=[{"kind": "reported", "value": "I saw it pass."}]).ok()


@pytest.mark.requirement("PLAN-TICK-15")
def test_where_only_a_person_can_vouch_the_task_awaits_confirmation(world: World) -> None:
    agent = world.agent()
    agent.submit().ok()
    world.person.approve(evidence="human").ok()
    said = agent.tick("one", evidence=[{"kind": "reported", "value": "done"}]).ok()
    assert said.text.startswith("0/3")
    assert world.person.states()[0] == "awaiting_confirmation"
    world.person.do("plan.confirm", id="P-1.1").ok()
    assert world.person.states()[0] == "done"


@pytest.mark.requirement("PLAN-TICK-16", "PLAN-TICK-18")
def test_a_tick_records_who_when_where_and_the_task_list_changes_nothing(world: World) -> None:
    agent = world.agent().works()
    world.clock.passes(5_000)
    agent.tick("one", note="went well").ok()
    (tick,) = world.person.ticks()
    assert tick["task"] == "P-1.1"
    assert tick["at"] == world.clock.now
    assert tick["note"] == "went well"
    assert tick["session_id"] == agent.id
    assert agent.id in tick["actor"]
    count = len(world.events())
    listed = world.person.tasks()
    assert (listed["done"], listed["total"], listed["next"]) == (1, 3, "P-1.2")
    assert listed["tasks"][0]["owner"] == agent.id
    agent.do("plan.tasks").ok()
    assert len(world.events()) == count


@pytest.mark.requirement("PLAN-TICK-17", "PLAN-EXECUTION-08")
def test_an_untick_by_a_person_or_with_a_reason_reopens_the_task(world: World) -> None:
    agent = world.agent().works()
    for title in ("one", "two", "three"):
        agent.tick(title).ok()
    assert world.person.card()["tracker"] == "complete"
    assert agent.do("plan.untick", id="P-1.3").code == "invalid"
    agent.do("plan.untick", id="P-1.3", reason="The test was wrong.").ok()
    assert world.person.card()["tracker"] == "active"
    world.person.do("plan.untick", id="P-1.1", session=agent.id).ok()
    assert world.person.states() == ["open", "done", "open"]
    assert [tick["action"] for tick in world.person.ticks()] == ["tick", "tick", "tick", "untick", "untick"]
    assert agent.tick("one").ok().text.startswith("2/3")


@pytest.mark.requirement("PLAN-CASE-45", "PLAN-EXECUTION-15", "PLAN-TICK-02")
def test_a_superseded_plan_refuses_ticks_by_its_id_and_never_comes_back(world: World) -> None:
    agent = world.agent().works(THREE)
    agent.tick("one").ok()
    agent.reports("turn.end", stop_reason="completed").ok()
    agent.submit("- [ ] new\n- [ ] three\n", title="Second").ok()
    world.person.approve("P-2").ok()
    assert agent.tick(id="P-1.2").code == "plan_superseded"
    assert agent.begin("two").code == "task_unknown"
    assert agent.tick("three").ok().text.startswith("1/2")
    assert world.person.card("P-1")["tracker"] == "superseded"
    assert len(world.person.ticks("P-1", session=agent.id)) == 1
    world.restart()
    assert agent.tick(id="P-1.2").code == "plan_superseded"
    assert 'P-1 "Plan"' not in agent.resume().split("Open, in order")[0]


@pytest.mark.requirement("PLAN-TICK-02")
def test_ids_of_other_plans_and_a_session_without_a_plan_have_their_own_codes(world: World) -> None:
    first, second = world.agent(), world.agent(name="second")
    assert first.tick("one").code == "no_active_plan"
    first.works()
    second.works("- [ ] two\n")
    assert second.tick(id="P-1.1").code == "plan_not_active"
    assert first.tick(id="P-2.1").code == "plan_not_active"
    for title in ("one", "two", "three"):
        first.tick(title).ok()
    assert first.tick("three").ok().text.startswith("3/3")


@pytest.mark.requirement("PLAN-CASE-46", "PLAN-EXECUTION-16", "PLAN-EXECUTION-17")
@pytest.mark.parametrize("choice", ["preselected", "declined", "all"])
def test_done_tasks_are_carried_over_where_they_are_the_same_and_as_the_person_says(world: World, choice: str) -> None:
    agent = world.agent().works("- [ ] plain\n- [ ] checked\n  - **Verify:** `true`\n- [ ] open\n")
    agent.tick("plain").ok()
    agent.tick("checked", evidence=[{"kind": "reported", "value": "ran it"}]).ok()
    agent.reports("turn.end", stop_reason="completed").ok()
    agent.submit("- [ ] checked\n  - **Verify:** `true`\n- [ ] plain\n- [ ] fresh\n- [ ] open\n", title="Second").ok()
    offered = world.person.card("P-2")["carry"]
    assert len(offered) == 2
    more = {"preselected": {}, "declined": {"carry": []}, "all": {"carry": [1, 2]}}[choice]
    world.person.approve("P-2", **more).ok()
    assert (
        world.person.states("P-2")
        == {
            "preselected": ["open", "done", "open", "open"],
            "declined": ["open"] * 4,
            "all": ["done", "done", "open", "open"],
        }[choice]
    )
    carried = [tick for tick in world.person.ticks("P-2") if tick["action"] == "carry"]
    assert len(carried) == {"preselected": 1, "declined": 0, "all": 2}[choice]
    assert all(tick["source"] for tick in carried)


@pytest.mark.requirement("PLAN-CASE-47", "PLAN-EXECUTION-16")
def test_a_changed_verifier_or_a_merely_awaiting_task_is_not_offered(world: World) -> None:
    agent = world.agent().works("- [ ] checked\n  - **Verify:** `true`\n- [ ] gated\n  - **Gate:** human\n")
    agent.tick("checked", evidence=[{"kind": "reported", "value": "ran it"}]).ok()
    agent.tick("gated").ok()
    agent.reports("turn.end", stop_reason="completed").ok()
    agent.submit("- [ ] checked\n  - **Verify:** `false`\n- [ ] gated\n  - **Gate:** human\n", title="Second").ok()
    assert world.person.card("P-2")["carry"] == []
    assert world.person.approve("P-2", carry=[1]).code == "invalid"
    world.person.approve("P-2").ok()
    assert world.person.states("P-2") == ["open", "open"]


@pytest.mark.requirement("PLAN-CASE-50", "I4", "DOOR-02")
def test_the_same_request_gives_the_same_answer_after_reconnection_and_restart(world: World) -> None:
    agent = world.agent().works()
    first = agent.do("plan.tick", request="r1", title="one").ok()
    agent.do("session.disconnect").ok()
    world.restart()
    agent.starts("resume").ok()
    again = agent.do("plan.tick", request="r1", title="one").ok()
    assert again.text == first.text
    assert len(world.person.ticks()) == 1
    assert agent.do("plan.tick", request="r1", title="two").code == "idempotency_conflict"
    other = world.agent(name="other")
    assert other.do("plan.tick", request="r1", title="one").code == "no_active_plan"


@pytest.mark.requirement("DOOR-10")
def test_a_refusal_is_no_receipt_and_the_same_request_may_succeed_later(world: World) -> None:
    agent = world.agent()
    assert agent.do("plan.tick", request="r1", title="one").code == "no_active_plan"
    agent.works()
    assert agent.do("plan.tick", request="r1", title="one").ok().text.startswith("1/3")


@pytest.mark.requirement("PLAN-CHECKLIST-02", "PLAN-CASE-31", "PLAN-CASE-32", "PLAN-CASE-34")
def test_examples_are_no_tasks_and_nested_ordered_and_checked_boxes_are_read(world: World) -> None:
    text = (
        "- [x] same\n- [ ] same\n- [ ] parent\n  1. [ ] first child\n  2. [ ] second child\n\n"
        "> - [ ] quoted\n\n```\n- [ ] fenced\n```\n\n    - [ ] indented\n"
    )
    agent = world.agent().works(text)
    titles = [task["title"] for task in world.person.tasks()["tasks"]]
    assert titles == ["same", "first child", "second child", "parent"]
    parents = [task["parent"] for task in world.person.tasks()["tasks"]]
    assert parents == [None, "P-1.4", "P-1.4", None]
    assert agent.tick("same").ok().text.startswith("1/4")


@pytest.mark.requirement("PLAN-TICK-17")
def test_a_person_corrects_a_tick_also_while_the_agent_plans_anew(world: World) -> None:
    agent = world.agent().works()
    agent.tick("one").ok()
    agent.reports("turn.end", stop_reason="completed").ok()
    agent.do("plan.enter").ok()
    assert agent.do("plan.untick", id="P-1.1", reason="It was wrong.").code == "tool_denied_in_plan"
    world.person.do("plan.untick", id="P-1.1", session=agent.id).ok()
    assert world.person.states() == ["open"] * 3
