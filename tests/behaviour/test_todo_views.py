"""What a model is told of its todo lists: after a loss of context, now and then, and of a client's own lists."""

from __future__ import annotations

import pytest

from tests.behaviour.test_todos import Items, lists, own, statuses, three, todo
from tests.behaviour.world import MINUTE, World


@pytest.mark.requirement("LIST-VIEW-01", "LIST-REMIND-03")
def test_the_resume_view_holds_the_open_items_once_in_order_and_always_the_same(world: World) -> None:
    agent = world.agent()
    family = [
        todo("all of it", "completed", id="1"),
        todo("a part", "in_progress", id="2", parent="1"),
        todo("the rest", id="3", depends_on=["2"]),
        todo("never", "cancelled", id="4"),
    ]
    agent.do("todo.write", todos=family).ok()
    view = agent.resume()
    assert "not words of the user" in view
    assert view.count("a part") == 2  # the item and the next action
    lines = view.splitlines()
    at = lines.index("Todos 1/3, open ones:")
    assert lines[at + 1 : at + 4] == ['- "all of it":', '- [>] 2 "a part"', '- [ ] 3 "the rest" (after 2)']
    assert "never" not in view
    assert 'Next action: go on with 2 "a part".' in view
    assert "Say what backs that action before you act." in view
    assert agent.resume() == view


@pytest.mark.requirement("LIST-VIEW-01")
def test_a_long_list_is_cut_with_a_count(world: World) -> None:
    world.person.do("settings.set", key="todo.view_items", value=3).ok()
    agent = world.agent()
    agent.do("todo.write", todos=[todo(f"step {n} " + "and on " * 100) for n in range(200)]).ok()
    view = agent.resume()
    assert view.count("- [ ]") == 3
    assert "and 197 more: todo_read" in view
    assert len(view) <= 4_000


@pytest.mark.requirement("LIST-VIEW-01")
def test_todos_are_injected_beside_the_plan(world: World) -> None:
    agent = world.agent().works()
    agent.do("todo.write", todos=three()).ok()
    view = agent.resume()
    assert view.index("P-1.1") < view.index("Todos 1/3") < view.index("Next action")
    assert "P-1.1" in view[view.index("Next action") :]
    marker = agent.do("context.marker").ok().result["marker"]
    assert 'todos 1/3 now T-2 "mend"' in marker


@pytest.mark.requirement("LIST-VIEW-02")
def test_an_empty_list_clears_and_is_told_apart_from_none(world: World) -> None:
    agent = world.agent()
    agent.do("todo.write", todos=three()).ok()
    agent.do("todo.write", todos=[]).ok()
    assert "mend" not in agent.resume()
    assert own(agent)["items"] == []
    assert lists(world.agent()) == []


@pytest.mark.requirement("LIST-VIEW-03")
@pytest.mark.parametrize("end", ["aborted", "error", "lost", "resume"])
def test_what_was_in_progress_when_a_turn_was_cut_off_is_called_interrupted(world: World, end: str) -> None:
    agent = world.agent()
    agent.reports("turn.start", turn="t1", process="100").ok()
    agent.do("todo.write", todos=three()).ok()
    assert "interrupted" not in agent.resume()
    if end == "resume":
        agent.starts("resume", process="200").ok()
    else:
        agent.reports("turn.end", stop_reason=end).ok()
    view = agent.resume()
    assert '- [>] T-2 "mend" (interrupted)' in view
    assert statuses(agent) == ["completed", "in_progress", "pending"]
    assert [item["interrupted"] for item in own(agent)["items"]] == [False, True, False]


@pytest.mark.requirement("LIST-VIEW-03")
def test_a_turn_that_ended_well_interrupts_nothing(world: World) -> None:
    agent = world.agent()
    agent.reports("turn.start", turn="t1", process="100").ok()
    agent.do("todo.write", todos=three()).ok()
    agent.reports("turn.end", stop_reason="completed").ok()
    agent.reports("session.compacted").ok()
    assert "interrupted" not in agent.resume()


@pytest.mark.requirement("LIST-VIEW-04")
def test_a_fork_goes_on_with_a_copy_of_its_own(world: World) -> None:
    agent = world.agent()
    agent.do("todo.write", todos=three()).ok()
    forked = agent.reports("session.fork", client_session_id=f"{agent.name}-fork").ok().result["session"]
    (copy,) = world.person.done("todo.read", session=forked)["lists"]
    assert [item["number"] for item in copy["items"]] == [1, 2, 3]
    agent.do("todo.write", todos=[{"id": "T-2", "status": "completed"}], merge=True).ok()
    (copy,) = world.person.done("todo.read", session=forked)["lists"]
    assert [item["status"] for item in copy["items"]] == ["completed", "in_progress", "pending"]


