"""Plans that a session proposed are shown with what became of them there. All transcripts are synthetic."""

from __future__ import annotations

from pathlib import Path

import pytest

from standfast import transcripts
from tests.transcripts.left import left_by, whys
from tests.transcripts.written import ClaudeSession, CodexSession
from tests.transcripts.written_others import GeminiChat

pytestmark = pytest.mark.requirement("RESTORE-07")

PLAN = "# Replace the parser\n\n- [ ] One\n- [ ] Two\n"
REFUSED = "The user doesn't want to proceed with this tool use. The tool use was rejected."


def states(report: transcripts.Report) -> list[tuple[str, str | None]]:
    return [(plan.state, plan.text) for plan in report.plans]


def test_a_plan_mode_exit_without_a_result_is_a_proposal(tmp_path: Path) -> None:
    session = ClaudeSession()
    session.prompt()
    session.call("ExitPlanMode", {"plan": PLAN})
    report = left_by(tmp_path, session.data())
    assert states(report) == [("proposed", PLAN)]
    assert "submit it anew" in report.words()
    assert report.lists == ()


def test_a_rejected_plan_is_rejected_and_an_accepted_one_approved_elsewhere(tmp_path: Path) -> None:
    session = ClaudeSession()
    session.prompt()
    session.result(session.call("ExitPlanMode", {"plan": "First"}), REFUSED, error=True)
    said = {"plan": PLAN, "filePath": "/plans/a.md", "isAgent": False}
    session.result(session.call("ExitPlanMode", {}), "User has approved your plan.", said)
    report = left_by(tmp_path, session.data())
    assert states(report) == [("approved_elsewhere", PLAN), ("rejected", "First")]
    assert report.plans[0].file == "/plans/a.md"
    assert "approved elsewhere; shown only" in report.words()


def test_an_exit_that_the_tool_refused_is_no_proposal(tmp_path: Path) -> None:
    session = ClaudeSession()
    session.prompt()
    session.result(session.call("ExitPlanMode", {"plan": PLAN}), "You are not in plan mode.", error=True)
    report = left_by(tmp_path, session.data())
    assert (report.plans, whys(report)) == ((), ["failure"])


def test_of_two_open_proposals_only_the_newest_is_open(tmp_path: Path) -> None:
    session = ClaudeSession()
    session.prompt()
    session.call("ExitPlanMode", {"plan": "First"})
    session.prompt()
    session.call("ExitPlanMode", {"plan": "Second"})
    assert states(left_by(tmp_path, session.data())) == [("proposed", "Second"), ("superseded", "First")]


def test_a_proposal_in_an_abandoned_branch_is_none(tmp_path: Path) -> None:
    session = ClaudeSession()
    kept = session.prompt()
    session.call("ExitPlanMode", {"plan": PLAN})
    session.tip = kept
    session.say()
    report = left_by(tmp_path, session.data())
    assert (report.plans, whys(report)) == ((), ["abandoned"])


def propose(session: CodexSession, text: str) -> None:
    turn = session.begin(mode="plan")
    session.event("item_completed", turn_id=turn, item={"type": "Plan", "id": f"{turn}-plan", "text": text})
    session.end(turn)


def test_a_plan_of_codex_stays_proposed_while_the_mode_is_plan(tmp_path: Path) -> None:
    session = CodexSession()
    propose(session, "First")
    assert states(left_by(tmp_path, session.data())) == [("proposed", "First")]
    propose(session, PLAN)
    assert states(left_by(tmp_path, session.data())) == [("proposed", PLAN), ("superseded", "First")]


def test_a_prompt_in_another_mode_is_how_codex_approves(tmp_path: Path) -> None:
    session = CodexSession()
    propose(session, PLAN)
    session.begin("Implement the plan.")
    assert states(left_by(tmp_path, session.data())) == [("approved_elsewhere", PLAN)]


def test_a_rolled_back_turn_takes_its_plan_with_it(tmp_path: Path) -> None:
    session = CodexSession()
    propose(session, "First")
    propose(session, PLAN)
    session.event("thread_rolled_back", num_turns=1)
    report = left_by(tmp_path, session.data())
    assert states(report) == [("proposed", "First")]


def test_the_mode_of_a_rolled_back_turn_approves_nothing(tmp_path: Path) -> None:
    session = CodexSession()
    propose(session, PLAN)
    turn = session.begin("Implement the plan.")
    session.end(turn)
    session.event("thread_rolled_back", num_turns=1)
    assert states(left_by(tmp_path, session.data())) == [("proposed", PLAN)]


def test_plans_and_lists_of_codex_are_two_things(tmp_path: Path) -> None:
    session = CodexSession()
    session.turn([("One", "pending")])
    propose(session, PLAN)
    report = left_by(tmp_path, session.data())
    assert report.main is not None
    assert ([item.content for item in report.main.items], len(report.plans)) == (["One"], 1)


def test_a_plan_of_gemini_is_in_a_file_and_refused_in_words(tmp_path: Path) -> None:
    chat = GeminiChat()
    chat.prompt()
    chat.call("exit_plan_mode", {"plan_filename": "a.md"}, answer="Plan rejected. User feedback: smaller.")
    chat.call("exit_plan_mode", {"plan_filename": "b.md"}, answer="Plan approved. Switching to Default mode.")
    report = left_by(tmp_path, chat.data())
    assert [(plan.state, plan.file) for plan in report.plans] == [
        ("approved_elsewhere", "b.md"),
        ("rejected", "a.md"),
    ]
