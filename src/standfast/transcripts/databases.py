"""Sessions in the clients' own SQLite databases: Hermes' `state.db`, OpenCode's, Kiro's.

A database holds many sessions; one is read, the one asked for or else the one that was used last, with what it goes on
from (Hermes) and what it started (OpenCode's subagents). The file belongs to a client that may be running: it is opened
for reading only, and only plain tables are read, so that no view or trigger of a strange file is run.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final
from urllib.parse import quote

import msgspec

from standfast.transcripts.entries import Entry, Record
from standfast.transcripts.events import MAIN, Place, Problem, StoredList
from standfast.transcripts.formats import hermes, opencode
from standfast.transcripts.formats.kiro import Kiro
from standfast.transcripts.lines import LINE_LIMIT

LINEAGE_LIMIT: Final = 100
"""Sessions that one session goes on from, or that it started."""

Row = dict[str, object]


def client_of(path: Path) -> str:
    """Whose database a file is; "" where it is nobody's that is known."""
    try:
        with closing(_opened(path)) as connection:
            tables = _tables(connection)
    except sqlite3.Error:
        return ""
    for client, needed in _NEEDED.items():
        if any(names <= tables for names in needed):
            return client
    return ""


def entries(path: Path, client: str, session: str | None, *, newest_first: bool) -> Iterator[Entry | Problem]:
    """The entries of one session. What SQLite refuses is a problem, and ends the reading."""
    try:
        with closing(_opened(path)) as connection:
            yield from _READ[client](connection, session, newest_first)
    except (sqlite3.Error, OverflowError, UnicodeDecodeError) as error:
        yield Problem(Place(), "unreadable", f"{type(error).__name__}: {error}")


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{quote(str(path.absolute()))}?mode=ro", uri=True, timeout=5)
    connection.row_factory = sqlite3.Row
    connection.text_factory = lambda data: data.decode(errors="replace")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LINE_LIMIT)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA query_only = ON")
    return connection


def _tables(connection: sqlite3.Connection) -> set[str]:
    found = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchmany(1_000)
    return {str(row["name"]) for row in found if str(row["sql"]).upper().startswith("CREATE TABLE")}


def _rows(connection: sqlite3.Connection, query: str, *values: object) -> Iterator[Row]:
    for row in connection.execute(query, values):
        yield dict(row)


def _first(connection: sqlite3.Connection, query: str, *values: object) -> Row | None:
    return next(_rows(connection, f"{query} LIMIT 1", *values), None)


def _messages(
    connection: sqlite3.Connection, table: str, session: str, newest_first: bool
) -> Iterator[tuple[int, Row]]:
    """The messages of a session by id, with their positions from 1."""
    total = 0
    if newest_first:
        total = connection.execute(f"SELECT count(*) FROM {table} WHERE session_id = ?", (session,)).fetchone()[0]
    order = "DESC" if newest_first else "ASC"
    rows = _rows(connection, f"SELECT * FROM {table} WHERE session_id = ? ORDER BY id {order}", session)
    for number, row in enumerate(rows):
        yield (total - number if newest_first else number + 1), row


def _hermes(connection: sqlite3.Connection, session: str | None, newest_first: bool) -> Iterator[Entry | Problem]:
    reader = hermes.Hermes()
    newest = _first(connection, "SELECT session_id FROM messages ORDER BY id DESC")
    name = session or (str(newest["session_id"]) if newest is not None else None)
    lineage: list[hermes.Session] = []
    while name is not None and len(lineage) < LINEAGE_LIMIT and name not in {each.name for each in lineage}:
        row = _first(connection, "SELECT * FROM sessions WHERE id = ?", name)
        if row is None or (lineage and row.get("end_reason") != "compression"):
            break
        lineage.append(msgspec.convert(_plain(row), hermes.Session))
        name = lineage[-1].parent_session_id if isinstance(lineage[-1].parent_session_id, str) else None
    for each in lineage if newest_first else reversed(lineage):
        if not newest_first:
            yield hermes.header(each)
        for number, row in _messages(connection, "messages", each.name or "", newest_first):
            entry = reader.entry(Record(msgspec.json.encode(_plain(row)), Place(message=number)))
            if entry is not None:
                yield entry
        if newest_first:
            yield hermes.header(each)


def _plain(row: Row) -> Row:
    """A row's plain values."""
    return {name: found for name, found in row.items() if isinstance(found, str | int | float) or found is None}


