"""A database that an older version wrote opens, with everything in it, and goes on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from standfast.config import system_clock
from standfast.domain.change import Actor
from standfast.host.door import Host
from standfast.store.migrate import migrations
from standfast.store.sqlite_open import open_sqlite

DATABASES = Path(__file__).parents[1] / "fixtures" / "databases"
OLDER = sorted(DATABASES.glob("schema-*.sql"))
OPERATOR = Actor(role="operator", name="operator")


@pytest.fixture(params=OLDER, ids=lambda path: path.stem)
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Host]:
    """A host on a copy of an older database."""
    path = tmp_path / "standfast.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(request.param.read_text(encoding="utf-8"))
    host = Host(open_sqlite(path, system_clock), boot="newer", secret=b"s" * 32)
    yield host
    host.close()


def test_every_released_schema_but_the_newest_has_a_database_here() -> None:
    assert [path.stem for path in OLDER] == [f"schema-{step.version}" for step in migrations()[:-1]]


@pytest.mark.requirement("STORE-08")
def test_an_older_database_keeps_its_plans_and_goes_on(host: Host) -> None:
    plans = {plan["status"]: plan for plan in host.call("plan.list", {}, OPERATOR).result["plans"]}
    assert set(plans) == {"approved", "pending"} or set(plans) == {"approved", "expired"}
    approved = plans["approved"]
    assert (approved["done"], approved["tasks"]) == (1, 3)
    agent = Actor("agent", approved["session"], "agent", "agent")
    ticked = host.call("plan.tick", {"title": "two"}, agent).result
    assert ticked["done"] == 2
    written = host.call("todo.write", {"todos": [{"content": "go on"}]}, agent).result
    assert written["open"] == 1


@pytest.mark.requirement("STORE-08")
def test_the_audit_of_an_older_database_agrees_before_and_after_a_change(host: Host) -> None:
    assert host.call("audit.verify", {}, OPERATOR).result["findings"] == []
    (session, *_) = host.call("session.list", {}, OPERATOR).result["sessions"]
    host.call("session.compacted", {"session": session["session"]}, OPERATOR)
    assert host.call("audit.verify", {}, OPERATOR).result["findings"] == []
