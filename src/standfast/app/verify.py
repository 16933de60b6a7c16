"""Checking a database file that no host holds: a backup."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from standfast.config import system_clock
from standfast.host.audit import verify
from standfast.store.sqlite import SqliteTx, connect


def verify_database(path: str) -> dict[str, Any]:
    """The audit of a file, opened for reading only."""
    connection = connect(Path(path), readonly=True)
    try:
        return verify(SqliteTx(connection, system_clock))
    finally:
        connection.close()
