"""Opening a database: create it, accept it, bring it up to date, or refuse it before any write.

Migrations are forward-only texts, known by number and digest. Each runs in one transaction and writes its
number last. A database of a newer or unknown schema is not touched: the refusal names what was found, what is
supported, and the command that makes a backup. An older one is backed up before it is migrated.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import msgspec

from standfast.store.queries import schema
from standfast.store.sqlite import Clock, SqliteStore, backup_file, connect
from standfast.store.tx import StoreRefused

SQLITE_WORDS: Final[Mapping[str, str]] = {"SERIAL_KEY": "INTEGER PRIMARY KEY"}


class SchemaRefused(StoreRefused):
    """The database has a schema that this version does not open; nothing was written."""


class Migration(msgspec.Struct, frozen=True):
    """One step: the schema's number after it and its SQL text."""

    version: int
    text: str

    @property
    def digest(self) -> str:
        """The text's identity, hex SHA-256."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def migrations() -> tuple[Migration, ...]:
    """All steps of this version, oldest first."""
    return (Migration(1, schema()),)


def statements(text: str, words: Mapping[str, str]) -> list[str]:
    """A migration's statements in a dialect's words, without comments."""
    for word, own in words.items():
        text = text.replace(word, own)
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    return [part.strip() for part in "\n".join(lines).split(";") if part.strip()]


def open_sqlite(
    path: Path,
    clock: Clock,
    *,
    steps: Sequence[Migration] | None = None,
    hook: Callable[[str], None] | None = None,
) -> SqliteStore:
    """The store in `path`, created (mode 0600) or migrated where needed; `SchemaRefused` else."""
    wanted = tuple(steps or migrations())
    if not path.exists() or path.stat().st_size == 0:
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        _apply(path, wanted)
        return SqliteStore(path, clock, hook)
    found = _found(path)
    missing = pending(found, wanted, path)
    if missing:
        backup_file(path, _backup_path(path, max(found)))
        _apply(path, missing)
    return SqliteStore(path, clock, hook)


def pending(found: Mapping[int, str], wanted: Sequence[Migration], where: Path | str) -> tuple[Migration, ...]:
    """The steps that a database lacks, by its recorded steps (number to digest); refuses what is unknown."""
    supported = wanted[-1].version
    if not found:
        raise SchemaRefused(_refusal(where, "no schema that Standfast knows", supported))
    if max(found) > supported:
        raise SchemaRefused(_refusal(where, f"schema {max(found)}", supported))
    for step in wanted:
        if step.version in found and found[step.version] != step.digest:
            raise SchemaRefused(_refusal(where, f"an unknown form of schema {step.version}", supported))
    return tuple(step for step in wanted if step.version not in found)


def _refusal(where: Path | str, found: str, supported: int) -> str:
    return (
        f"{where} holds {found}; this version supports schema {supported}. Nothing was written. "
        f"Back it up with: cp {where} {where}.backup (with the host down), then install the version that wrote it."
    )


def _found(path: Path) -> dict[int, str]:
    connection = connect(path, readonly=True)
    try:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if "meta" not in tables:
            return {}
        rows = connection.execute("SELECT key, value FROM meta WHERE key LIKE 'migration.%'").fetchall()
    except sqlite3.DatabaseError as error:
        raise SchemaRefused(f"{path} is not a readable SQLite database ({error}). Nothing was written.") from error
    finally:
        connection.close()
    return {int(key.rpartition(".")[2]): value for key, value in rows}


def _apply(path: Path, steps: Sequence[Migration]) -> None:
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