def _opencode(connection: sqlite3.Connection, session: str | None, newest_first: bool) -> Iterator[Entry | Problem]:
    root = _opencode_session(connection, session)
    if root is None:
        return
    children = _rows(
        connection, f"SELECT id FROM session WHERE parent_id = ? ORDER BY id LIMIT {LINEAGE_LIMIT}", root["id"]
    )
    threads = [(str(root["id"]), MAIN), *((str(row["id"]), str(row["id"])) for row in list(children))]
    stored = [_opencode_list(connection, name, agent) for name, agent in threads]
    if not newest_first:
        yield opencode.header(_opencode_info(root))
        for name, agent in threads:
            yield from _opencode_messages(connection, name, agent, newest_first)
    yield from (each for each in stored if each is not None)
    if newest_first:
        yield from opencode.reverted(_opencode_info(root))
        for name, agent in threads:
            yield from _opencode_messages(connection, name, agent, newest_first)
        yield opencode.header(_opencode_info(root))
    else:
        yield from opencode.reverted(_opencode_info(root))


def _opencode_session(connection: sqlite3.Connection, session: str | None) -> Row | None:
    if session is not None:
        return _first(connection, "SELECT * FROM session WHERE id = ?", session)
    newest = _first(connection, "SELECT session_id FROM message ORDER BY id DESC")
    row = _first(connection, "SELECT * FROM session WHERE id = ?", newest["session_id"]) if newest is not None else None
    for _ in range(LINEAGE_LIMIT):
        parent = row.get("parent_id") if row is not None else None
        if parent is None:
            break
        row = _first(connection, "SELECT * FROM session WHERE id = ?", parent) or row
    return row


def _opencode_info(row: Row) -> opencode.Session:
    revert = row.get("revert")
    return opencode.Session(
        str(row.get("id")),
        str(row["parent_id"]) if isinstance(row.get("parent_id"), str) else None,
        str(row.get("version") or "") or None,
        str(row.get("directory") or "") or None,
        msgspec.Raw(revert.encode()) if isinstance(revert, str) else msgspec.Raw(b"null"),
    )


def _opencode_messages(
    connection: sqlite3.Connection, session: str, agent: str, newest_first: bool
) -> Iterator[Entry | Problem]:
    reader = opencode.OpenCode()
    for number, row in _messages(connection, "message", session, newest_first):
        parts = _rows(connection, "SELECT data FROM part WHERE message_id = ? ORDER BY id", row["id"])
        pieces = ",".join(str(part["data"]) for part in parts)
        info = json.dumps({"id": row["id"]})[:-1] + str(row.get("data") or "{}").strip().replace("{", ",", 1)
        data = f'{{"info":{info.replace(",}", "}")},"parts":[{pieces}]}}'
        entry = reader.entry(Record(data.encode(), Place(message=number)))
        if entry is not None:
            yield of_agent(entry, agent)


def of_agent(entry: Entry, agent: str) -> Entry:
    """An entry as one of a subagent."""
    if agent != MAIN:
        entry.agent = agent
        entry.parts = [
            msgspec.structs.replace(part, agent=agent) if hasattr(part, "agent") else part for part in entry.parts
        ]
    return entry


def _opencode_list(connection: sqlite3.Connection, session: str, agent: str) -> Entry | None:
    if "todo" not in _tables(connection):
        return None
    query = "SELECT content, status FROM todo WHERE session_id = ? ORDER BY position LIMIT 10000"
    rows = list(_rows(connection, query, session))
    return Entry(Place(), [StoredList(Place(), "todowrite", rows, agent)], agent=agent) if rows else None


def _kiro(connection: sqlite3.Connection, session: str | None, newest_first: bool) -> Iterator[Entry | Problem]:
    row = _kiro_row(connection, session)
    contents = Kiro().document(str(row["value"]).encode()) if row is not None else None
    if contents is None:
        if row is not None:
            yield Problem(Place(), "unexpected_shape", "a conversation of Kiro")
        return
    numbered = list(enumerate(contents.messages, 1))
    if not newest_first:
        yield from contents.head
    for number, raw in reversed(numbered) if newest_first else numbered:
        entry = Kiro().entry(Record(raw, Place(message=number)))
        if entry is not None:
            yield entry
    if newest_first:
        yield from contents.head


def _kiro_row(connection: sqlite3.Connection, session: str | None) -> Row | None:
    if "conversations_v2" in _tables(connection):
        if session is not None:
            return _first(connection, "SELECT value FROM conversations_v2 WHERE conversation_id = ?", session)
        return _first(connection, "SELECT value FROM conversations_v2 ORDER BY updated_at DESC")
    if session is not None:
        return _first(connection, "SELECT value FROM conversations WHERE key = ?", session)
    return _first(connection, "SELECT value FROM conversations ORDER BY rowid DESC")


_NEEDED: Final = {
    "hermes": [{"sessions", "messages"}],
    "opencode": [{"session", "message", "part"}],
    "kiro": [{"conversations_v2"}, {"conversations"}],
}
_READ: Final = {"hermes": _hermes, "opencode": _opencode, "kiro": _kiro}
