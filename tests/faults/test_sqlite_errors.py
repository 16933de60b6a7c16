"""What SQLite does under storage errors: the facts that the batch writer relies on, kept as tests.

Measured first (docs/adr/0003); here so that another version of SQLite or Python that behaves otherwise is
noticed. Not here: the host's own writer.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.shim import Fault

WRITER = Path(__file__).parent / "batch_writer.py"
BATCH = 400
WIDE, NARROW = 2000, 10
"""Cache sizes in pages: all of the batch fits, so that it is written at COMMIT; little fits, so that it
spills in the middle of a statement."""


@dataclass(frozen=True)
class Batch:
    """How a batch ended, and the rows of it that a fresh connection finds afterwards."""

    committed: bool
    errors: list[tuple[str, str, bool]]
    seen: int
    reopened: int


def run_batch(home: Path, shim: Path, *, calls: str, action: str, cache: int = WIDE, end: str = "die") -> Batch:
    home.mkdir()
    switch = home / "switch"
    fault = Fault(shim, f"{home}/db*", home / "report", 1, action, tuple(calls.split()), True, switch)
    ended = subprocess.run(
        [sys.executable, "-I", "-S", str(WRITER), str(home / "db"), str(switch), str(cache), end],
        env=fault.environment(os.environ),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert fault.fired()
    told = json.loads(ended.stdout)
    with closing(sqlite3.connect(home / "db")) as connection:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
        (reopened,) = connection.execute("select count(*) from row where kind = 'batch'").fetchone()
    errors = [(what, name, in_transaction) for what, name, in_transaction in told["errors"]]
    return Batch(told["committed"], errors, told["seen"], reopened)


@pytest.mark.parametrize(("action", "error"), [("enospc", "SQLITE_FULL"), ("eio", "SQLITE_IOERR_WRITE")])
def test_a_write_error_in_a_statement_takes_the_whole_transaction(
    tmp_path: Path, shim: Path, action: str, error: str
) -> None:
    batch = run_batch(tmp_path / "home", shim, calls="pwrite", action=action, cache=NARROW)
    assert batch.errors == [("insert", error, False), ("rollback to", "SQLITE_ERROR", False)]
    assert (batch.committed, batch.seen, batch.reopened) == (False, 0, 0)


@pytest.mark.parametrize("end", ["die", "go on", "close"])
@pytest.mark.parametrize(("action", "error"), [("enospc", "SQLITE_FULL"), ("eio", "SQLITE_IOERR_WRITE")])
def test_a_commit_that_failed_at_a_write_left_nothing(
    tmp_path: Path, shim: Path, action: str, error: str, end: str
) -> None:
    batch = run_batch(tmp_path / "home", shim, calls="pwrite", action=action, end=end)
    assert batch == Batch(False, [("commit", error, False)], 0, 0)


@pytest.mark.parametrize(("end", "kept"), [("die", BATCH), ("go on", 0), ("close", 0)])
def test_a_commit_that_failed_at_fsync_may_come_back_after_a_kill(
    tmp_path: Path, shim: Path, end: str, kept: int
) -> None:
    batch = run_batch(tmp_path / "home", shim, calls="fsync fdatasync", action="eio", end=end)
    assert batch == Batch(False, [("commit", "SQLITE_IOERR_FSYNC", False)], 0, kept)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A connection with one table, inside a transaction and a savepoint."""
    with closing(sqlite3.connect(tmp_path / "db", isolation_level=None)) as opened:
        opened.execute("pragma journal_mode=wal")
        opened.execute("create table row (id integer primary key, body unique)")
        opened.execute("begin immediate")
        opened.execute("insert into row values (1, 'one')")
        opened.execute("savepoint operation")
        yield opened


def test_a_constraint_error_costs_only_its_savepoint(connection: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.IntegrityError):
        connection.execute("insert into row values (2, 'one')")
    assert connection.in_transaction
    connection.execute("rollback to operation")
    connection.execute("commit")
    assert connection.execute("select id from row").fetchall() == [(1,)]


def test_an_interrupted_write_takes_the_whole_transaction(connection: sqlite3.Connection) -> None:
    started = threading.Event()

    def mark(value: int) -> int:
        started.set()
        return value

    def interrupt() -> None:
        started.wait()
        connection.interrupt()

    connection.create_function("started", 1, mark)
    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    endless = "with recursive n (i) as (select 2 union all select i + 1 from n) select i, started(i) from n"
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        connection.execute(f"insert into row {endless}")
    interrupter.join()
    assert not connection.in_transaction
    assert connection.execute("select count(*) from row").fetchone() == (0,)


def test_running_out_of_memory_is_no_sqlite_error_and_takes_the_whole_transaction() -> None:
    script = (
        "import sqlite3\n"
        "c = sqlite3.connect(':memory:', isolation_level=None)\nc.execute('create table t (a)')\n"
        "c.execute('begin immediate')\nc.execute('savepoint operation')\n"
        "c.execute('pragma hard_heap_limit=600000')\n"
        "try:\n    c.execute('insert into t values (randomblob(500000) || randomblob(500000))')\n"
        "except MemoryError as e:\n    print(isinstance(e, sqlite3.Error), c.in_transaction)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout.split() == ["False", "False"]


def checkpoint_script(path: Path, switch: Path, pages: int) -> str:
    return (
        "import sqlite3\n"
        f"c = sqlite3.connect({str(path)!r}, isolation_level=None)\n"
        f"c.execute('pragma journal_mode=wal'); c.execute('pragma wal_autocheckpoint={pages}')\n"
        f"c.execute('create table t (a)')\nopen({str(switch)!r}, 'w').close()\n"
        "c.execute('insert into t values (1)')\nprint('committed')\n"
        "try:\n    c.execute('pragma wal_checkpoint(truncate)')\n"
        "except sqlite3.Error as e:\n    print(e.sqlite_errorname)\n"
    )


@pytest.mark.parametrize(("pages", "failures_of_a_commit"), [(1, 1), (0, 0)])
def test_only_an_explicit_checkpoint_tells_its_error(
    tmp_path: Path, shim: Path, pages: int, failures_of_a_commit: int
) -> None:
    switch = tmp_path / "switch"
    fault = Fault(shim, str(tmp_path / "db"), tmp_path / "report", 1, "eio", ("pwrite",), True, switch)
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", checkpoint_script(tmp_path / "db", switch, pages)],
        env=fault.environment(os.environ),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ended.stdout.split() == ["committed", "SQLITE_IOERR_WRITE"]
    at_close = 1
    assert len(fault.fired()) == failures_of_a_commit + 1 + at_close


def test_commits_go_on_without_an_error_after_the_files_were_deleted(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    with closing(sqlite3.connect(home / "db", isolation_level=None)) as connection:
        connection.execute("pragma journal_mode=wal")
        connection.execute("create table t (a)")
        shutil.rmtree(home)
        connection.execute("insert into t values (1)")
        assert connection.execute("pragma wal_checkpoint(truncate)").fetchone() == (0, 0, 0)
        assert not home.exists()
