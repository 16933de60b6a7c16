"""Settings of the tests in this folder, and a home on each kind of database."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from standfast.config import remember_database
from tests.support.hosts import Running, running_host

# How long an example takes says something about the machine, not about the code.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")


@pytest.fixture(params=["sqlite", "postgres"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A new home, which remembers a database of this test's own where it is a PostgreSQL one."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    if request.param == "postgres":
        remember_database(home, request.getfixturevalue("postgres_url"))
    yield home
    assert (home / "standfast.db").exists() == (request.param == "sqlite")


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A host of a whole file's, with an approved plan of the workspace `w` beside its home."""
    folder = tmp_path_factory.mktemp("p")
    with running_host(folder / "home") as running:
        running.approved(folder / "w")
        yield running
