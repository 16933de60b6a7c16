"""Copies of a PostgreSQL database that need no tool of the server's version.

A backup is a SQLite file of the same schema: the embedded database of the same content, which `standfast
verify` checks and a host can open. Before a migration the tables are copied into a schema of their own, in
the migration's transaction.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

from psycopg import sql

from standfast.store.migrate import migrations, statements
from standfast.store.postgres_session import Connection
from standfast.store.sqlite import connect
from standfast.store.sqlite_open import SQLITE_WORDS

_COUNTERS = 10_000


def copy_out(connection: Connection, path: str) -> None:
    """The open snapshot's rows in a new SQLite file (0600). Raises `OSError`, also for what SQLite says of the disk."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    copy = connect(Path(path))
    try:
        copy.execute("PRAGMA foreign_keys = OFF")
        copy.execute("BEGIN IMMEDIATE")
        for step in migrations():
            for statement in statements(step.text, SQLITE_WORDS):
                copy.execute(statement)
        for table in tables(connection):
            rows = connection.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(table)))
            columns = [column.name for column in rows.description or ()]
            marks = ", ".join("?" * len(columns))
            copy.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)
        copy.execute("COMMIT")
        copy.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        raise OSError(errno.EIO, str(error)) from error
    finally:
        copy.close()


def tables(connection: Connection) -> list[str]:
    """The tables of the current schema."""
    found = connection.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename"
    ).fetchall()
    return [str(row[0]) for row in found]


def copy_aside(connection: Connection, version: int) -> str:
    """Copies every table into a new schema beside the current one, and gives that schema's name."""
    row = connection.execute("SELECT current_schema()").fetchone()
    assert row is not None, "checked when it was opened"
    taken = {str(name[0]) for name in connection.execute("SELECT nspname FROM pg_namespace").fetchall()}
    base = f"{row[0]}_schema{version}_backup"
    name = next(text for text in (base, *(f"{base}_{n}" for n in range(2, _COUNTERS))) if text not in taken)
    connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
    for table in tables(connection):
        connection.execute(
            sql.SQL("CREATE TABLE {} AS TABLE {}").format(sql.Identifier(name, table), sql.Identifier(table))
        )
    return name
