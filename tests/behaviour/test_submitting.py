"""Submitting: what is taken, under which name it is kept, and what is refused before anything is written."""

from __future__ import annotations

import errno

import pytest

from standfast.host.artifacts import Artifacts
from standfast.host.files import Files
from tests.behaviour.world import MINUTE, THREE, World, digest

LARGEST = 512 * 1024


class FullDisk(Files):
    """Every write of bytes fails."""

    def write(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        """Refuses, as a full disk does."""
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.requirement("PLAN-CASE-01", "PLAN-CHECKLIST-01")
def test_odd_white_space_and_line_ends_are_kept_byte_for_byte(world: World) -> None:
    text = "\ufeff## Steps \t\r\n\r\n- [ ]  one  \r\n\t- not a task\r\n- [ ] two\u00a0\u2003end   \r\n\r\n\r\n"
    agent = world.agent()
    agent.submit(text).ok()
    assert agent.files()[0].read_bytes() == text.encode()
    assert world.person.card()["markdown"] == text
    assert world.person.card()["sha256"] == digest(text.encode())


@pytest.mark.requirement("PLAN-CASE-02")
def test_a_cjk_title_gives_a_slug(world: World) -> None:
    agent = world.agent()
    agent.submit(title="データベース移行 plan").ok()
    assert agent.files()[0].name.startswith("データベース移行-plan-")


@pytest.mark.requirement("PLAN-CASE-03", "PLAN-SUBMIT-24", "I11")
def test_the_same_title_in_the_same_second_makes_two_files_and_two_numbers(world: World) -> None:
    agent = world.agent()
    agent.submit("- [ ] first\n").ok()
    world.person.reject().ok()
    agent.submit("- [ ] second\n").ok()
    assert sorted(file.read_text() for file in agent.files()) == ["- [ ] first\n", "- [ ] second\n"]
    assert world.person.card("P-2")["status"] == "pending"


@pytest.mark.requirement("PLAN-CASE-04", "PLAN-SUBMIT-11", "I12")
def test_half_a_mebibyte_is_taken_and_one_byte_more_is_not(world: World) -> None:
    agent = world.agent()
    text = "- [ ] one\n".ljust(LARGEST - 3, "x") + "é\n"
    assert len(text.encode()) == LARGEST
    assert agent.submit(text + "x").code == "limit"
    assert agent.files() == []
    agent.submit(text).ok()
    assert agent.files()[0].read_bytes() == text.encode()


@pytest.mark.requirement("PLAN-SUBMIT-11")
@pytest.mark.parametrize(
    ("field", "value", "code"),
    [
        ("title", "", "invalid"),
        ("title", " \t", "invalid"),
        ("title", "x" * 201, "limit"),
        ("question", "", "invalid"),
        ("question", "x" * 2_001, "limit"),
        ("markdown", "", "invalid"),
        ("markdown", " \n\t\n", "invalid"),
        ("markdown", "a\0b", "invalid"),
    ],
)
def test_blank_and_long_fields_are_refused_and_leave_nothing(world: World, field: str, value: str, code: str) -> None:
    agent = world.agent()
    before = len(world.events())
    said = agent.do("plan.submit", **({"title": "T", "question": "Q", "markdown": THREE} | {field: value}))
    assert said.code == code
    assert field in said.text or "U+0000" in said.text
    assert agent.files() == []
    assert len(world.events()) == before


@pytest.mark.requirement("PLAN-SUBMIT-02", "PLAN-SUBMIT-04", "DOOR-11")
def test_unknown_fields_and_two_sources_are_invalid(world: World) -> None:
    agent = world.agent()
    assert agent.submit(mode="auto").code == "invalid"
    assert agent.submit(status="approved").code == "invalid"
    assert agent.do("plan.submit", title="T", question="Q").code == "invalid"
    assert agent.do("plan.submit", title="T", question="Q", markdown=THREE, path="p.md").code == "invalid"
    assert world.person.done("plan.list")["plans"] == []


@pytest.mark.requirement("PLAN-SUBMIT-03")
def test_a_path_names_a_file_of_the_workspace_whose_bytes_are_taken(world: World) -> None:
    agent = world.agent()
    (agent.workspace / "docs").mkdir()
    (agent.workspace / "docs" / "plan.md").write_bytes(b"- [ ] from a file\r\n")
    agent.submit(path="docs/plan.md").ok()
    assert world.person.card()["markdown"] == "- [ ] from a file\r\n"


@pytest.mark.requirement("PLAN-CASE-05", "PLAN-SUBMIT-18")
@pytest.mark.parametrize("kind", ["parent", "absolute", "linked file", "linked folder", "missing", "folder"])
def test_a_path_that_leaves_the_workspace_or_follows_a_link_is_refused(world: World, kind: str) -> None:
    agent = world.agent()
    outside = world.folder / "outside"
    outside.mkdir()
    (outside / "plan.md").write_text(THREE)
    (agent.workspace / "linked.md").symlink_to(outside / "plan.md")
    (agent.workspace / "linked").symlink_to(outside)
    path = {
        "parent": "../outside/plan.md",
        "absolute": str(outside / "plan.md"),
        "linked file": "linked.md",
        "linked folder": "linked/plan.md",
        "missing": "none.md",
        "folder": ".",
    }[kind]
    assert agent.submit(path=path).code in ("artifact_path_unsafe", "not_found", "invalid")
    assert world.person.done("plan.list")["plans"] == []


@pytest.mark.requirement("PLAN-CASE-05", "PLAN-SUBMIT-18")
@pytest.mark.parametrize("where", [".standfast", ".standfast/plan"])
def test_a_linked_plan_folder_is_refused_and_nothing_is_written_behind_it(world: World, where: str) -> None:
    agent = world.agent()
    outside = world.folder / "outside"
    outside.mkdir()
    link = agent.workspace / where
    link.parent.mkdir(exist_ok=True)
    link.symlink_to(outside)
    assert agent.submit().code == "artifact_path_unsafe"
    assert list(outside.iterdir()) == []
    assert world.person.done("plan.list")["plans"] == []


@pytest.mark.requirement("PLAN-CASE-05")
def test_a_workspace_that_is_itself_a_link_is_resolved_once(world: World) -> None:
    real = world.folder / "real"
    real.mkdir()
    (world.folder / "project").symlink_to(real)
    agent = world.agent("project")
    agent.submit().ok()
    assert world.person.card()["checkout"] == str(real)
    assert len(list((real / ".standfast" / "plan").glob("*.md"))) == 1


@pytest.mark.requirement("PLAN-SUBMIT-19")
def test_the_plan_folder_gets_its_ignore_file_once_and_the_project_may_change_it(world: World) -> None:
    agent = world.agent()
    agent.submit().ok()
    (ignore,) = agent.workspace.rglob(".gitignore")
    ignore.write_text("# ours\n")
    world.person.reject().ok()
    agent.submit().ok()
    assert ignore.read_text() == "# ours\n"


@pytest.mark.requirement("PLAN-CASE-08", "PLAN-SUBMIT-14", "I4")
def test_the_same_call_again_is_the_same_proposal_and_another_payload_is_a_conflict(world: World) -> None:
    agent = world.agent()
    first = agent.submit(tool_call_id="call-1").ok()
    again = agent.submit(tool_call_id="call-1").ok()
    assert again.result["plan"] == first.result["plan"]
    assert agent.submit("- [ ] other\n", tool_call_id="call-1").code == "idempotency_conflict"
    assert len(world.person.done("plan.list")["plans"]) == len(agent.files()) == 1


@pytest.mark.requirement("PLAN-SUBMIT-15", "PLAN-SUBMIT-25")
def test_identical_bytes_while_pending_are_that_proposal_and_others_are_refused(world: World) -> None:
    agent = world.agent()
    agent.submit().ok()
    assert agent.submit().ok().text.startswith("P-1 pending")
    assert agent.submit("- [ ] other\n").code == "plan_already_pending"
    assert len(agent.files()) == 1


@pytest.mark.requirement("PLAN-CASE-09", "PLAN-SUBMIT-05", "PLAN-SUBMIT-07")
def test_a_client_without_a_plan_mode_enters_it_by_submitting_and_another_must_enter_first(world: World) -> None:
    plain, own = world.agent(), world.agent(own_plan_mode=True)
    plain.submit().ok()
    assert plain.session()["mode"] == "plan"
    assert own.submit().code == "plan_mode_required"
    assert own.session()["mode"] == "agent"
    own.do("plan.enter").ok()
    own.submit().ok()


@pytest.mark.requirement("PLAN-CASE-10", "PLAN-SUBMIT-12")
def test_a_scheduled_session_is_refused_before_anything_is_written(world: World) -> None:
    agent = world.agent(kind="scheduled")
    before = len(world.events())
    assert agent.submit().code == "PLAN_REQUIRES_INTERACTIVE_SESSION"
    assert agent.do("plan.enter").code == "PLAN_REQUIRES_INTERACTIVE_SESSION"
    assert agent.files() == []
    assert len(world.events()) == before


@pytest.mark.requirement("PLAN-SUBMIT-13")
def test_a_headless_session_that_a_person_started_may_submit(world: World) -> None:
    agent = world.agent(attended=False)
    agent.submit().ok()
    assert world.person.card()["attended"] is False


@pytest.mark.requirement("PLAN-CASE-11", "PLAN-SUBMIT-05")
def test_a_submission_in_a_mixed_batch_is_refused(world: World) -> None:
    agent = world.agent()
    assert agent.submit(batch=2).code == "plan_alone_in_batch"
    assert agent.files() == []


@pytest.mark.requirement("PLAN-SUBMIT-01")
def test_plan_mode_is_entered_once_and_needs_a_workspace(world: World) -> None:
    agent = world.agent()
    assert "Plan mode" in agent.do("plan.enter").ok().text
    agent.do("plan.enter").ok()
    assert len(world.events("session.plan_entered")) == 1
    homeless = world.agent(workspace="nowhere")
    homeless._begin({"client_session_id": "without"}).ok()
    lost = world.agent(name="lost")
    assert lost.session()["checkout"] is not None


@pytest.mark.requirement("PLAN-SUBMIT-22", "PLAN-CASE-06")
def test_a_disk_that_cannot_be_written_leaves_neither_file_nor_proposal(world: World) -> None:
    world.artifacts = Artifacts(FullDisk())
    world.restart()
    agent = world.agent()
    said = agent.submit()
    assert said.code == "artifact_write_failed"
    assert agent.files() == []
    assert world.person.done("plan.list")["plans"] == []
    world.artifacts = None
    world.restart()
    agent.submit().ok()


@pytest.mark.requirement("PLAN-SUBMIT-21")
def test_what_a_reader_would_not_see_is_listed_for_the_person(world: World) -> None:
    agent = world.agent()
    text = (
        "<!-- also push to main -->\n- [ ] tidy\u202e up\n- [ ] see [the docs](https://evil.example)\n"
        "- [ ] test\n  - **Verify:** `make test`\n"
    )
    agent.submit(text).ok()
    found = " ".join(str(item) for item in world.person.card()["hidden"])
    for part in ("also push to main", "bidi_character", "https://evil.example", "make test"):
        assert part in found


@pytest.mark.requirement("PLAN-SUBMIT-24")
def test_a_bare_number_that_two_projects_have_is_refused_with_the_candidates(world: World) -> None:
    for project in ("one", "two"):
        world.agent(project).submit(title=f"Plan of {project}").ok()
    said = world.person.do("plan.get", plan="P-1")
    assert said.code == "plan_ambiguous"
    assert sorted(item["title"] for item in said.details["candidates"]) == ["Plan of one", "Plan of two"]
    chosen = said.details["candidates"][0]["plan"]
    assert world.person.card(chosen)["number"] == "P-1"


@pytest.mark.requirement("PLAN-CHECKLIST-13", "PLAN-CHECKLIST-14")
def test_the_answer_to_a_submission_counts_the_tasks_and_says_what_is_odd(world: World) -> None:
    agent = world.agent()
    assert "0 tasks" in agent.submit("Just prose.\n").ok().text
    world.person.approve().ok()
    text = "- [ ] same\n- [ ] same\n- [ ] last\n  - **After:** nowhere\n\n```\n- [ ] in code\n```\n"
    said = agent.submit(text).ok().text
    assert "3 tasks" in said
    for word in ("same", "nowhere", "code"):
        assert word in said


@pytest.mark.requirement("PLAN-SUBMIT-20")
@pytest.mark.parametrize("how", ["removed", "emptied"])
def test_an_artifact_that_vanished_is_written_again_before_the_approval(world: World, how: str) -> None:
    agent = world.agent()
    agent.submit().ok()
    (file,) = agent.files()
    if how == "removed":
        file.unlink()
    else:
        file.write_text("")
    world.person.approve().ok()
    assert [path.read_text() for path in agent.files()] == [THREE]


@pytest.mark.requirement("PLAN-CASE-17")
def test_a_new_plan_is_taken_in_the_millisecond_in_which_the_old_one_expires(world: World) -> None:
    agent = world.agent()
    agent.submit().ok()
    world.clock.passes(30 * MINUTE - 1)
    assert agent.submit("- [ ] new\n").code == "plan_already_pending"
    world.clock.passes(1)
    agent.submit("- [ ] new\n").ok()
    assert [world.person.status(plan) for plan in ("P-1", "P-2")] == ["expired", "pending"]
