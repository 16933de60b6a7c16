"""Connections to PostgreSQL: how they are made, checked and masked, and the lock of the one host that writes.

The lock is a session advisory lock on the schema, held by the writer's connection for as long as it lives; it
ends with that connection, however the host dies. An owner token in the database tells a host that lost its
connection whether another one was there in the meantime.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from standfast.store.tx import StoreRefused

Connection = psycopg.Connection[tuple[Any, ...]]
OLDEST: Final = 130_000
CONNECT_SECONDS: Final = 5
APPLICATION: Final = "standfast"
OWNER: Final = "host.owner"
_LOCK_CLASS: Final = 0x53544644
_OBJECT: Final = "hashtext(current_schema())"
_SETTINGS: Final[Mapping[str, str | int]] = {
    "connect_timeout": CONNECT_SECONDS,
    "application_name": APPLICATION,
    "client_encoding": "UTF8",
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 20_000,
}


def connect(url: str) -> Connection:
    """A connection in autocommit, with the settings that the store relies on. Raises `psycopg.Error`."""
    connection = psycopg.connect(make_conninfo(url, **_SETTINGS), autocommit=True)
    if _says(connection, "synchronous_commit") == "off":
        connection.execute("SET synchronous_commit = on")
    connection.execute("SET idle_in_transaction_session_timeout = 0")
    connection.execute("SET statement_timeout = 0")
    return connection


def checked(url: str) -> Connection:
    """A connection to a server that the store can use; `StoreRefused` with what to do otherwise."""
    try:
        connection = connect(url)
    except psycopg.Error as error:
        raise StoreRefused(
            f"The database {masked(url)} cannot be used: {told(error, url)}. Start it, or correct the URL "
            "(`standfast up --database-url …`; `sqlite` goes back to the embedded database)."
        ) from error
    refusal = _unfit(connection)
    if refusal:
        connection.close()
        raise StoreRefused(f"The database {masked(url)} cannot be used: {refusal}. Nothing was written.")
    return connection


def _unfit(connection: Connection) -> str | None:
    if connection.info.server_version < OLDEST:
        return f"it is PostgreSQL {connection.info.server_version // 10_000}, and at least {OLDEST // 10_000} is needed"
    if _says(connection, "server_encoding") != "UTF8":
        return "its encoding is not UTF8; create one with ENCODING 'UTF8'"
    if _one(connection, "SELECT pg_is_in_recovery()"):
        return "it is a standby that takes no writes; name the primary"
    if _one(connection, "SELECT current_schema()") is None:
        return "its search_path names no schema that exists"
    return None


def take_lock(connection: Connection) -> bool:
    """Whether this connection now holds the writer's lock of its schema."""
    return bool(_one(connection, f"SELECT pg_try_advisory_lock({_LOCK_CLASS}, {_OBJECT})"))


def lock_holder(connection: Connection) -> int | None:
    """The server process that holds the lock, or None."""
    found = connection.execute(
        "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted AND classid = %s AND objsubid = 2 "
        f"AND objid = (({_OBJECT})::bigint & 4294967295)::oid "
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        (_LOCK_CLASS,),
    ).fetchone()
    return int(found[0]) if found else None


def end_backend(connection: Connection, pid: int) -> None:
    """Ends a server process of ours that still holds the lock although its client is gone."""
    connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = %s AND application_name = %s",
        (pid, APPLICATION),
    )


def owner(connection: Connection) -> str | None:
    """The token of the host that opened the database last."""
    found = connection.execute("SELECT value FROM meta WHERE key = %s", (OWNER,)).fetchone()
    return None if found is None else str(found[0])


def own(connection: Connection, token: str) -> None:
    """Makes this host the owner."""
    connection.execute(
        "INSERT INTO meta (key, value) VALUES (%s, %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        (OWNER, token),
    )


def lost(connection: Connection, error: BaseException) -> bool:
    """Whether the connection is gone, or about to be."""
    state = getattr(error, "sqlstate", None) or ""
    return connection.closed or state.startswith(("57P", "08"))


def masked(url: str) -> str:
    """The database's name for messages: never with a password."""
    try:
        facts = conninfo_to_dict(url)
    except psycopg.Error:
        return "(an unreadable URL)"
    host = facts.get("host") or "localhost"
    port = f":{facts['port']}" if facts.get("port") else ""
    return f"postgresql://{host}{port}/{facts.get('dbname') or facts.get('user') or ''}"


def told(error: BaseException, url: str) -> str:
    """A driver's message on one line, without the URL's password."""
    text = re.sub(r"\s+", " ", str(error)).strip().rstrip(".")
    for secret in _secrets(url):
        text = text.replace(secret, "***")
    return text or type(error).__name__


def _secrets(url: str) -> list[str]:
    found = []
    try:
        found.append(conninfo_to_dict(url).get("password"))
        found.append(urlsplit(url).password)
    except (psycopg.Error, ValueError):
        found.append(url)
    return [str(secret) for secret in found if secret]


def _says(connection: Connection, setting: str) -> str:
    return str(_one(connection, f"SHOW {setting}"))


def _one(connection: Connection, sql: str) -> Any:
    row = connection.execute(sql.encode()).fetchone()
    return row[0] if row else None
