"""Opening a PostgreSQL database: lock it, then create, accept, bring up to date, or refuse it.

The lock comes first, so that two hosts never migrate at once. A host that was killed leaves its lock until
the server has noticed; opening waits for that a few seconds before it says that another host is there.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from typing import Final

import psycopg

from standfast.store import postgres_session as session
from standfast.store.migrate import Migration, SchemaRefused, digests, migrations, pending, statements
from standfast.store.postgres import Clock, PostgresStore
from standfast.store.postgres_backup import copy_aside, tables
from standfast.store.postgres_sql import POSTGRES_WORDS
from standfast.store.tx import StoreRefused

LOCK_SECONDS: Final = 5.0
_PAUSE: Final = 0.1


def open_postgres(url: str, clock: Clock | None = None, *, steps: Sequence[Migration] | None = None) -> PostgresStore:
    """The store in the database at `url`, created or migrated where needed; `StoreRefused` else.

    `clock` is for tests; without it the database's own clock is used.
    """
    token = secrets.token_hex(16)
    connection = session.checked(url)
    try:
        _lock(connection, url)
        _prepare(connection, tuple(steps or migrations()), session.masked(url))
        session.own(connection, token)
    except psycopg.Error as error:
        connection.close()
        raise StoreRefused(
            f"The database {session.masked(url)} cannot be opened: {session.told(error, url)}."
        ) from error
    except BaseException:
        connection.close()
        raise
    return PostgresStore(url, connection, token, clock)


def _lock(connection: session.Connection, url: str) -> None:
    deadline = time.monotonic() + LOCK_SECONDS
    while not session.take_lock(connection):
        if time.monotonic() > deadline:
            raise StoreRefused(
                f"Another host uses the database {session.masked(url)}. One host writes at a time: stop that one, "
                "or point this home at a database or schema of its own. Nothing was written."
            )
        time.sleep(_PAUSE)


def _prepare(connection: session.Connection, wanted: tuple[Migration, ...], where: str) -> None:
    """Takes the missing steps in one transaction, after copying an older schema aside."""
    there = tables(connection)
    missing, version = wanted, 0
    if there:
        found = _found(connection) if "meta" in there else {}
        missing, version = pending(found, wanted, where), max(found, default=0)
    if not missing:
        return
    with connection.transaction():
        if there:
            copy_aside(connection, version)
        for step in missing:
            for statement in statements(step.text, POSTGRES_WORDS):
                connection.execute(statement.encode())
            connection.execute(
                "INSERT INTO meta (key, value) VALUES (%s, %s)", (f"migration.{step.version}", step.digest)
            )


def _found(connection: session.Connection) -> dict[int, str]:
    try:
        return digests(connection.execute("SELECT key, value FROM meta").fetchall())
    except psycopg.errors.UndefinedColumn as error:
        raise SchemaRefused("The database has a table `meta` of somebody else's. Nothing was written.") from error
