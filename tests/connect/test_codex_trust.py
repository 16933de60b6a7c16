"""Codex skips hooks that nobody trusts: the person is asked, Codex says the hashes, and Codex is believed."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

import pexpect
import pytest

from standfast.cli.connect import table, trust
from standfast.domain.clients import CONNECTED
from tests.connect.people import Somebody
from tests.support.terminal import ended, hears_interrupts

pytestmark = pytest.mark.requirement("CONNECT-06")
STANDIN = Path(__file__).with_name("codex_standin.py")
HEARD = """
import sys
from standfast.domain import clients
clients.HOOKED.setdefault("codex", "codex")
from standfast.cli.main import main
sys.exit(main())
"""


class Codex:
    """Somebody with Codex (its stand-in) on the PATH and a build of ours that hears its hooks."""

    def __init__(self, somebody: Somebody, folder: Path) -> None:
        self.somebody = somebody
        self.config = somebody.user / ".codex" / "config.toml"
        self.config.parent.mkdir()
        self.config.write_text('model = "x"\n')
        folder.mkdir()
        (folder / "codex").write_text(f'#!/bin/sh\nexec {sys.executable} {STANDIN} "$@"\n')
        (folder / "codex").chmod(0o755)
        (folder / "hears.py").write_text(HEARD)
        self._script = str(folder / "hears.py")
        self.environ = somebody.environ()
        self.environ["PATH"] = f"{folder}:{self.environ['PATH']}"

    def run(self, line: str, answer: str = "", **environ: str) -> str:
        """One command line on a terminal; `answer` is what the person types where they are asked."""
        child: Any = pexpect.spawn(
            sys.executable,
            [self._script, *line.split()],
            cwd=str(self.somebody.project),
            env={**self.environ, **environ},
            encoding="utf-8",
            timeout=30,
            dimensions=(50, 250),
            preexec_fn=hears_interrupts,
        )
        if answer:
            child.expect("Trust these . hooks of Standfast")
            child.sendline(answer)
        status, text = ended(child)
        assert status == 0, text
        return str(text)

    def trusted(self) -> dict[str, Any]:
        """What the configuration says of trust."""
        state: dict[str, Any] = tomllib.loads(self.config.read_text()).get("hooks", {}).get("state", {})
        return state


@pytest.fixture
def codex(somebody: Somebody, tmp_path: Path) -> Codex:
    """Codex, not connected."""
    return Codex(somebody, tmp_path / "bin")


COUNT = len(table.EVENTS["codex"])


def test_a_person_who_agrees_gets_hooks_that_codex_trusts(codex: Codex) -> None:
    before = codex.somebody.files()
    assert f"Codex trusts {COUNT} of {COUNT} hooks" in codex.run("connect codex", answer="y")
    assert len(codex.trusted()) == COUNT
    connected = codex.somebody.files()
    assert f"Codex trusts {COUNT} of {COUNT} hooks" in codex.run("connect codex")
    assert codex.somebody.files() == connected
    codex.run("connect codex --remove")
    assert codex.somebody.files() == before


def test_a_person_who_does_not_agree_is_told_what_it_means(codex: Codex) -> None:
    assert "Codex skips these hooks until you trust them" in codex.run("connect codex", answer="n")
    assert codex.trusted() == {}


def test_without_a_terminal_nothing_is_trusted_but_by_the_word_for_scripts(codex: Codex) -> None:
    assert "skips these hooks" in codex.run("connect codex", CLAUDECODE="1")
    assert codex.trusted() == {}
    assert f"Codex trusts {COUNT} of {COUNT}" in codex.run("connect codex --trust", CLAUDECODE="1")
    assert len(codex.trusted()) == COUNT


def test_trust_that_codex_does_not_see_is_not_claimed(codex: Codex) -> None:
    assert f"Codex trusts 0 of {COUNT} hooks" in codex.run("connect codex --trust", CODEX_NEVER_TRUSTS="1")


def test_a_trust_that_is_out_of_date_is_asked_for_and_renewed(codex: Codex) -> None:
    codex.run("connect codex --trust")
    [key, *_] = codex.trusted()
    good = codex.trusted()[key]["trusted_hash"]
    codex.config.write_text(codex.config.read_text().replace(good, "sha256:old"))
    assert f"Codex trusts {COUNT} of {COUNT}" in codex.run("connect codex", answer="yes")
    assert codex.trusted()[key]["trusted_hash"] == good


@pytest.mark.parametrize("script", ["exit 1", "echo nonsense", 'read x; echo \'{"id":2,"result":{}}\'', "exec 1>&-"])
def test_a_codex_that_does_not_say_is_named_and_nothing_is_trusted(codex: Codex, tmp_path: Path, script: str) -> None:
    (tmp_path / "bin" / "codex").write_text(f"#!/bin/sh\n{script}\n")
    assert "could not be asked" in codex.run("connect codex --trust")
    assert codex.trusted() == {}


def test_without_codex_the_way_by_hand_is_told(tmp_path: Path) -> None:
    with pytest.raises(trust.Silent, match="no `codex` on the PATH"):
        trust.hooks(tmp_path, {"PATH": str(tmp_path)})
    assert set(table.EVENTS) < set(CONNECTED)