@pytest.mark.requirement("LIST-CAPTURE-01")
def test_a_foreign_list_is_kept_as_it_is_and_flagged(world: World) -> None:
    agent = world.agent()
    items = [todo("a", "in_progress"), todo("b", "in_progress"), todo("c", "failed"), todo("")]
    agent.reports("todo.capture", todos=items, source="todowrite").ok()
    (found,) = lists(agent)
    assert [item["status"] for item in found["items"]] == ["in_progress", "in_progress", "failed", "pending"]
    assert found["flags"] == ["several_in_progress", "unknown_status"]
    assert found["provenance"] == "captured"
    assert '- [?] T-3 "c" (status "failed")' in agent.resume()
    agent.reports("todo.capture", todos=[todo(f"{n}") for n in range(300)], source="todowrite").ok()
    (found,) = lists(agent)
    assert len(found["items"]) == 256
    assert found["flags"] == ["cut"]


@pytest.mark.requirement("LIST-CAPTURE-02")
def test_captured_lists_and_our_own_are_kept_apart_the_newest_first(world: World) -> None:
    agent = world.agent()
    agent.do("todo.write", todos=three()).ok()
    world.clock.passes(MINUTE)
    agent.reports("todo.capture", todos=[todo("theirs")], source="update_plan").ok()
    assert [each["source"] for each in lists(agent)] == ["update_plan", "standfast"]
    again = agent.reports("todo.capture", todos=[todo("theirs")], source="update_plan").ok()
    assert again.result["taken"] is False
    assert lists(agent)[0]["revision"] == 1
    assert agent.do("todo.capture", todos=[], source="update_plan").code == "forbidden"
    assert agent.reports("todo.capture", todos=[], source="standfast").code == "invalid"


@pytest.mark.requirement("LIST-REMIND-01")
def test_a_list_that_was_not_written_for_ten_turns_is_reminded_of_once_in_ten(world: World) -> None:
    agent = world.agent()
    agent.do("todo.write", todos=three()).ok()
    heard = []
    for n in range(25):
        world.clock.passes(MINUTE)
        said = agent.reports("turn.start", turn=f"t{n}").ok().result["messages"]
        heard += [n for text in said if "mend" in text]
        assert not any("read" in text.split("updated")[-1] for text in said if "mend" in text)
        agent.reports("turn.end", stop_reason="completed").ok()
    assert heard == [10, 20]
    world.person.do("settings.set", key="todo.reminder_turns", value=0).ok()
    for n in range(25, 40):
        world.clock.passes(MINUTE)
        assert agent.reports("turn.start", turn=f"t{n}").ok().result["messages"] == []


@pytest.mark.requirement("LIST-REMIND-02")
def test_a_list_that_ends_without_a_check_is_asked_for_one_once(world: World) -> None:
    agent = world.agent()

    def checks(items: Items) -> bool:
        before = len(world.events("todo.check_asked"))
        agent.do("todo.write", todos=items).ok()
        return len(world.events("todo.check_asked")) > before

    ends = [todo("a", "completed"), todo("b", "completed"), todo("c", "in_progress")]
    assert checks(ends)
    assert not checks([*ends[:2], todo("c", "completed")])
    assert not checks([*ends[:2], todo("run the tests", "completed")])
    assert not checks([todo("d", "completed", evidence="log"), todo("e", "completed"), todo("f", "completed")])
    assert not checks([todo("g", "completed"), todo("h", "completed")])
    assert checks([todo("i", "completed"), todo("j", "completed"), todo("k", "completed")])


@pytest.mark.requirement("LIST-VIEW-05")
def test_a_view_that_was_told_is_known_as_told_by_the_next_host_until_it_is_lost(world: World) -> None:
    agent = world.agent()
    agent.do("todo.write", todos=three()).ok()

    def told() -> bool:
        return bool(world.person.done("context.resume", session=agent.id)["told"])

    def tell() -> None:
        digest = world.person.done("context.resume", session=agent.id)["digest"]
        agent.reports("context.told", digest=digest).ok()

    assert not told()
    tell()
    world.restart()
    assert told()
    agent.reports("session.compacted").ok()
    assert not told()
    tell()
    agent.do("todo.write", todos=[{"id": "T-2", "status": "completed"}], merge=True).ok()
    assert not told()


@pytest.mark.requirement("CLIENT-LINE-01")
def test_a_status_line_says_how_far_it_is_and_what_it_waits_for(world: World) -> None:
    agent = world.agent()

    def line() -> str:
        return str(world.person.done("context.show", session=agent.id)["line"])

    assert line() == ""
    agent.do("todo.write", todos=three()).ok()
    assert line() == "todos 1/3"
    agent.submit("- [ ] one\n- [ ] ship it\n  - **Gate:** human\n").ok()
    assert line() == "plan mode · todos 1/3 · P-1 waits for your verdict"
    world.person.approve().ok()
    agent.do("plan.status").ok()
    assert line() == "P-1 0/2 · one"
    agent.tick("one").ok()
    agent.tick("ship it").ok()
    assert line() == "P-1 1/2 · waits for you"
