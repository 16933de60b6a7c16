"""What a person decides on a terminal, and what an agent on one cannot."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pexpect
import pytest

from standfast.cli.agents import MARKS, agent_name
from tests.support.hosts import PYTHON, Running, running_host
from tests.support.terminal import SECONDS, ended, on_terminal, pending, person, standfast


@pytest.fixture
def host(planned: Running) -> Running:
    return planned


@pytest.mark.requirement("CLI-05")
def test_a_person_approves_on_a_terminal_after_seeing_everything(host: Running, tmp_path: Path) -> None:
    markdown = "- [ ] Lay tiles\n  - **Verify:** `make roof`\n- [ ] Sign\n  - **Gate:** human\n<!-- psst -->\n"
    plan = pending(host, tmp_path, markdown)
    child = on_terminal(host.home, f"plans approve {plan['plan']}")
    child.expect("Permission mode .*: ")
    seen = child.before
    for part in ("Mend the roof", "Shall I go up?", plan["sha256"], "Lay tiles", "make roof", "Sign", "psst", "29 min"):
        assert part in seen
    assert child.after.endswith("[ask]: ")
    child.sendline("everything")
    child.expect("Permission mode .*: ")
    child.sendline("accept_edits")
    child.expect(r"\[y/N\] ")
    child.sendline("y")
    status, said = ended(child)
    assert status == 0
    assert "approved" in said
    assert host.done("plan.get", {"plan": plan["plan"]})["permission_mode"] == "accept_edits"


@pytest.mark.requirement("CLI-05")
def test_the_carry_over_is_shown_before_the_approval(host: Running, tmp_path: Path) -> None:
    _, token = host.approved(tmp_path / "w", name=str(tmp_path))
    host.done("plan.tick", {"title": "one"}, "agent", Standfast_Session=token)
    plan = pending(host, tmp_path)
    child = on_terminal(host.home, f"plans approve {plan['plan']} --mode ask")
    child.expect(r"\[y/N\] ")
    assert "Already done in the older plan: 1 of 3 (1)" in child.before
    child.sendline("n")
    assert ended(child)[0] == 1
    assert host.done("plan.get", {"plan": plan["plan"]})["status"] == "pending"


@pytest.mark.requirement("CLI-05")
@pytest.mark.parametrize("given", ["", "n", "yes please", "approve"])
def test_only_a_plain_yes_is_a_yes(host: Running, tmp_path: Path, given: str) -> None:
    plan = pending(host, tmp_path)
    child = on_terminal(host.home, f"plans approve {plan['plan']} --mode ask")
    child.expect(r"\[y/N\] ")
    child.sendline(given)
    status, said = ended(child)
    assert status == 1
    assert "Nothing was decided" in said
    assert host.done("plan.get", {"plan": plan["plan"]})["status"] == "pending"


@pytest.mark.requirement("CLI-05")
@pytest.mark.parametrize("key", ["\x03", "\x04"])
def test_giving_up_decides_nothing_and_shows_no_trace(host: Running, tmp_path: Path, key: str) -> None:
    plan = pending(host, tmp_path)
    child = on_terminal(host.home, f"plans approve {plan['plan']}")
    child.expect("Permission mode .*: ")
    child.send(key)
    status, said = ended(child)
    assert status == 130
    assert "Traceback" not in said
    assert host.done("plan.get", {"plan": plan["plan"]})["status"] == "pending"


@pytest.mark.requirement("CLI-02", "CLI-05")
def test_with_json_the_answer_is_alone_on_the_output(host: Running, tmp_path: Path) -> None:
    plan = pending(host, tmp_path)
    answer = tmp_path / "answer.json"
    words = [*PYTHON, "plans", "reject", plan["plan"], "--note", "Not in winter", "--json", "--home", str(host.home)]
    line = " ".join(map(shlex.quote, words))
    child = pexpect.spawn("/bin/sh", ["-c", f"{line} >{answer}"], env=person(), timeout=SECONDS, encoding="utf-8")
    child.expect(r"\[y/N\] ")
    assert "Mend the roof" in child.before
    child.sendline("y")
    assert ended(child)[0] == 0
    assert json.loads(answer.read_text())["status"] == "rejected"


@pytest.mark.requirement("CLI-04", "CLI-05")
def test_a_hostile_title_moves_nothing_on_the_terminal(host: Running, tmp_path: Path) -> None:
    plan = pending(host, tmp_path, "- [ ] a\x1b[2Jb\u202ec\n", title="x\x1b]0;owned\x07y")
    child = on_terminal(host.home, f"plans show {plan['plan']}")
    _, said = ended(child)
    assert not set(said) & {"\x1b", "\x07", "\u202e"}


@pytest.mark.requirement("CLI-06")
@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("verb", ["approve", "reject"])
def test_with_an_agents_mark_in_the_environment_no_verdict_is_given(host: Running, verb: str, mark: str) -> None:
    status, said = ended(on_terminal(host.home, f"plans {verb} P-1", **{mark: "1"}))
    assert status == 1
    assert f"under an agent ({mark})" in said


@pytest.mark.requirement("CLI-06")
@pytest.mark.parametrize(
    "line",
    [
        "abort P-1",
        "reoffer P-1",
        "abandon P-1",
        "abort-execution P-1",
        "adopt plan.md --session s --mode ask",
        "attach P-1 --session s",
        "confirm P-1.1",
        "resolve P-1.1 done",
    ],
)
def test_whatever_only_a_person_may_say_is_refused_under_an_agent_and_without_a_terminal(
    host: Running, line: str
) -> None:
    before = host.done("plan.list", {})
    status, said = ended(on_terminal(host.home, f"plans {line}", CLAUDECODE="1"))
    assert (status, "under an agent" in said) == (1, True)
    done = standfast(host.home, f"plans {line}")
    assert (done.returncode, "on a terminal" in done.stderr) == (1, True)
    after = host.done("plan.list", {})
    assert {**after, "now": 0} == {**before, "now": 0}


@pytest.mark.requirement("CLI-06")
def test_below_an_agents_process_no_verdict_is_given(host: Running, tmp_path: Path) -> None:
    shell = tmp_path / "claude"
    shutil.copy("/bin/sh", shell)
    line = " ".join(map(shlex.quote, [*PYTHON, "plans", "approve", "P-1", "--home", str(host.home)]))
    child = pexpect.spawn(str(shell), ["-c", f"{line}; exit $?"], env=person(), timeout=SECONDS, encoding="utf-8")
    status, said = ended(child)
    assert status == 1
    assert "under an agent (claude)" in said


@pytest.mark.requirement("CLI-06")
@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["/opt/bin/codex", "exec"], "codex"),
        (["node", "--max-old-space-size=4096", "/usr/lib/gemini.js", "-p", "x"], "gemini"),
        (["python3.11", "/usr/bin/hermes", "chat"], "hermes"),
        (["bash", "claude"], None),
        (["vim", "pi.md"], None),
        (["node", "server.js", "pi"], None),
        ([], None),
    ],
)
def test_an_agent_is_known_by_its_program_or_its_interpreters_script(words: list[str], name: str | None) -> None:
    assert agent_name(words) == name


@pytest.mark.requirement("CLI-01", "PLAN-VERDICT-10", "PLAN-VERDICT-12")
def test_the_other_words_of_a_person_do_what_they_say(host: Running, tmp_path: Path) -> None:
    first = pending(host, tmp_path)["plan"]
    steps = [("abort", "off the table"), ("reoffer", "waits for a verdict")]
    for verb, said in steps:
        status, text = ended(on_terminal(host.home, f"plans {verb} {first}"))
        assert (status, said in text) == (0, True), text
    number, where = re.search(r"P-\d+", text)[0], tmp_path / "w"  # type: ignore[index]
    child = on_terminal(host.home, f"plans approve {number} --mode ask", where)
    child.expect(r"\[y/N\] ")
    child.sendline("yes")
    assert ended(child)[0] == 0
    for verb, said in [("abort-execution", "not being executed"), ("abandon", "is abandoned")]:
        status, text = ended(on_terminal(host.home, f"plans {verb} {number}", where))
        assert (status, said in text) == (0, True), text
    answer = standfast(host.home, f"plans show {number} --json", where)
    assert json.loads(answer.stdout)["tracker"] == "abandoned"


@pytest.mark.requirement("CLI-01", "PLAN-SUBMIT-09")
def test_a_person_adopts_a_file_of_their_own(host: Running, tmp_path: Path) -> None:
    session, _ = host.session(tmp_path / "w", name=str(tmp_path))
    (tmp_path / "mine.md").write_text("- [ ] My way\n")
    (tmp_path / "odd.md").write_bytes(b"- [ ] \xff\n")
    options = f"--session {session} --mode auto"
    assert ended(on_terminal(host.home, f"plans adopt {tmp_path}/gone.md {options}"))[0] == 2
    status, said = ended(on_terminal(host.home, f"plans adopt {tmp_path}/odd.md {options}"))
    assert (status, "not UTF-8 (byte 6)" in said) == (2, True)
    status, said = ended(on_terminal(host.home, f"plans adopt {tmp_path}/mine.md {options}"))
    assert status == 0
    number = re.search(r"P-\d+", said)[0]  # type: ignore[index]
    assert standfast(host.home, f"plans open {number}", tmp_path / "w").stdout == "- [ ] My way\n"


@pytest.mark.requirement("CLI-01", "PLAN-SUBMIT-24")
def test_a_number_alone_is_the_plan_of_the_project_where_the_person_is(tmp_path: Path) -> None:
    with running_host(tmp_path / "home") as host:
        for name in ("one", "two"):
            _, token = host.approved(tmp_path / name, name=name)
            wish = {"title": f"Mend {name}", "question": "?", "markdown": "- [ ] Sign\n  - **Gate:** human\n"}
            host.done("plan.submit", wish, "agent", Standfast_Session=token)
        (tmp_path / "one" / "deep").mkdir()
        (tmp_path / "one" / ".standfast" / "project").write_text("house\n")
        alone = standfast(host.home, "plans show P-2", tmp_path)
        assert alone.returncode == 1
        assert re.search(rf"^standfast: plan_ambiguous: .* \({tmp_path}/one\)", alone.stderr)
        assert "Mend two" in standfast(host.home, "plans show P-2", tmp_path / "two").stdout
        assert "Mend one" in standfast(host.home, "plans show P-2", tmp_path / "one").stdout
        child = on_terminal(host.home, "plans approve P-2 --mode ask", tmp_path / "two")
        child.expect(r"\[y/N\] ")
        child.sendline("y")
        assert ended(child)[0] == 0
        _, token = host.session(tmp_path / "two", name="two")
        host.done("plan.tick", {"id": "P-2.1"}, "agent", Standfast_Session=token)
        assert ended(on_terminal(host.home, "plans confirm P-2.1", tmp_path / "two"))[0] == 0
