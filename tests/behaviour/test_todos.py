"""Todo lists: what an agent does now, kept through whatever takes its context away."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from tests.behaviour.world import Agent, World

Items = Sequence[Mapping[str, Any]]


def todo(content: str, status: str = "pending", **more: Any) -> dict[str, Any]:
    """An item as a writer sends it."""
    return {"content": content, "status": status, **more}


def three() -> list[dict[str, Any]]:
    """A list at work."""
    return [todo("read", "completed"), todo("mend", "in_progress"), todo("tell")]


def lists(agent: Agent, **more: Any) -> list[Mapping[str, Any]]:
    """A session's lists as the person sees them."""
    return list(agent.world.person.done("todo.read", session=agent.id, **more)["lists"])


def own(agent: Agent) -> Mapping[str, Any]:
    """The agent's own list."""
    return next(each for each in lists(agent) if each["source"] == "standfast")


def numbers(agent: Agent) -> dict[str, int]:
    """The number of each item by its words."""
    return {item["content"]: item["number"] for item in own(agent)["items"]}


def statuses(agent: Agent) -> list[str]:
    """The items' statuses in order."""
    return [item["status"] for item in own(agent)["items"]]


@pytest.mark.requirement("LIST-11", "LIST-10")
def test_a_write_is_answered_in_one_line_and_makes_one_revision_and_one_event(world: World) -> None:
    agent = world.agent()
    said = agent.do("todo.write", todos=three()).ok()
    if world.door_name == "mcp":
        assert said.text == "Todos 1/3."
    assert statuses(agent) == ["completed", "in_progress", "pending"]
    assert own(agent)["revision"] == 1
    assert [event["data"]["revision"] for event in world.events("todo.written")] == [1]
    agent.do("todo.write", todos=three()).ok()
    assert len(world.events("todo.written")) == 1


@pytest.mark.requirement("LIST-02")
def test_items_keep_their_ids_through_rewording_reordering_and_splitting(world: World) -> None:
    agent = world.agent()
    agent.do("todo.write", todos=[todo("a", id="1"), todo("b", id="2"), todo("c", id="3")]).ok()
    before = numbers(agent)
    reworked = [todo("c", id="3"), todo("b, better", id="2"), todo("a, first half", id="1"), todo("a, rest", id="4")]
    agent.do("todo.write", todos=reworked).ok()
    after = numbers(agent)
    assert (after["c"], after["b, better"], after["a, first half"]) == (before["c"], before["b"], before["a"])
    assert after["a, rest"] == max(before.values()) + 1


@pytest.mark.requirement("LIST-02")
def test_without_ids_equal_words_keep_their_ids_in_order_and_stay_two_items(world: World) -> None:
    agent = world.agent()
    agent.do("todo.write", todos=[todo("run it"), todo("mend"), todo("run it")]).ok()
    agent.do("todo.write", todos=[todo("run it", "completed"), todo("mend"), todo("run  it")]).ok()
    assert [(item["number"], item["status"]) for item in own(agent)["items"]] == [
        (1, "completed"),
        (2, "pending"),
        (3, "pending"),
    ]


@pytest.mark.requirement("LIST-03")
def test_a_merge_changes_what_is_given_and_appends_what_is_new(world: World) -> None:
    agent = world.agent()
    agent.do("todo.write", todos=[todo("a", id="x"), todo("b", "in_progress", id="y")]).ok()
    changes = [{"id": "y", "status": "completed", "evidence": "make test"}, {"id": "z", "content": "c"}]
    agent.do("todo.write", todos=changes, merge=True).ok()
    found = [(item["id"], item["content"], item["status"], item["evidence"]) for item in own(agent)["items"]]
    assert found == [
        ("x", "a", "pending", None),
        ("y", "b", "completed", "make test"),
        ("z", "c", "pending", None),
    ]


@pytest.mark.requirement("LIST-03")
def test_a_merge_with_an_unknown_id_and_no_content_is_refused_and_writes_nothing(world: World) -> None:
    agent = world.agent()
    agent.do("todo.write", todos=three()).ok()
    changes = [{"id": "T-2", "status": "completed"}, {"id": "T-9", "status": "completed"}]
    said = agent.do("todo.write", todos=changes, merge=True)
    assert said.code == "todo_unknown"
    assert "todos[1]" in said.text
    assert statuses(agent) == ["completed", "in_progress", "pending"]


@pytest.mark.requirement("LIST-04", "LIST-09")
def test_the_next_list_begins_when_all_items_have_ended_and_reuses_no_number(world: World) -> None:
    agent = world.agent()
    agent.do("todo.write", todos=[todo("a", "completed", id="1"), todo("b", "cancelled", id="2")]).ok()
    assert own(agent)["over"]
    agent.do("todo.write", todos=[todo("c", id="1"), todo("d", id="2")]).ok()
    assert numbers(agent) == {"c": 3, "d": 4}
    assert own(agent)["list"] == 2


@pytest.mark.requirement("LIST-09")
def test_an_item_that_has_ended_stays_ended_and_the_same_words_begin_a_new_one(world: World) -> None:
    agent = world.agent()
    agent.do("todo.write", todos=[todo("mend", "cancelled", id="1"), todo("tell", id="2")]).ok()
    agent.do("todo.write", todos=[todo("mend", id="1"), todo("tell", id="2")]).ok()
    assert numbers(agent) == {"mend": 3, "tell": 2}
    agent.do("todo.write", todos=[{"id": "2", "status": "completed"}], merge=True).ok()
    agent.do("todo.write", todos=[{"id": "2", "status": "in_progress"}], merge=True).ok()
    assert [(item["number"], item["status"]) for item in own(agent)["items"]] == [(3, "pending"), (4, "in_progress")]


