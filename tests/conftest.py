"""Fixtures and plugins for every test: a real PostgreSQL, and the last words on what was left out.

The reservation of the run's server is made by the controller and passed to the xdist workers by its folder;
see `tests.support.postgres` for how it starts on demand and stops for certain.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.postgres import NoPostgres, Reservation, Server, started

pytest_plugins = ["tests.support.left_out"]

RESERVATION = pytest.StashKey[Reservation]()
FOLDER = pytest.StashKey[Path]()
NUMBERS = itertools.count(1)


class PassesTheFolder:
    """Tells each xdist worker where the run's server is or will be."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: object) -> None:
        """Runs in the controller, for each worker before it starts."""
        node.workerinput["standfast_postgres"] = str(self.folder)  # type: ignore[attr-defined]


def pytest_configure(config: pytest.Config) -> None:
    """Reserves the server in the controller; takes the folder over in a worker."""
    worker = getattr(config, "workerinput", None)
    if worker is not None:
        config.stash[FOLDER] = Path(worker["standfast_postgres"])
        return
    reservation = Reservation.make(fsync=bool(os.environ.get("STANDFAST_TEST_FSYNC")))
    config.stash[RESERVATION] = reservation
    config.stash[FOLDER] = reservation.folder
    config.pluginmanager.register(PassesTheFolder(reservation.folder))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stops the server, after the last worker has ended."""
    if RESERVATION in config.stash:
        config.stash[RESERVATION].release()


@pytest.fixture(scope="session")
def postgres(pytestconfig: pytest.Config) -> Server:
    """The run's PostgreSQL server; without one the test is left out, with the reason."""
    pytest.importorskip("psycopg", reason="the extra `postgres` is not installed (psycopg)")
    try:
        return started(pytestconfig.stash[FOLDER], fsync=bool(os.environ.get("STANDFAST_TEST_FSYNC")))
    except NoPostgres as reason:
        pytest.skip(str(reason))


@pytest.fixture
def fresh_database(postgres: Server) -> Iterator[Callable[..., str]]:
    """Makes databases that live as long as the test: `fresh_database(template="…")` gives a URL."""
    with contextlib.ExitStack() as stack:

        def make(template: str = "template1") -> str:
            return stack.enter_context(postgres.database(f"t{os.getpid()}_{next(NUMBERS)}", template))

        yield make


@pytest.fixture
def postgres_url(fresh_database: Callable[..., str]) -> str:
    """The URL of an empty database of this test's own."""
    return fresh_database()
