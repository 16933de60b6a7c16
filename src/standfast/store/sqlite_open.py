"""Opening a database file: create it, accept it, bring it up to date, or refuse it before any write."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from standfast.store.migrate import Migration, SchemaRefused, digests, migrations, pending, statements
from standfast.store.sqlite import Clock, SqliteStore, backup_file, connect

SQLITE_WORDS: Final[Mapping[str, str]] = {"SERIAL_KEY": "INTEGER PRIMARY KEY"}


def open_sqlite(
    path: Path,
    clock: Clock,
    *,
    steps: Sequence[Migration] | None = None,
    hook: Callable[[str], None] | None = None,
) -> SqliteStore:
    """The store in `path`, created (mode 0600) or migrated where needed; `SchemaRefused` else."""
    wanted = tuple(steps or migrations())
    if not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    found = _found(path)
    missing = wanted if found is None else pending(found, wanted, path)
    if found and missing:
        backup_file(path, _backup_path(path, max(found)))
    take(path, missing)
    return SqliteStore(path, clock, hook)


def _found(path: Path) -> dict[int, str] | None:
    """The recorded steps; None for a database without any table, which a death while it was made leaves."""
    if path.stat().st_size == 0:
        return None
    connection = connect(path, readonly=True)
    try:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "meta" not in tables:
            return {} if tables else None
        return digests(connection.execute("SELECT key, value FROM meta").fetchall())
    except sqlite3.DatabaseError as error:
        raise SchemaRefused(f"{path} is not a readable SQLite database ({error}). Nothing was written.") from error
    finally:
        connection.close()


def take(path: Path, steps: Sequence[Migration]) -> None:
    """Takes the steps, one transaction each."""
    connection = connect(path)
    try:
        for step in steps:
            connection.execute("BEGIN IMMEDIATE")
            for statement in statements(step.text, SQLITE_WORDS):
                connection.execute(statement)
            connection.execute(
                "INSERT INTO meta (key, value) VALUES (?, ?)", (f"migration.{step.version}", step.digest)
            )
            connection.execute("COMMIT")
    finally:
        connection.close()


def _backup_path(path: Path, version: int) -> Path:
    base = path.with_name(f"{path.name}.schema{version}.backup")
    return next(
        candidate
        for candidate in (base, *(base.with_name(f"{base.name}.{n}") for n in range(2, 1_000)))
        if not candidate.exists()
    )
