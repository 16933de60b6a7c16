"""Sessions in the clients' SQLite databases: built here with the clients' columns, filled with synthetic sessions."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

from standfast import transcripts
from standfast.transcripts import events
from tests.transcripts.left import OLDER, OPEN, pairs, whys
from tests.transcripts.written import Json, Todos
from tests.transcripts.written_others import ChatSession, OpenCodeSession

pytestmark = pytest.mark.requirement("RESTORE-05")

HERMES = """
CREATE TABLE sessions (id TEXT PRIMARY KEY, source TEXT NOT NULL, parent_session_id TEXT, started_at REAL NOT NULL,
    ended_at REAL, end_reason TEXT, cwd TEXT);
CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT,
    tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL NOT NULL, active INTEGER NOT NULL DEFAULT 1,
    compacted INTEGER NOT NULL DEFAULT 0);
"""
OPENCODE = """
CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, version TEXT, revert TEXT);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER, data TEXT NOT NULL);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, data TEXT NOT NULL);
CREATE TABLE todo (session_id TEXT, content TEXT, status TEXT, priority TEXT, position INTEGER);
"""


def database(folder: Path, schema: str = "") -> sqlite3.Connection:
    connection = sqlite3.connect(folder / "state.db", isolation_level=None)
    connection.executescript(schema)
    return connection


def add_hermes(connection: sqlite3.Connection, name: str, messages: Iterable[Json], **session: object) -> None:
    row = {"id": name, "source": "cli", "parent_session_id": None, "started_at": 1.0, "end_reason": None} | session
    connection.execute(f"INSERT INTO sessions ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", [*row.values()])
    for message in messages:
        own = {key: value for key, value in message.items() if key != "id"} | {"session_id": name}
        values = [json.dumps(value) if isinstance(value, list) else value for value in own.values()]
        connection.execute(f"INSERT INTO messages ({', '.join(own)}) VALUES ({', '.join('?' * len(own))})", values)


def chat(*lists: Todos) -> list[Json]:
    session = ChatSession()
    session.prompt()
    for todos in lists:
        session.todo(todos)
    return session.messages


def add_opencode(connection: sqlite3.Connection, session: OpenCodeSession, parent: str | None = None) -> None:
    info = session.info
    revert = json.dumps(info["revert"]) if "revert" in info else None
    connection.execute("INSERT INTO session VALUES (?, ?, '/project', '1.18', ?)", (info["id"], parent, revert))
    for message in session.messages:
        meta, parts = message["info"], message["parts"]
        assert isinstance(meta, dict)
        assert isinstance(parts, list)
        own = f"{info['id']}-{meta['id']}"
        data = {key: value for key, value in meta.items() if key not in {"id", "sessionID"}}
        connection.execute("INSERT INTO message VALUES (?, ?, 1, ?)", (own, info["id"], json.dumps(data)))
        for number, part in enumerate(parts):
            row = (f"{own}-{number}", own, info["id"], json.dumps(part))
            connection.execute("INSERT INTO part VALUES (?, ?, ?, ?)", row)


def test_the_newest_session_of_hermes_is_read_or_the_one_that_is_asked_for(tmp_path: Path) -> None:
    with closing(database(tmp_path, HERMES)) as connection:
        add_hermes(connection, "first", chat(OLDER))
        add_hermes(connection, "second", chat(OLDER, OPEN))
    path = tmp_path / "state.db"
    report = transcripts.restore(path)
    assert (report.format, report.session, pairs(report.main)) == ("hermes", "second", OPEN)
    assert report.main is not None
    assert report.main.written.message == 5
    assert pairs(transcripts.restore(path, session="first").main) == OLDER
    assert transcripts.restore(path, session="none").lists == ()


def test_a_compression_of_hermes_goes_on_in_a_child_and_a_branch_does_not(tmp_path: Path) -> None:
    with closing(database(tmp_path, HERMES)) as connection:
        add_hermes(connection, "parent", chat(OPEN), end_reason="compression")
        add_hermes(connection, "child", chat(), parent_session_id="parent", started_at=2.0)
        add_hermes(connection, "other", chat(OPEN), end_reason="branched", started_at=3.0)
        add_hermes(connection, "branch", chat(), parent_session_id="other", started_at=4.0)
    path = tmp_path / "state.db"
    child = transcripts.restore(path, session="child")
    assert (child.session, child.parent, pairs(child.main)) == ("child", "parent", OPEN)
    assert transcripts.restore(path, session="branch").lists == ()


def test_the_same_lineage_is_read_from_an_export(tmp_path: Path) -> None:
    parent, child, newest = ChatSession("parent"), ChatSession("child"), ChatSession("newest")
    parent.messages, child.messages, newest.messages = chat(OPEN), chat(), chat(OLDER)
    rows = [
        newest.hermes(started_at=9.0),
        child.hermes(parent_session_id="parent", started_at=2.0),
        parent.hermes(started_at=1.0, end_reason="compression"),
    ]
    path = tmp_path / "export.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = transcripts.restore(path)
    assert (report.session, pairs(report.main)) == ("newest", OLDER)
    assert [problem.reason for problem in report.problems] == ["several_sessions"]
    assert pairs(transcripts.restore(path, session="child").main) == OPEN


def test_what_a_rewind_of_hermes_hid_was_taken_back(tmp_path: Path) -> None:
    with closing(database(tmp_path, HERMES)) as connection:
        add_hermes(connection, "only", chat(OPEN, OLDER))
        connection.execute("UPDATE messages SET active = 0 WHERE id >= 4")
    report = transcripts.restore(tmp_path / "state.db")
    assert (pairs(report.main), whys(report)) == (OPEN, ["rolled_back"])
    with closing(database(tmp_path)) as connection:
        connection.execute("UPDATE messages SET compacted = 1 WHERE id >= 4")
    assert pairs(transcripts.restore(tmp_path / "state.db").main) == OLDER


def test_opencode_s_database_gives_the_session_its_store_and_its_subagents(tmp_path: Path) -> None:
    root, child = OpenCodeSession("ses_root"), OpenCodeSession("ses_child")
    root.prompt()
    root.write_todos(OPEN)
    child.prompt()
    child.write_todos(OLDER)
    with closing(database(tmp_path, OPENCODE)) as connection:
        add_opencode(connection, root)
        add_opencode(connection, child, "ses_root")
    path = tmp_path / "state.db"
    report = transcripts.restore(path)
    assert (report.format, report.session) == ("opencode", "ses_root")
    assert [(found.agent, pairs(found)) for found in report.lists] == [("", OPEN), ("ses_child", OLDER)]
    with closing(database(tmp_path)) as connection:
        connection.execute("INSERT INTO todo VALUES ('ses_root', 'As stored', 'pending', 'low', 0)")
    stored = transcripts.restore(path)
    assert pairs(stored.main) == [("As stored", "pending")]
    assert stored.main is not None
    assert stored.main.from_answer


def test_a_revert_in_opencode_s_database_hides_what_came_after(tmp_path: Path) -> None:
    session = OpenCodeSession("ses_a")
    session.prompt()
    session.write_todos(OPEN)
    back_to = session.prompt()
    session.write_todos(OLDER)
    session.info["revert"] = {"messageID": f"ses_a-{back_to}"}
    with closing(database(tmp_path, OPENCODE)) as connection:
        add_opencode(connection, session)
    report = transcripts.restore(tmp_path / "state.db")
    assert (pairs(report.main), whys(report)) == (OPEN, ["rolled_back"])


def test_kiro_s_conversations_are_read_from_either_table(tmp_path: Path) -> None:
    use = {"id": "t", "name": "todo_list", "args": {"command": "create", "tasks": ["One"]}}
    history = [
        {"user": {"content": {"Prompt": {"prompt": "go"}}}, "assistant": {"ToolUse": {"tool_uses": [use]}}},
        {"user": {"content": {"ToolUseResults": {"tool_use_results": [{"tool_use_id": "t", "content": []}]}}}},
    ]
    value = json.dumps({"conversation_id": "k1", "history": history})
    with closing(database(tmp_path, "CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT);")) as connection:
        connection.execute("INSERT INTO conversations VALUES ('/project', ?)", (value,))
    path = tmp_path / "state.db"
    assert pairs(transcripts.restore(path).main) == [("One", "pending")]
    table = "CREATE TABLE conversations_v2 (key TEXT, conversation_id TEXT, value TEXT, updated_at INTEGER);"
    with closing(database(tmp_path, table)) as connection:
        connection.execute("INSERT INTO conversations_v2 VALUES ('/project', 'k2', ?, 1)", (value,))
    assert transcripts.restore(path, session="k2").format == "kiro"
    assert transcripts.restore(path, session="none").lists == ()


@pytest.mark.requirement("RESTORE-06")
class TestStrangeDatabases:
    def test_a_view_under_the_name_of_a_table_is_not_run(self, tmp_path: Path) -> None:
        schema = """
        CREATE TABLE sessions (id TEXT);
        CREATE VIEW messages AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT id FROM n;
        """
        database(tmp_path, schema).close()
        report = transcripts.restore(tmp_path / "state.db")
        assert (report.format, [problem.reason for problem in report.problems]) == ("", ["unknown_format"])

    def test_columns_that_are_missing_are_told(self, tmp_path: Path) -> None:
        database(tmp_path, "CREATE TABLE sessions (id TEXT); CREATE TABLE messages (id INTEGER);").close()
        report = transcripts.restore(tmp_path / "state.db")
        assert (report.format, [problem.reason for problem in report.problems]) == ("hermes", ["unreadable"])

    def test_a_page_that_is_damaged_is_told(self, tmp_path: Path) -> None:
        with closing(database(tmp_path, HERMES)) as connection:
            add_hermes(connection, "only", chat(*[OPEN] * 200))
        path = tmp_path / "state.db"
        data = bytearray(path.read_bytes())
        data[3 * 4096 : 8 * 4096] = b"\xff" * 5 * 4096
        path.write_bytes(data)
        report = transcripts.restore(path)
        assert report.format in {"hermes", ""}
        assert {problem.reason for problem in report.problems} <= {"unreadable", "unexpected_shape", "unknown_format"}
        assert report.problems

    def test_the_file_is_not_touched(self, tmp_path: Path) -> None:
        with closing(database(tmp_path, HERMES)) as connection:
            add_hermes(connection, "only", chat(OPEN))
        path = tmp_path / "state.db"
        before = path.read_bytes()
        path.chmod(0o400)
        assert pairs(transcripts.restore(path).main) == OPEN
        assert (path.read_bytes(), [each.name for each in tmp_path.iterdir()]) == (before, ["state.db"])

    def test_both_directions_tell_the_same_events(self, tmp_path: Path) -> None:
        with closing(database(tmp_path, HERMES)) as connection:
            add_hermes(connection, "parent", chat(OPEN), end_reason="compression")
            add_hermes(connection, "child", chat(OLDER), parent_session_id="parent")
        opened = transcripts.open(tmp_path / "state.db")
        there = [type(event) for event in opened.events()]
        back = [type(event) for event in opened.backwards()]
        assert sorted(map(str, there)) == sorted(map(str, back))
        assert there.count(events.ToolCall) == 2
