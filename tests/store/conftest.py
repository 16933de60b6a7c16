"""Every store behind the same fixture; a PostgreSQL one has a database of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from standfast.store.postgres_open import open_postgres
from standfast.store.sqlite_open import open_sqlite
from standfast.store.tx import Store


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """Opens the same database, again and again; what is left open is closed at the end."""
    url = request.getfixturevalue("postgres_url") if request.param == "postgres" else ""
    with ExitStack() as stack:

        def open_it() -> Store:
            store: Store = open_postgres(url) if url else open_sqlite(tmp_path / "standfast.db", lambda: 1_000)
            stack.callback(store.close)
            return store

        yield open_it


@pytest.fixture
def store(opened: Callable[[], Store]) -> Store:
    """An open store on an empty database."""
    return opened()
