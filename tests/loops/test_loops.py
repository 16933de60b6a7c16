"""What the host does by itself: expiring, telling a person, forgetting old receipts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from standfast.loops.expire import expire
from standfast.loops.notify import notify
from standfast.loops.prune import prune
from standfast.store.sqlite_open import open_sqlite
from tests.behaviour.world import MINUTE, World
from tests.support.processes import wait_until

PATIENCE_SECONDS = 20


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A host in process."""
    world = World(lambda clock: open_sqlite(tmp_path / "standfast.db", clock), "in process", tmp_path)
    yield world
    world.stop()


def during(loop: Coroutine[Any, Any, None], act: Callable[[], object], happened: Callable[[], bool]) -> None:
    """Runs a loop beside an act, until something has happened."""

    async def run() -> None:
        task = asyncio.create_task(loop)
        await asyncio.to_thread(act)
        await asyncio.to_thread(wait_until, happened, "the loop to have done it", PATIENCE_SECONDS)
        assert not task.done(), task
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(run())


@pytest.mark.requirement("DOOR-08")
def test_a_proposal_expires_at_its_deadline_although_nobody_calls(world: World) -> None:
    world.agent().submit().ok()
    world.clock.passes(30 * MINUTE)

    def expired() -> bool:
        return bool(world.events("plan.expired"))

    assert not expired()
    during(expire(world.host), lambda: None, expired)


def test_a_person_is_told_by_their_command_with_the_facts_in_its_environment(world: World) -> None:
    out = world.folder / "notices"
    script = world.folder / "notify.sh"
    script.write_text(f'#!/bin/sh\nprintf "%s|%s\\n" "$STANDFAST_NOTICE" "$STANDFAST_TITLE" >>"{out}"\n')
    script.chmod(0o700)
    world.person.do("settings.set", key="notify.command", value=str(script)).ok()
    title = "Move \x1b[31m`it` $(touch x)"
    during(notify(world.host), lambda: world.agent().submit(title=title).ok(), out.exists)
    said = out.read_text()
    assert said.startswith("P-1 waits for your verdict|Move ")
    assert "\x1b" not in said


@pytest.mark.parametrize("command", ["/no/such/program", "'unclosed", "false"])
def test_a_notice_that_fails_changes_nothing(world: World, command: str) -> None:
    world.person.do("settings.set", key="notify.command", value=command).ok()
    agent = world.agent()
    seen: list[int] = []

    def twice() -> None:
        agent.submit().ok()
        world.person.reject().ok()
        agent.submit("- [ ] again\n").ok()

    def still_running() -> bool:
        seen.append(1)
        return len(seen) > 20

    during(notify(world.host), twice, still_running)
    assert world.person.status("P-2") == "pending"


@pytest.mark.requirement("DOOR-08")
def test_old_receipts_go_by_themselves(world: World) -> None:
    agent = world.agent().works()
    agent.do("plan.tick", request="t", title="one").ok()
    world.clock.passes(31 * 24 * 60 * MINUTE)

    def gone() -> bool:
        return not agent.do("plan.tick", request="t", title="one").ok().replayed

    during(prune(world.host), lambda: None, gone)
