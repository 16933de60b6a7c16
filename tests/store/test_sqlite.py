"""What only a file can do to a store: vanish, be replaced, be locked, fill its disk, be cut short."""

from __future__ import annotations

import logging
import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from standfast.domain.errors import Refusal
from standfast.store import sqlite as module
from standfast.store.migrate import Migration, SchemaRefused, migrations
from standfast.store.sqlite import SqliteStore, connect
from standfast.store.sqlite_open import open_sqlite
from standfast.store.tx import StorageFailed
from tests.store.test_contract import adding, names

LATER = len(migrations()) + 1
"""The schema that comes next."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the database is."""
    return tmp_path / "standfast.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    """An open store with one row."""
    store = open_sqlite(path, lambda: 1_000)
    store.write(adding("a")).result(10)
    yield store
    store.close()


@pytest.mark.parametrize("how", ["deleted", "replaced"])
def test_a_file_that_is_gone_or_another_stops_the_store_before_it_acknowledges(
    store: SqliteStore, path: Path, how: str
) -> None:
    if how == "replaced":
        shutil.copy(path, path.with_name("copy"))
        path.with_name("copy").replace(path)
    else:
        path.unlink()
    with pytest.raises(StorageFailed, match="deleted or replaced"):
        store.write(adding("b")).result(10)
    assert store.failure is not None
    with pytest.raises(StorageFailed):
        store.write(adding("c")).result(10)


def test_a_reader_that_finds_no_file_is_told_so_by_the_store(store: SqliteStore, path: Path) -> None:
    path.unlink()
    told: list[BaseException] = []

    def first_read_of_a_thread() -> None:
        try:
            names(store)
        except StorageFailed as error:
            told.append(error)

    thread = threading.Thread(target=first_read_of_a_thread)
    thread.start()
    thread.join(30)
    assert "cannot be read" in str(told[0])


@pytest.mark.requirement("STORE-05")
def test_a_full_disk_refuses_what_finds_no_room_and_the_store_goes_on(tmp_path: Path) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(tmp_path)]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a small tmpfs needs root; a full disk is not tried here")
    try:
        store = open_sqlite(tmp_path / "standfast.db", lambda: 1_000)
        store.write(adding("a")).result(10)
        filler = tmp_path / "filler"
        with filler.open("wb", buffering=0) as stream, suppress(OSError):
            while True:
                stream.write(b"x" * 4_096)
        futures = [store.write(adding(f"p{n}")) for n in range(200)]
        errors = [error for error in (future.exception(10) for future in futures) if error is not None]
        assert {getattr(error, "code", error) for error in errors} == {"storage_full"}
        refused = len(errors)
        filler.unlink()
        store.write(adding("after")).result(10)
        assert len(names(store)) == 200 - refused + 2
        assert store.failure is None
        store.close()
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_another_program_that_holds_the_database_costs_a_refusal_and_not_the_store(
    store: SqliteStore, path: Path
) -> None:
    store._writer.connection.execute("PRAGMA busy_timeout = 50")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Refusal, match="Another program") as refusal:
            store.write(adding("b")).result(10)
        assert refusal.value.code == "unavailable"
        other.execute("ROLLBACK")
    store.write(adding("b")).result(10)
    assert names(store) == ["prj_a", "prj_b"]


def test_the_log_is_moved_into_the_database_between_batches(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CHECKPOINT_COMMITS", 5)
    before = path.stat().st_size
    for n in range(400):
        store.write(adding(f"p{n}")).result(10)
    assert path.stat().st_size > before
    assert path.with_name("standfast.db-wal").stat().st_size < path.stat().st_size


def test_a_checkpoint_that_fails_is_logged_and_costs_nobody_a_write(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "CHECKPOINT_COMMITS", 1)

    def deny(action: int, first: str | None, second: str | None, *rest: str | None) -> int:
        denied = action == sqlite3.SQLITE_PRAGMA and first == "wal_checkpoint"
        return sqlite3.SQLITE_DENY if denied else sqlite3.SQLITE_OK

    store._writer.connection.set_authorizer(deny)
    with caplog.at_level(logging.WARNING, "standfast.store"):
        store.write(adding("b")).result(10)
        store.write(adding("c")).result(10)
    assert "checkpoint" in caplog.text
    assert names(store) == ["prj_a", "prj_b", "prj_c"]
    monkeypatch.setattr(module, "WAL_LIMIT", 0)
    with suppress(StorageFailed):
        store.write(adding("d")).result(10)
    store.close()
    assert names(open_sqlite(path, lambda: 1)) == ["prj_a", "prj_b", "prj_c", "prj_d"]


@pytest.mark.requirement("STORE-07")
@pytest.mark.parametrize("kind", ["newer", "foreign", "text", "other digest"])
def test_what_is_not_known_is_refused_before_any_write(store: SqliteStore, path: Path, kind: str) -> None:
    store.close()
    if kind == "text":
        path.write_text("no database " * 1_000)
    else:
        with closing(sqlite3.connect(path)) as other:
            if kind == "newer":
                other.execute("INSERT INTO meta VALUES ('migration.99', 'x')")
            elif kind == "foreign":
                other.execute("DROP TABLE meta")
            else:
                other.execute("UPDATE meta SET value = 'x' WHERE key = 'migration.1'")
            other.commit()
    before = path.read_bytes()
    with pytest.raises(SchemaRefused, match="Nothing was written"):
        open_sqlite(path, lambda: 1)
    assert path.read_bytes() == before


@pytest.mark.requirement("STORE-08")
def test_an_older_schema_is_backed_up_and_brought_up_to_date(store: SqliteStore, path: Path) -> None:
    store.close()
    steps = (*migrations(), Migration(LATER, "CREATE TABLE later (id TEXT PRIMARY KEY)"))
    newer = open_sqlite(path, lambda: 1, steps=steps)
    assert names(newer) == ["prj_a"]
    newer.close()
    with closing(connect(path.with_name(f"standfast.db.schema{LATER - 1}.backup"), readonly=True)) as backup:
        assert backup.execute("SELECT id FROM projects").fetchall() == [("prj_a",)]
        assert backup.execute("SELECT count(*) FROM sqlite_master WHERE name = 'later'").fetchone() == (0,)


def test_a_death_while_the_database_was_made_leaves_one_that_opens(path: Path) -> None:
    with closing(connect(path)):
        path.with_name("nothing").touch()
    open_sqlite(path, lambda: 1).close()
    path.unlink()
    path.touch()
    open_sqlite(path, lambda: 1).close()
