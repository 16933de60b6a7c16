"""The command line as a person and a script use it, against a real host and on a real terminal."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest

from standfast.cli.agents import MARKS, agent_name
from standfast.cli.commands import build_parser
from tests.support.hosts import PLAN, PYTHON, Running, running_host

SECONDS = 30
READING = [
    "status",
    "doctor",
    "doctor --policy",
    "web",
    "plans",
    "plans list",
    "plans show P-1",
    "plans open P-1",
    "plans tasks P-1",
    "plans ticks P-1",
    "sessions",
    "sessions list",
    "settings",
    "events",
    "audit",
    "audit verify",
    "call plan.list",
]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("c")
    with running_host(folder / "home") as running:
        running.approved(folder / "w")
        yield running


def person() -> dict[str, str]:
    """An environment without an agent's marks."""
    return {name: value for name, value in os.environ.items() if name not in MARKS}


def place(home: Path) -> Path | None:
    """The workspace of the host's first plan, where people are while they speak of P-1."""
    return home.parent / "w" if (home.parent / "w").is_dir() else None


def standfast(home: Path, line: str, at: Path | None = None) -> subprocess.CompletedProcess[str]:
    """One command line without a terminal."""
    return subprocess.run(
        [*PYTHON, *line.split(), "--home", str(home)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        env=person(),
        cwd=at or place(home),
    )


def hears_interrupts() -> None:
    """As from a person's shell: what starts tests in the background may have told them not to hear Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def on_terminal(home: Path, line: str, at: Path | None = None, **environ: str) -> Any:
    """One command line on a terminal of its own."""
    command = [*PYTHON[1:], *line.split(), "--home", str(home)]
    where = str(at or place(home) or "/")
    return pexpect.spawn(
        sys.executable,
        command,
        env={**person(), **environ},
        timeout=SECONDS,
        encoding="utf-8",
        dimensions=(50, 200),
        preexec_fn=hears_interrupts,
        cwd=where,
    )


def ended(child: Any) -> tuple[int, str]:
    """The exit status and what was said until then."""
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus, child.before


def pending(host: Running, tmp_path: Path, markdown: str = PLAN, title: str = "Mend the roof") -> dict[str, Any]:
    """A plan that waits for a verdict."""
    _, token = host.session(tmp_path / "w", name=str(tmp_path))
    wish = {"title": title, "question": "Shall I go up?", "markdown": markdown}
    plan: dict[str, Any] = host.done("plan.submit", wish, "agent", Standfast_Session=token)
    return plan


@pytest.mark.requirement("CLI-01", "CLI-02", "CLI-04")
@pytest.mark.parametrize("line", READING)
def test_every_reading_command_succeeds_as_text_and_as_json_and_without_colour(host: Running, line: str) -> None:
    text = standfast(host.home, line)
    assert (text.returncode, text.stderr) == (0, "")
    assert text.stdout.strip()
    assert "\x1b" not in text.stdout
    answer = standfast(host.home, f"{line} --json")
    assert (answer.returncode, answer.stderr) == (0, "")
    if line == "events":
        assert all(json.loads(each)["seq"] for each in answer.stdout.splitlines())
    else:
        json.loads(answer.stdout)


@pytest.mark.requirement("CLI-02")
def test_every_command_takes_json() -> None:
    reading = {line.split(" --")[0] for line in READING}
    seen = set()

    def walk(parser: Any, path: str) -> None:
        for action in parser._actions:
            if isinstance(action.choices, dict):
                for name, child in action.choices.items():
                    walk(child, f"{path} {name}".strip())
        if path:
            seen.add(path)
            assert "--json" in parser.format_usage(), path

    walk(build_parser(), "")
    assert len(seen) > 30
    assert {line.removesuffix(" P-1").removesuffix(" plan.list") for line in reading} <= seen


@pytest.mark.requirement("CLI-01")
@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ("plans show P-77", 1, r"^standfast: not_found: .*P-77"),
        ("sessions show nobody", 1, r"^standfast: not_found: "),
        ("settings set plan.shell sometimes", 1, r"^standfast: invalid: "),
        ("plans confirm P-1.9 --plan nothing", 1, r"^standfast: forbidden: "),
        ("plans approve P-1", 1, r"^standfast: forbidden: .*terminal"),
        ("call no.such", 1, r'"unknown_operation"'),
        ("call plan.list --json [", 2, r"not JSON"),
        ("call plan.list --json 7", 2, r"JSON object"),
        ("plans shwo P-1", 2, r"invalid choice"),
        ("plans approve P-1 --mode always", 2, r"invalid choice"),
        ("nonsense", 2, r"invalid choice"),
        ("verify /nowhere/at/all.db", 1, r"^standfast: "),
    ],
)
def test_the_exit_status_says_what_kind_of_failure_it_is(host: Running, line: str, status: int, said: str) -> None:
    done = standfast(host.home, line)
    assert done.returncode == status, done.stderr
    assert re.search(said, done.stderr), done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


@pytest.mark.requirement("CLI-01", "CLI-02")
def test_a_host_that_cannot_be_reached_is_exit_status_3(tmp_path: Path) -> None:
    assert standfast(tmp_path / "home", "status").returncode == 3
    assert not (tmp_path / "home").exists()
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / "down").touch()
    done = standfast(tmp_path / "home", "plans list --json")
    assert done.returncode == 3
    assert json.loads(done.stderr)["error"]["code"] == "host_unreachable"
    assert "standfast up" in done.stderr


@pytest.mark.requirement("CLI-02")
def test_a_refusal_with_json_is_an_object_with_code_and_message(host: Running) -> None:
    done = standfast(host.home, "plans show P-77 --json")
    assert (done.returncode, done.stdout) == (1, "")
    assert json.loads(done.stderr)["error"]["code"] == "not_found"


@pytest.mark.requirement("CLI-03")
def test_a_fault_is_one_line_and_its_trace_is_shown_only_with_debug(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    plain = standfast(tmp_path / "file", "status")
    assert plain.returncode in (1, 3)
    assert len(plain.stderr.splitlines()) == 1
    debug = standfast(tmp_path / "file", "status --debug")
    assert debug.returncode == plain.returncode
    assert "Traceback" in debug.stderr


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
