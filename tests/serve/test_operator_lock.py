"""The operator lock: with it closed, the operator's token alone decides nothing, over any surface."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from standfast.domain.change import Actor
from standfast.domain.errors import Refusal
from standfast.host.catalogue import CATALOGUE
from standfast.host.lock import FREE_TRIES, OperatorLock, make_verifier
from standfast.host.policy import LOCKED, POLICY
from tests.support.hosts import Running, running_host
from tests.support.page import bearer, origin
from tests.support.terminal import ended, on_terminal, pending, standfast

PHRASE = "correct horse, größer battery"
PERSON = Actor(role="operator", name="operator")


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Running]:
    """A running host on a new home."""
    with running_host(tmp_path / "home") as host:
        yield host


def seen(plan: dict[str, Any]) -> dict[str, Any]:
    """What an approval names."""
    return {"plan": plan["plan"], "version": plan["version"], "sha256": plan["sha256"], "mode": "ask"}


def close(host: Running) -> None:
    """The lock is closed."""
    assert host.done("operator.protect", {"verifier": make_verifier(PHRASE)}) == {"locked": True}


@pytest.mark.requirement("HOST-10")
def test_with_the_lock_closed_a_verdict_needs_the_passphrase(host: Running, tmp_path: Path) -> None:
    plan = pending(host, tmp_path)
    close(host)
    assert host.op("plan.approve", seen(plan)).code == "passphrase_required"
    wrong = host.op("plan.approve", seen(plan), Standfast_Passphrase="wrong")
    assert (wrong.status, wrong.code) == (403, "passphrase_required")
    assert host.done("plan.get", {"plan": plan["plan"]})["status"] == "pending"
    answer = host.done("plan.approve", seen(plan), Standfast_Passphrase=quote(PHRASE))
    assert answer["status"] == "approved"


@pytest.mark.requirement("HOST-10")
def test_the_lock_holds_for_a_page_and_over_a_restart_and_without_its_file(tmp_path: Path) -> None:
    with running_host(tmp_path / "home") as host:
        close(host)
        page = {"Authorization": bearer(host), "Origin": origin(host), "tcp": True}
        plan = pending(host, tmp_path)
        assert host.request("POST", "/v1/op/plan.approve", seen(plan), **page).code == "passphrase_required"
        file = host.home / "operator-lock"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert PHRASE not in file.read_text()
    with running_host(tmp_path / "home") as host:
        assert host.op("plan.reoffer", {"plan": plan["plan"]}).code == "passphrase_required"
        file.unlink()
        assert host.op("plan.reoffer", {"plan": plan["plan"]}).code == "passphrase_required"


def test_the_lock_is_changed_and_taken_away_with_the_passphrase_only(host: Running) -> None:
    close(host)
    other = {"verifier": make_verifier("another passphrase")}
    assert host.op("operator.protect", other).code == "passphrase_required"
    assert host.op("operator.protect", {"verifier": None}).code == "passphrase_required"
    host.done("operator.protect", other, Standfast_Passphrase=quote(PHRASE))
    assert host.op("operator.protect", {"verifier": None}, Standfast_Passphrase=quote(PHRASE)).status == 403
    host.done("operator.protect", {"verifier": None}, Standfast_Passphrase="another%20passphrase")
    assert not (host.home / "operator-lock").exists()
    assert host.done("host.status", {})["locked"] is False


def test_reading_and_an_agents_work_go_on_with_the_lock_closed(host: Running, tmp_path: Path) -> None:
    _, token = host.approved(tmp_path / "w")
    close(host)
    host.done("plan.tick", {"title": "one"}, "agent", Standfast_Session=token)
    assert host.op("plan.tick", {"title": "two", "session": "x"}).code == "passphrase_required"
    assert host.done("plan.get", {"plan": "P-1"})["done"] == 1


def test_a_person_on_a_terminal_is_asked_for_the_passphrase(host: Running, tmp_path: Path) -> None:
    plan = pending(host, tmp_path)
    child = on_terminal(host.home, "operator protect")
    for question in ("New passphrase:", "The same again:"):
        child.expect(question)
        child.sendline(PHRASE)
    assert ended(child)[0] == 0
    child = on_terminal(host.home, "plans approve P-1 --mode ask")
    child.expect("Approve P-1")
    child.sendline("y")
    for phrase in ("not this one", PHRASE):
        child.expect("Passphrase:")
        child.sendline(phrase)
    status, said = ended(child)
    assert status == 0
    assert PHRASE not in said
    assert host.done("plan.get", {"plan": plan["plan"]})["status"] == "approved"


def test_two_different_or_too_short_passphrases_close_nothing(host: Running) -> None:
    for first, second, said in (("abcdefgh1", "abcdefgh2", "not the same"), ("short", "short", "8 to")):
        child = on_terminal(host.home, "operator protect")
        child.expect("New passphrase:")
        child.sendline(first)
        child.expect("The same again:")
        child.sendline(second)
        status, output = ended(child)
        assert (status, said in output) == (2, True)
    assert host.done("host.status", {})["locked"] is False


def test_without_a_terminal_nobody_is_asked(host: Running, tmp_path: Path) -> None:
    close(host)
    done = standfast(host.home, "settings set plan.shell deny", tmp_path)
    assert (done.returncode, "passphrase_required" in done.stderr) == (1, True)
    assert standfast(host.home, "operator protect", tmp_path).returncode == 1
    assert "closed" in standfast(host.home, "operator", tmp_path).stdout


def test_doctor_recommends_the_lock_where_an_agent_is_connected(host: Running, tmp_path: Path) -> None:
    assert "passphrase" not in standfast(host.home, "doctor", tmp_path).stdout
    host.session(tmp_path / "w")
    assert "operator protect" in standfast(host.home, "doctor", tmp_path).stdout
    close(host)
    assert "operator protect" not in standfast(host.home, "doctor", tmp_path).stdout


def test_everything_that_a_person_decides_is_locked() -> None:
    assert {name for name, entry in CATALOGUE.items() if entry.verdict} <= LOCKED
    assert all("operator" in POLICY[name] for name in LOCKED)


def test_wrong_passphrases_are_answered_slower_and_slower() -> None:
    now = [0.0]
    lock = OperatorLock(None, lambda: now[0])
    lock.prepare(make_verifier(PHRASE)).settle({})
    for _ in range(FREE_TRIES):
        with pytest.raises(Refusal) as refused:
            lock.check("wrong")
        assert refused.value.code == "passphrase_required"
    with pytest.raises(Refusal) as refused:
        lock.check(PHRASE)
    assert refused.value.code == "unavailable"
    now[0] += 1
    lock.check(PHRASE)


@pytest.mark.parametrize("text", ["", "scrypt$1$8$1$00$00", "x" * 100_000, f"scrypt$40$8$1${'00' * 16}${'00' * 32}"])
def test_a_damaged_file_keeps_the_lock_closed_and_no_damage_gets_in(tmp_path: Path, text: str) -> None:
    file = tmp_path / "operator-lock"
    file.write_text(text)
    lock = OperatorLock(file)
    with pytest.raises(Refusal, match="damaged"):
        lock.check(PHRASE)
    with pytest.raises(Refusal) as refused:
        lock.demand(PERSON, "plan.approve")
    assert refused.value.code == "passphrase_required"
    with pytest.raises(Refusal) as refused:
        lock.prepare(text)
    assert refused.value.code == "invalid"


def test_a_change_that_is_not_committed_leaves_the_lock_as_it_was(tmp_path: Path) -> None:
    lock = OperatorLock(tmp_path / "operator-lock")
    lock.prepare(make_verifier(PHRASE)).settle({})
    lock.prepare(make_verifier("another passphrase")).settle(None)
    lock.check(PHRASE)
    assert [path.name for path in tmp_path.iterdir()] == ["operator-lock"]
    OperatorLock(tmp_path / "operator-lock").check(PHRASE)
