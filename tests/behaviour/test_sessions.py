"""Sessions, turns, branches and the mode gate."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from tests.behaviour.world import Agent, World


def gate(agent: Agent, capability: str, **more: Any) -> Any:
    """The gate's answer for a capability."""
    decision = agent.reports("gate.check", capability=capability, **more).ok().result["decision"]
    return None if decision == "none" else decision


def entries(*names: str) -> list[dict[str, Any]]:
    """A line of history entries, the first without a parent."""
    return [{"id": name, "parent": names[n - 1] if n else None} for n, name in enumerate(names)]


@pytest.mark.requirement("PLAN-SESSION-01", "PLAN-SESSION-03")
def test_a_session_is_found_again_by_client_and_id(world: World) -> None:
    agent = world.agent()
    assert agent.starts("resume").ok().result["session"] == agent.id
    assert world.agent(name="other").id != agent.id
    session = agent.session()
    assert (session["mode"], session["permission_mode"]) == ("agent", "client")


@pytest.mark.requirement("PLAN-SESSION-02")
def test_worktrees_of_one_repository_share_a_project_and_differ_in_their_checkout(world: World) -> None:
    main = world.folder / "main"
    git = ["git", "-c", "user.name=T", "-c", "user.email=t@example.org"]
    subprocess.run([*git, "init", "-q", str(main)], check=True)
    subprocess.run([*git, "-C", str(main), "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "-C", str(main), "worktree", "add", "-q", str(world.folder / "side")], check=True)
    one, two, other = world.agent("main"), world.agent("side"), world.agent("elsewhere")
    assert one.session()["project"] == two.session()["project"] != other.session()["project"]
    assert one.session()["checkout"] != two.session()["checkout"]
    one.submit().ok()
    two.submit("- [ ] two\n").ok()
    assert sorted(plan["number"] for plan in world.person.done("plan.list")["plans"]) == ["P-1", "P-2"]


@pytest.mark.requirement("PLAN-SESSION-04", "PLAN-SESSION-05", "PLAN-CASE-30")
def test_one_turn_is_active_and_a_new_prompt_closes_the_older_one_as_lost(world: World) -> None:
    agent = world.agent()
    first = agent.reports("turn.start", turn="t1").ok().result
    again = agent.reports("turn.start", turn="t1").ok().result
    assert (again["turn"], again["same"]) == (first["turn"], True)
    second = agent.reports("turn.start", turn="t2", process="another").ok().result
    assert second["turn"] != first["turn"]
    (ended,) = world.events("turn.ended")
    assert ended["data"]["stop_reason"] == "lost"


@pytest.mark.requirement("PLAN-SESSION-06")
def test_a_turn_that_goes_on_after_its_end_opens_the_next_under_the_same_id(world: World) -> None:
    agent = world.agent()
    first = agent.reports("turn.start", turn="t1").ok().result["turn"]
    agent.reports("turn.end", turn="t1", stop_reason="completed").ok()
    second = agent.reports("turn.start", turn="t1").ok().result["turn"]
    assert second != first


@pytest.mark.requirement("PLAN-SESSION-07")
def test_two_processes_that_take_turns_are_flagged_as_shared(world: World) -> None:
    agent = world.agent()
    for turn, process in (("t1", "p1"), ("t2", "p2")):
        agent.reports("turn.start", turn=turn, process=process).ok()
    assert agent.session()["shared"] is False
    agent.reports("turn.start", turn="t3", process="p1").ok()
    assert agent.session()["shared"] is True
    assert len(world.events("session.shared")) == 1


@pytest.mark.requirement("PLAN-SESSION-08")
@pytest.mark.parametrize("complete", [True, False])
def test_where_nothing_reports_turns_the_connection_is_the_turn(world: World, complete: bool) -> None:
    agent = world.agent().works("- [ ] one\n- [ ] two\n")
    agent.tick("one").ok()
    if complete:
        agent.tick("two").ok()
    assert len(world.events("turn.started")) == 1
    agent.do("session.disconnect").ok()
    (ended,) = world.events("turn.ended")
    assert ended["data"]["stop_reason"] == ("completed" if complete else "lost")
    assert world.person.card()["execution"] == ("completed" if complete else "interrupted")


@pytest.mark.requirement("PLAN-SESSION-15")
@pytest.mark.parametrize(("source", "closed"), [("startup", True), ("resume", True), ("compact", False)])
def test_the_next_start_proves_that_the_former_turn_is_lost_unless_it_is_a_compaction(
    world: World, source: str, closed: bool
) -> None:
    agent = world.agent()
    agent.reports("turn.start", turn="t1").ok()
    agent.starts(source).ok()
    assert [event["data"]["stop_reason"] for event in world.events("turn.ended")] == (["lost"] if closed else [])


@pytest.mark.requirement("PLAN-CASE-29", "PLAN-SESSION-10", "PLAN-SESSION-11")
def test_configuration_is_refused_while_one_session_is_busy_and_free_in_another(world: World) -> None:
    busy, free = world.agent(name="busy"), world.agent(name="free")
    busy.reports("turn.start", turn="t1").ok()
    change = {"permission_mode": "auto"}
    assert world.person.do("session.configure", session=busy.id, **change).code == "session_busy"
    world.person.do("session.configure", session=free.id, **change).ok()
    world.person.do("session.configure", session=busy.id, permission_mode="client").ok()
    busy.do("plan.enter").ok()
    busy.submit().ok()
    world.person.approve().ok()
    assert world.person.do("session.configure", session=busy.id, mode="plan").code == "session_busy"


@pytest.mark.requirement("PLAN-SESSION-12", "PLAN-SESSION-13")
def test_a_pending_plan_holds_changes_back_and_a_person_may_still_type(world: World) -> None:
    agent = world.agent()
    agent.submit().ok()
    assert world.person.do("session.configure", session=agent.id, permission_mode="auto").code == "plan_already_pending"
    assert agent.submit("- [ ] other\n").code == "plan_already_pending"
    agent.reports("turn.start", turn="typed").ok()
    assert agent.session()["mode"] == "plan"
    assert gate(agent, "write") == "deny"
    assert world.person.status() == "pending"


@pytest.mark.requirement("PLAN-SESSION-22")
def test_sessions_see_nothing_of_each_other(world: World) -> None:
    one, two = world.agent(name="one").works(), world.agent("elsewhere", name="two")
    assert two.tick("one").code == "no_active_plan"
    assert two.do("plan.tasks").code == "no_active_plan"
    assert "P-1" not in two.resume()
    plan = world.person.card()["plan"]
    assert two.do("plan.read", plan=plan).code == "wrong_session"
    assert two.do("context.resume", session=one.id).code in ("wrong_session", "invalid")


@pytest.mark.requirement("PLAN-CASE-43", "PLAN-SESSION-20")
def test_a_fork_has_what_its_fork_point_has_and_nothing_that_is_pending(world: World) -> None:
    agent = world.agent()
    agent.reports("session.branch", leaf="e1", entries=entries("e1")).ok()
    agent.works()
    agent.reports("session.branch", leaf="e2", entries=[{"id": "e2", "parent": "e1"}]).ok()
    agent.tick("one").ok()
    agent.reports("session.branch", leaf="e3", entries=[{"id": "e3", "parent": "e2"}]).ok()
    agent.tick("two").ok()
    agent.reports("turn.end", stop_reason="completed").ok()
    agent.submit("- [ ] later\n", title="Later").ok()
    found = {}
    for entry in ("e1", "e2", "e3"):
        forked = agent.reports("session.fork", client_session_id=f"fork-{entry}", entry=entry).ok().result
        states = world.person.states("P-1", session=forked["session"])
        found[entry] = states.count("done")
        assert world.person.done("session.get", session=forked["session"])["parent"] == agent.id
    assert found == {"e1": 0, "e2": 1, "e3": 2}
    assert world.person.status("P-2") == "pending"


@pytest.mark.requirement("PLAN-CASE-44", "PLAN-SESSION-17", "PLAN-SESSION-18")
def test_ticks_follow_the_branch_there_and_back_and_another_branchs_tick_is_none(world: World) -> None:
    agent = world.agent()
    agent.reports("session.branch", leaf="root", entries=entries("root")).ok()
    agent.works()
    agent.reports("session.branch", leaf="left", entries=[{"id": "left", "parent": "root"}]).ok()
    agent.tick("one").ok()
    agent.reports("session.branch", leaf="right", entries=[{"id": "right", "parent": "root"}]).ok()
    assert world.person.states() == ["open"] * 3
    said = agent.tick("one").ok()
    assert "already" not in said.text
    agent.tick("two").ok()
    agent.reports("session.branch", leaf="left").ok()
    assert world.person.states() == ["done", "open", "open"]
    agent.reports("session.branch", leaf="right").ok()
    assert world.person.states() == ["done", "done", "open"]
    assert world.person.status() == "approved"
    assert agent.session()["mode"] == "agent"


@pytest.mark.requirement("PLAN-SESSION-19")
def test_on_a_branch_from_before_the_approval_the_tracker_takes_no_tick(world: World) -> None:
    agent = world.agent()
    agent.reports("session.branch", leaf="b", entries=entries("a", "b")).ok()
    agent.works()
    agent.reports("session.branch", leaf="c", entries=[{"id": "c", "parent": "a"}]).ok()
    assert agent.tick("one").code is not None
    assert world.person.ticks() == []
    agent.reports("session.branch", leaf="b").ok()
    agent.tick("one").ok()


@pytest.mark.requirement("I5")
def test_a_client_s_coordinator_sees_the_plans_of_its_own_session_only(world: World) -> None:
    one, two = world.agent(name="one"), world.agent(name="two")
    one.submit().ok()
    two.submit("- [ ] two\n").ok()
    for agent in (one, two):
        [plan] = agent.reports("plan.list").ok().result["plans"]
        assert plan["session"] == agent.id


@pytest.mark.requirement("PLAN-SESSION-09")
def test_a_turn_started_through_the_api_beside_another_is_refused_and_ends_nothing(world: World) -> None:
    agent = world.agent()
    first = agent.do("turn.start", turn="t1").ok().result
    refused = agent.do("turn.start", turn="t2")
    assert refused.code == "session_busy"
    assert agent.do("turn.start", turn="t1").ok().result["turn"] == first["turn"]
    assert world.events("turn.ended") == []
    agent.do("turn.end", turn="t1", stop_reason="completed").ok()
    agent.do("turn.start", turn="t2").ok()


@pytest.mark.requirement("PLAN-GATE-03", "PLAN-GATE-04", "PLAN-GATE-05", "PLAN-SUBMIT-06")
def test_while_a_plan_waits_everything_that_changes_something_is_denied_and_reading_passes(world: World) -> None:
    agent = world.agent()
    agent.submit().ok()
    for capability in ("plan", "list_read", "read"):
        assert gate(agent, capability) is None
    codes = {"todo_write": "todo_denied_in_plan"}
    for capability in ("todo_write", "tick", "task_write", "workflow_start", "write", "edit", "plugin", "unknown"):
        said = agent.reports("gate.check", capability=capability, tool="SomeTool").ok().result
        assert (said["decision"], said["code"]) == ("deny", codes.get(capability, "tool_denied_in_plan"))
    world.person.do("plan.reject", plan="P-1").ok()
    assert gate(agent, "write") == "deny"


@pytest.mark.requirement("PLAN-GATE-10")
@pytest.mark.parametrize(
    ("mode", "answer"), [("ask", "ask"), ("accept_edits", "ask"), ("auto", None), ("client", None)]
)
def test_a_path_outside_the_workspace_is_asked_about(world: World, mode: str, answer: str | None) -> None:
    agent = world.agent().works(mode=mode)
    assert gate(agent, "read", outside=True) == answer
    assert gate(agent, "write", outside=True) == answer
    assert gate(agent, "read") is None


@pytest.mark.requirement("PLAN-GATE-01", "PLAN-GATE-02", "PLAN-GATE-06", "PLAN-CASE-26", "PLAN-CASE-27")
def test_plan_mode_lets_reading_pass_and_stops_the_rest_whatever_mode_is_claimed(world: World) -> None:
    agent = world.agent()
    agent.do("plan.enter").ok()
    for capability in ("read", "question", "compact"):
        assert gate(agent, capability) is None
    for capability in ("write", "edit", "plugin", "unknown", "network"):
        said = agent.reports("gate.check", capability=capability, tool="SomeTool").ok().result
        assert said["decision"] == "deny"
        assert "SomeTool" in said["reason"]
    assert agent.reports("gate.check", capability="write", mode="agent").code == "invalid"


@pytest.mark.requirement("PLAN-CASE-28", "PLAN-GATE-08")
@pytest.mark.parametrize("setting", ["deny", "sandbox", "permission"])
def test_the_shell_in_plan_mode_follows_the_setting(world: World, setting: str) -> None:
    world.person.do("settings.set", key="plan.shell", value=setting).ok()
    agent = world.agent()
    agent.do("plan.enter").ok()
    plain = gate(agent, "shell")
    boxed = gate(agent, "shell", sandboxed=True)
    assert (plain, boxed) == {
        "deny": ("deny", "deny"),
        "sandbox": ("ask", None),
        "permission": ("ask", "ask"),
    }[setting]


@pytest.mark.requirement("PLAN-GATE-09", "PLAN-GATE-11")
@pytest.mark.parametrize(
    ("mode", "answers"),
    [
        ("ask", {"write": "ask", "edit": "ask", "shell": "ask"}),
        ("accept_edits", {"write": None, "edit": None, "shell": "ask"}),
        ("auto", {"write": None, "edit": None, "shell": None}),
        ("client", {"write": None, "edit": None, "shell": None}),
    ],
)
def test_in_agent_mode_the_permission_mode_only_tightens(
    world: World, mode: str, answers: dict[str, str | None]
) -> None:
    agent = world.agent().works(mode=mode)
    assert {capability: gate(agent, capability) for capability in answers} == answers


@pytest.mark.requirement("PLAN-GATE-12")
def test_in_an_unattended_session_nothing_is_asked(world: World) -> None:
    world.person.do("settings.set", key="plan.shell", value="permission").ok()
    agent = world.agent(attended=False)
    agent.do("plan.enter").ok()
    assert gate(agent, "shell") == "deny"
    agent.submit().ok()
    world.person.approve(mode="ask").ok()
    assert gate(agent, "write") is None


@pytest.mark.requirement("PLAN-GATE-05", "PLAN-GATE-15")
def test_in_plan_mode_ticks_are_refused_and_the_agent_cannot_leave_it(world: World) -> None:
    agent = world.agent().works()
    agent.reports("turn.end", stop_reason="completed").ok()
    agent.do("plan.enter").ok()
    assert agent.tick("one").code == "tool_denied_in_plan"
    assert agent.begin("one").code == "tool_denied_in_plan"
    assert agent.do("session.configure", mode="agent").code == "forbidden"
    assert agent.reports("session.configure", mode="agent").code == "forbidden"


@pytest.mark.requirement("PLAN-GATE-16", "PLAN-GATE-17")
def test_the_gate_file_follows_the_mode_after_each_commit(world: World) -> None:
    agent = world.agent()
    folder = world.folder / "gate"
    agent.do("plan.enter").ok()
    assert [path.name for path in folder.iterdir()] == [agent.id]
    agent.submit().ok()
    world.person.approve().ok()
    assert list(folder.iterdir()) == []


@pytest.mark.requirement("PLAN-GATE-07")
def test_a_third_partys_tool_is_read_only_only_if_an_operator_says_so(world: World) -> None:
    agent = world.agent()
    agent.do("plan.enter").ok()
    assert gate(agent, "foreign", tool="mcp__db__query") == "deny"
    world.person.do("settings.set", key="gate.read_only_tools", value=["mcp__db__query"]).ok()
    assert gate(agent, "foreign", tool="mcp__db__query") is None
    assert gate(agent, "foreign", tool="mcp__db__drop") == "deny"


@pytest.mark.requirement("PLAN-CHECKLIST-12")
def test_a_cycle_of_dependencies_is_a_warning_and_binds_nothing(world: World) -> None:
    agent = world.agent().works("- [ ] a\n  - **After:** b\n- [ ] b\n  - **After:** a\n")
    assert world.person.card()["warnings"] != []
    agent.tick("a").ok()
    assert agent.tick("b").ok().text.startswith("2/2")
