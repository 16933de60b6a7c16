"""The same behaviours over every door and every store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from standfast.store.postgres_open import open_postgres
from standfast.store.sqlite_open import open_sqlite
from standfast.store.tx import Store
from tests.behaviour.world import Clock, World

DOORS = ("in process", "http", "mcp")
STORES = ("sqlite", "postgres")


@pytest.fixture(params=STORES)
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Clock], Store]:
    """Opens this test's database with a clock."""
    if request.param == "sqlite":
        return lambda clock: open_sqlite(tmp_path / "standfast.db", clock)
    url: str = request.getfixturevalue("postgres_url")
    return lambda clock: open_postgres(url, clock)


@pytest.fixture(params=DOORS)
def world(request: pytest.FixtureRequest, open_store: Callable[[Clock], Store], tmp_path: Path) -> Iterator[World]:
    """A host on this store, reached through this door."""
    world = World(open_store, request.param, tmp_path)
    yield world
    world.sound()
    world.stop()
