"""The resume view reaches the model once: whichever hooks fire, however often, and whoever dies in between."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.hooking import Claude, works_on_a_plan
from tests.support.hosts import Running, running_host

VIEW = "Context restored by Standfast"


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_host(tmp_path_factory.mktemp("k") / "home") as running:
        yield running


def planned(host: Running, folder: Path) -> Claude:
    """A conversation that has worked on an approved plan for one turn."""
    works_on_a_plan(host, folder / "w", "claude-code", folder.name)
    talk = Claude(host.home, folder / "w", folder.name)
    talk.told("UserPromptSubmit", prompt_id="0")
    talk.told("Stop")
    return talk


@pytest.mark.requirement("HOOK-02")
def test_a_resume_and_the_compaction_right_after_it_tell_one_view(host: Running, tmp_path: Path) -> None:
    talk = planned(host, tmp_path)
    assert VIEW in talk.told("SessionStart", source="resume")
    assert talk.told("SessionStart", source="resume") == ""
    assert talk.told("SessionStart", source="compact") == ""
    assert talk.told("SessionStart", source="compact") == ""
    assert talk.told("SessionStart", source="resume") == ""


@pytest.mark.requirement("HOOK-02")
def test_a_compaction_after_a_prompt_tells_the_view_that_it_took_away(host: Running, tmp_path: Path) -> None:
    talk = planned(host, tmp_path)
    assert VIEW in talk.told("SessionStart", source="resume")
    talk.told("UserPromptSubmit", prompt_id="1")
    assert VIEW in talk.told("SessionStart", source="compact")
    assert talk.told("SessionStart", source="compact") == ""


@pytest.mark.requirement("HOOK-02")
def test_a_view_that_no_answer_followed_is_told_to_the_next_process(host: Running, tmp_path: Path) -> None:
    talk = planned(host, tmp_path)
    start = {"hook_event_name": "SessionStart", "source": "resume"}
    assert VIEW in talk.told("SessionStart", source="resume")
    assert VIEW in str(talk.send(elsewhere=True, **start))
    talk.told("UserPromptSubmit", prompt_id="1")
    assert VIEW in talk.told("SessionStart", source="resume")


@pytest.mark.requirement("HOOK-02")
def test_a_view_that_was_answered_is_told_again_only_after_a_prompt_that_the_client_died_in(
    host: Running, tmp_path: Path
) -> None:
    talk = planned(host, tmp_path)
    talk.told("SessionStart", source="resume")
    talk.told("UserPromptSubmit", prompt_id="1")
    talk.gate("Read")
    assert talk.told("SessionStart", source="resume") == "", "died after an answer: the view is in the transcript"
    talk.told("UserPromptSubmit", prompt_id="2")
    talk.told("Stop")
    assert talk.told("SessionStart", source="resume") == ""
    talk.told("UserPromptSubmit", prompt_id="3")
    assert VIEW in talk.told("SessionStart", source="resume"), "the client drops a prompt that it died in"


@pytest.mark.requirement("HOOK-02")
def test_a_view_that_was_answered_is_not_told_again_by_a_later_host(tmp_path: Path) -> None:
    with running_host(tmp_path / "home") as host:
        talk = planned(host, tmp_path)
        assert VIEW in talk.told("SessionStart", source="resume")
        talk.told("UserPromptSubmit", prompt_id="1")
        talk.told("Stop")
        host.process.kill()
    with running_host(tmp_path / "home") as host:
        assert talk.told("SessionStart", source="resume") == ""
        assert VIEW in talk.told("SessionStart", source="compact")
        assert host.done("audit.verify", {})["ok"]


@pytest.mark.requirement("HOOK-02")
def test_a_view_that_is_new_is_told(host: Running, tmp_path: Path) -> None:
    talk = planned(host, tmp_path)
    first = talk.told("SessionStart", source="resume")
    talk.told("UserPromptSubmit", prompt_id="1")
    talk.told("Stop")
    session = host.done("session.start", {"client": "claude-code", "client_session_id": tmp_path.name}, "agent")
    host.done("plan.tick", {"title": "a"}, "agent", Standfast_Session=session["token"])
    assert VIEW in (second := talk.told("SessionStart", source="resume"))
    assert first != second
