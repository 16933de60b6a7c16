"""What the page reads: what every session does and waits for, comparisons, search, the journal backwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from standfast.domain.change import Actor
from standfast.domain.errors import Refusal
from standfast.host.overview import pattern
from standfast.testing.play import Call, Play

GATED = "- [ ] one\n- [ ] two\n  - **Gate:** human\n"
FINAL = "- [ ] drop\n  - **Effect:** irreversible\n- [ ] rest\n"


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    """A host on a folder."""
    play = Play(tmp_path / "home")
    yield play
    play.close()


def overview(play: Play, session: str) -> dict[str, Any]:
    """A session as the overview shows it."""
    found: list[dict[str, Any]] = play.person("session.overview")["sessions"]
    return next(each for each in found if each["session"] == session)


def test_a_session_without_a_plan_is_idle_and_waits_for_nothing(play: Play) -> None:
    shown = overview(play, play.session())
    assert (shown["activity"]["state"], shown["plan"], shown["waits"]) == ("idle", None, [])


def test_a_pending_plan_waits_for_a_verdict_with_its_deadline(play: Play) -> None:
    session = play.session()
    play.pending(session)
    shown = overview(play, session)
    assert shown["activity"]["state"] == "waiting"
    [wait] = shown["waits"]
    assert (wait["for"], wait["number"], wait["question"]) == ("verdict", "P-1", "Go?")
    assert wait["expires_at"] > wait["since"]


def test_work_is_shown_with_its_next_task_and_a_gate_as_waiting(play: Play) -> None:
    session = play.session()
    play.approved(session, GATED)
    play.agent(session, "plan.tick", title="one")
    shown = overview(play, session)
    assert (shown["activity"]["state"], shown["plan"]["done"]) == ("working", 1)
    assert shown["next"] == {"task": "P-1.2", "title": "two"}
    play.agent(session, "plan.tick", title="two")
    [wait] = overview(play, session)["waits"]
    assert (wait["for"], wait["task"]) == ("confirmation", "P-1.2")


def test_an_uncertain_task_and_an_interrupted_proposal_are_shown_as_waiting(play: Play) -> None:
    one, two = play.session(), play.session("two")
    play.approved(one, FINAL)
    play.agent(one, "plan.begin", title="drop")
    play.call(Call("coordinator", one, "turn.end", {"stop_reason": "lost"}))
    play.person("plan.abort", plan=play.pending(two)["plan"])
    assert [wait["for"] for wait in overview(play, one)["waits"]] == ["outcome"]
    assert [wait["for"] for wait in overview(play, two)["waits"]] == ["reoffer"]


def test_what_waits_is_listed_however_old_its_session_is(play: Play) -> None:
    first = play.session("first")
    play.pending(first)
    for n in range(3):
        play.session(f"later{n}")
    found = play.person("session.overview", limit=1)["sessions"]
    newest = play.person("session.list", limit=1)["sessions"][0]["session"]
    assert {each["session"] for each in found} == {first, newest}


def test_a_plan_is_compared_with_the_one_whose_place_it_takes(play: Play) -> None:
    session = play.session()
    first = play.approved(session)
    play.agent(session, "plan.enter")
    second = play.pending(session, "- [ ] one\n- [ ] two and a half\n- [ ] three\n")
    found = play.person("plan.compare", plan=second["plan"])
    assert found["base"]["plan"] == first["plan"]
    assert (found["added"], found["removed"]) == (1, 1)
    play.person("plan.reject", plan=second["plan"])
    third = play.pending(session, "- [ ] other\n")
    assert play.person("plan.compare", plan=third["plan"], base="P-2")["base"]["number"] == "P-2"


def test_the_first_plan_of_a_session_is_compared_with_nothing(play: Play) -> None:
    assert play.person("plan.compare", plan=play.pending(play.session())["plan"])["base"] is None


def test_a_revision_of_a_rejected_plan_is_compared_with_it(play: Play) -> None:
    session = play.session()
    play.person("plan.reject", plan=play.pending(session)["plan"])
    assert play.person("plan.compare", plan=play.pending(session, "- [ ] x\n")["plan"])["base"]["number"] == "P-1"


@pytest.mark.parametrize("text", ["plan", "GO?", "TWO", "P-1", "p-1", "project"])
def test_a_plan_is_found_by_its_words_its_text_and_its_number(play: Play, text: str) -> None:
    play.pending(play.session())
    assert [plan["number"] for plan in play.person("host.search", text=text)["plans"]] == ["P-1"]


def test_wildcards_are_searched_for_as_they_are(play: Play) -> None:
    play.pending(play.session(), "- [ ] raise by 100%\n")
    assert len(play.person("host.search", text="100%")["plans"]) == 1
    assert play.person("host.search", text="1_0")["plans"] == []
    assert pattern("A%!É") == "%a!%!!É%"


def test_a_session_is_found_by_its_client_and_its_id(play: Play) -> None:
    session = play.session("talk-7")
    for text in ("kit", "TALK-7", session):
        assert [each["session"] for each in play.person("host.search", text=text)["sessions"]] == [session]


def test_the_journal_is_read_backwards_and_by_kind(play: Play) -> None:
    session = play.session()
    play.approved(session)
    page = play.person("events.list", before=10**9, limit=3)
    numbers = [event["seq"] for event in page["events"]]
    assert numbers == sorted(numbers, reverse=True)
    assert page["last"] == numbers[-1]
    before = play.person("events.list", before=page["last"], session=session)["events"]
    assert all(event["seq"] < page["last"] for event in before)
    kinds = [event["kind"] for event in play.person("events.list", before=10**9, kind="plan")["events"]]
    assert kinds == ["plan.approved", "plan.submitted"]
    with pytest.raises(Refusal):
        play.person("events.list", before=1, kind="plan.%")


def test_the_marker_is_shown_to_a_person_without_being_told(play: Play) -> None:
    session = play.session()
    play.approved(session)
    shown = play.person("context.show", session=session)
    assert shown["due"]
    assert shown["marker"].startswith("[standfast] P-1")
    client = Actor(role="coordinator", session=session)
    assert play.host.call("context.marker", {}, client).result["marker"] == shown["marker"]
    assert not play.person("context.show", session=session)["due"]


def test_an_edited_version_takes_the_place_of_exactly_the_plan_that_it_names(play: Play) -> None:
    session = play.session()
    seen = play.pending(session)
    wish = {"session": session, "mode": "ask", "title": "Mine", "markdown": "- [ ] mine\n"}
    with pytest.raises(Refusal) as refused:
        play.person("plan.adopt", **wish, replaces=play.pending(play.session("two"))["plan"])
    assert refused.value.code == "stale"
    assert play.person("plan.adopt", **wish, replaces=seen["plan"])["status"] == "approved"
    assert play.person("plan.get", plan=seen["plan"])["status"] == "rejected"
    with pytest.raises(Refusal):
        play.person("plan.adopt", **wish, replaces=seen["plan"])


def test_a_card_shows_the_ticks_of_a_plan_that_was_moved_to_another_session(play: Play) -> None:
    one, two = play.session(), play.session("two")
    seen = play.approved(one)
    play.agent(one, "plan.tick", title="one")
    play.person("plan.attach", plan=seen["plan"], session=two)
    shown = play.person("plan.get", plan=seen["plan"])
    assert (shown["tracked_in"], shown["tracker"], shown["done"]) == (two, "active", 1)


def test_a_file_with_a_character_that_no_reader_shows_is_no_plan(play: Play) -> None:
    session = play.session()
    (play.folder / "project" / "x.md").write_bytes(b"- [ ] a\0b\n")
    with pytest.raises(Refusal) as refused:
        play.person("plan.adopt", session=session, mode="ask", title="T", path="x.md")
    assert refused.value.code == "invalid"


def test_a_card_says_what_the_client_can_enforce(play: Play) -> None:
    plain = play.person("plan.get", plan=play.pending(play.session())["plan"])
    assert not any(plain["enforced"].values())
    hooked = play.session("two", client="claude-code", own_plan_mode=True)
    play.agent(hooked, "plan.enter")
    found = play.person("plan.get", plan=play.pending(hooked)["plan"])
    assert found["enforced"] == {"deny": True, "ask": True, "rewrite": False, "set_mode": False}
