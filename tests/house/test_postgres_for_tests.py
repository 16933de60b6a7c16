"""The PostgreSQL that the tests get: real, shared, private, gone afterwards, and never silently missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import postgres as support
from tests.support.postgres import NoPostgres, Reservation, Server, started
from tests.support.processes import running, wait_until

ROOT = Path(__file__).resolve().parents[2]

HOLDS_A_SERVER = """
import sys
from tests.support.postgres import Reservation, started
reservation = Reservation.make()
server = started(reservation.folder)
print(server.pid, reservation.folder, "is up", flush=True)
sys.stdin.read()
"""


def alive(pid: int) -> bool:
    """Whether a process with this id exists."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def programs(folder: Path, **scripts: str) -> Path:
    """Shell scripts in the place of the server's programs."""
    place = folder / "install" / "bin"
    place.mkdir(parents=True)
    for name, script in scripts.items():
        (place / name).write_text(f"#!/bin/sh\n{script}\n")
        (place / name).chmod(0o755)
    return place


def test_a_test_gets_an_empty_database_of_its_own(fresh_database: Callable[..., str]) -> None:
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    first, second = fresh_database(), fresh_database()
    with psycopg.connect(first) as one, psycopg.connect(second) as other:
        one.execute("CREATE TABLE only_here (id integer PRIMARY KEY)")
        one.commit()
        assert other.execute("SELECT to_regclass('only_here')").fetchone() == (None,)
        assert one.execute("SELECT to_regclass('only_here')::text").fetchone() == ("only_here",)


def test_a_database_can_be_a_copy_of_a_template_prepared_once(
    postgres: Server, fresh_database: Callable[..., str]
) -> None:
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    name, calls = f"template_{os.getpid()}", []

    def prepare(url: str) -> None:
        calls.append(url)
        with psycopg.connect(url) as connection:
            connection.execute("CREATE TABLE ready AS SELECT 7 AS answer")

    assert [postgres.template(name, prepare), postgres.template(name, prepare)] == [name, name]
    with psycopg.connect(fresh_database(template=name)) as copy:
        assert copy.execute("SELECT answer FROM ready").fetchone() == (7,)
    assert len(calls) == 1


def test_a_database_is_dropped_while_somebody_is_still_connected(postgres: Server) -> None:
    psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed")
    with postgres.database(f"dropped_{os.getpid()}") as url:
        connection = psycopg.connect(url, autocommit=True)
    with pytest.raises(psycopg.OperationalError):
        connection.execute("SELECT 1")
    connection.close()


def test_the_server_listens_on_no_network_port(postgres: Server) -> None:
    with postgres.administration() as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)


def test_a_killed_test_run_leaves_neither_server_nor_folder(postgres: Server) -> None:
    with running([sys.executable, "-c", HOLDS_A_SERVER], cwd=ROOT) as run:
        pid, folder = run.said("is up", seconds=90).split()[:2]
        assert int(pid) != postgres.pid
        run.kill()
        wait_until(lambda: not alive(int(pid)) and not Path(folder).exists(), "the server to stop", seconds=60)


def test_without_binaries_the_reason_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STANDFAST_TEST_POSTGRES_BIN", "none")
    with Reservation.make() as reservation:
        for _ in range(2):
            with pytest.raises(NoPostgres, match="switched off"):
                started(reservation.folder)
    assert not reservation.folder.exists()


def test_a_server_that_cannot_start_is_a_reason_and_not_a_hang(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = programs(tmp_path, postgres="echo postgres 16.1", initdb="echo no space left >&2; exit 1")
    monkeypatch.setenv("STANDFAST_TEST_POSTGRES_BIN", str(place))
    with Reservation.make() as reservation, pytest.raises(NoPostgres, match="no space left"):
        started(reservation.folder)


def test_a_binary_of_an_old_version_is_not_taken(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    place = programs(tmp_path, postgres="echo postgres 9.6", initdb="exit 0")
    monkeypatch.setenv("STANDFAST_TEST_POSTGRES_BIN", str(place))
    with pytest.raises(NoPostgres, match="no PostgreSQL 13 or newer"):
        support.binaries()


def test_the_wheel_brings_a_server_that_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    places = support.wheel_places()
    if not places:
        pytest.skip("the wheel with a PostgreSQL is not installed")
    monkeypatch.setenv("STANDFAST_TEST_POSTGRES_BIN", str(places[0]))
    with Reservation.make() as reservation:
        server = started(reservation.folder)
        with server.administration() as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    assert not alive(server.pid)


@pytest.mark.parametrize("name", ["Upper", "with space", 'quo"te', "", "x" * 60])
def test_a_database_name_that_would_need_quoting_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not a database name"):
        support.check_name(name)


def test_a_run_without_postgres_says_so_in_its_last_lines(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (tmp_path / "test_wants_one.py").write_text(
        "def test_this_wants_a_database(postgres_url):\n    assert postgres_url\n\n"
        "def test_this_wants_none():\n    pass\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "1", tmp_path],
        cwd=tmp_path,
        env=os.environ | {"STANDFAST_TEST_POSTGRES_BIN": "none", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    last = done.stdout.strip().splitlines()[-2:]
    assert last[0] == "left out: 1 test: PostgreSQL is switched off by STANDFAST_TEST_POSTGRES_BIN", json.dumps(last)
    assert last[1].startswith("1 passed, 1 skipped")