@pytest.mark.requirement("LIST-05")
def test_two_items_in_progress_are_refused_by_name_and_a_parent_with_its_child_is_one(world: World) -> None:
    agent = world.agent()
    said = agent.do("todo.write", todos=[todo("a", "in_progress", id="1"), todo("b", "in_progress", id="2")])
    assert said.code == "todo_multiple_in_progress"
    assert "1 and 2" in said.text
    assert lists(agent) == []
    family = [todo("a", "in_progress", id="1"), todo("b", "in_progress", id="2", parent="1")]
    agent.do("todo.write", todos=family).ok()
    assert own(agent)["items"][1]["parent"] == "1"


@pytest.mark.requirement("LIST-06")
@pytest.mark.parametrize(
    ("items", "where"),
    [
        ([todo("a"), todo("b", "done")], "todos[1].status"),
        ([todo("a"), {"status": "pending"}], "todos[1].content"),
        ([todo("  ")], "todos[0].content"),
        ([todo("a", id="1"), todo("b", id="1")], "todos[1].id"),
        ([todo("a", parent="9")], "todos[0].parent"),
        ([todo("a", id="1", depends_on=["1"])], "todos[0].depends_on"),
        ([todo("a", id="1", parent="2"), todo("b", id="2", parent="1")], "ancestor"),
        ([todo("a", color="red")], "color"),
        ("[{", "todos"),
        ([todo("a" * 4_001)], "todos[0].content"),
    ],
)
def test_what_no_list_holds_is_refused_with_its_position(world: World, items: Items, where: str) -> None:
    agent = world.agent()
    agent.do("todo.write", todos=three()).ok()
    said = agent.do("todo.write", todos=items)
    assert said.code in ("invalid", "limit")
    assert where in said.text
    assert own(agent)["revision"] == 1


@pytest.mark.requirement("LIST-06")
def test_todos_may_come_as_json_text(world: World) -> None:
    agent = world.agent()
    agent.do("todo.write", todos=json.dumps(three())).ok()
    assert statuses(agent) == ["completed", "in_progress", "pending"]


@pytest.mark.requirement("LIST-12")
def test_a_list_holds_256_items_and_not_257(world: World) -> None:
    agent = world.agent()
    agent.do("todo.write", todos=[todo(f"item {n}") for n in range(256)]).ok()
    assert agent.do("todo.write", todos=[todo(f"item {n}") for n in range(257)]).code == "limit"
    assert agent.do("todo.write", todos=[todo("one more")], merge=True).code == "limit"
    assert len(own(agent)["items"]) == 256


@pytest.mark.requirement("LIST-12")
def test_a_completed_item_without_evidence_is_a_claim(world: World) -> None:
    agent = world.agent()
    agent.do("todo.write", todos=[todo("a", "completed"), todo("b", "completed", evidence="commit 1234567")]).ok()
    assert [item["claim"] for item in own(agent)["items"]] == [True, False]


@pytest.mark.requirement("LIST-07")
def test_plan_mode_takes_no_todos(world: World) -> None:
    agent = world.agent()
    agent.do("plan.enter").ok()
    assert agent.do("todo.write", todos=three()).code == "todo_denied_in_plan"
    assert lists(agent) == []


@pytest.mark.requirement("LIST-08")
def test_a_write_that_drops_most_open_items_is_warned_about_and_the_old_list_can_be_read(world: World) -> None:
    agent = world.agent()
    agent.do("todo.write", todos=[todo(f"step {n}") for n in range(5)]).ok()
    assert (
        agent.do("todo.write", todos=[todo("step 0"), todo("step 1"), todo("step 2")]).ok().result.get("dropped", 0)
        == 0
    )
    agent.do("todo.write", todos=[todo(f"step {n}") for n in range(5)]).ok()
    said = agent.do("todo.write", todos=[todo("start over")]).ok()
    assert said.result.get("dropped", 5) == 5
    if world.door_name == "mcp":
        assert "5 open items dropped" in said.text
    (older,) = lists(agent, revision=3)
    assert [item["content"] for item in older["items"]] == [f"step {n}" for n in range(5)]
    assert agent.world.person.do("todo.read", session=agent.id, revision=9).code == "not_found"


@pytest.mark.requirement("LIST-01")
def test_a_subagents_list_stands_beside_its_parents(world: World) -> None:
    agent = world.agent()
    agent.do("todo.write", todos=three()).ok()
    agent.reports("todo.write", todos=[todo("look around", "in_progress")], agent="explorer").ok()
    assert {each["agent"]: len(each["items"]) for each in lists(agent)} == {"main": 3, "explorer": 1}
    view = agent.resume()
    assert "look around" not in view
    assert 'subagent "explorer": 0/1, not yours' in view


@pytest.mark.requirement("LIST-10")
def test_a_branch_shows_the_list_that_was_written_on_it(world: World) -> None:
    agent = world.agent()
    root = [{"id": "a", "parent": None}, {"id": "b", "parent": "a"}]
    agent.reports("session.branch", leaf="b", entries=root).ok()
    agent.do("todo.write", todos=[todo("on b")]).ok()
    agent.reports("session.branch", leaf="c", entries=[{"id": "c", "parent": "b"}]).ok()
    agent.do("todo.write", todos=[todo("on c")]).ok()
    agent.reports("session.branch", leaf="d", entries=[{"id": "d", "parent": "b"}]).ok()
    assert [item["content"] for item in own(agent)["items"]] == ["on b"]
    agent.reports("session.branch", leaf="a").ok()
    assert lists(agent) == []
    agent.reports("session.branch", leaf="c").ok()
    assert [item["content"] for item in own(agent)["items"]] == ["on c"]
