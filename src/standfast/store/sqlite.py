"""The embedded store: SQLite with one writer thread and group commit (`batch`).

Errors. SQLite ends a whole transaction by itself on some errors (a full disk, no memory), so after any error
it is asked whether the transaction still exists. A full disk fails the works that met it and the host goes
on. An error of input/output, or of the commit itself, makes the store *failed*: nobody of the batch is told
ok, every later call gets `StorageFailed`, and the host stops, because what is on disk is known only after
opening it again. A database file that was deleted or replaced under the host fails the store too: its commits
would go to a file that nobody finds again.

Checkpoints are made by the writer between batches, where their errors are seen and logged, and never inside
somebody's commit.

Reads run in the caller's thread on connections of their own (WAL readers do not wait for the writer).
"""

from __future__ import annotations

import errno
import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote

from standfast.domain.errors import Refusal
from standfast.store.batch import Ending, Fate, GroupCommit, disk_full
from standfast.store.sqltx import SqlTx
from standfast.store.tx import StorageFailed, Tx

T = TypeVar("T")
Clock = Callable[[], int]
CHECKPOINT_COMMITS: Final = 200
CHECKPOINT_BYTES: Final = 4 * 1024 * 1024
WAL_LIMIT: Final = 512 * 1024 * 1024
_log: Final = logging.getLogger("standfast.store")
_FATAL: Final = frozenset(
    {
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_READONLY,
    }
)


class SqliteTx(SqlTx):
    """A transaction on one SQLite connection."""

    dialect = "sqlite"

    def __init__(self, connection: sqlite3.Connection, clock: Clock) -> None:
        self._connection = connection
        self._clock = clock

    def run(self, sql: str, params: Sequence[Any] | Mapping[str, Any] = ()) -> Any:
        """Executes one statement."""
        return self._connection.execute(sql, params)

    def now(self) -> int:
        """The host's clock."""
        return self._clock()


def connect(path: Path, *, readonly: bool = False, hook: Callable[[str], None] | None = None) -> sqlite3.Connection:
    """A connection with this store's pragmas; `hook` sees every statement (for fault tests)."""
    uri = f"file:{quote(str(path.absolute()))}" + ("?mode=ro" if readonly else "")
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, cached_statements=256)
    if hook is not None:
        connection.set_trace_callback(hook)
    connection.execute("PRAGMA busy_timeout = 5000")
    connection.execute("PRAGMA foreign_keys = ON")
    if not readonly:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
    return connection


class _Writer:
    """The writer's connection, as `GroupCommit` drives it."""

    def __init__(self, path: Path, clock: Clock, hook: Callable[[str], None] | None) -> None:
        self._path = path
        self._wal = path.with_name(f"{path.name}-wal")
        self.connection = connect(path, hook=hook)
        self.connection.execute("PRAGMA wal_autocheckpoint = 0")
        self._tx = SqliteTx(self.connection, clock)
        self._file = _identity(path)
        self._commits = 0
        self._wal_size = 0

    @property
    def tx(self) -> SqliteTx:
        """The transaction on the writer's connection."""
        return self._tx

    def begin(self) -> None:
        """Takes the write lock."""
        self.connection.execute("BEGIN IMMEDIATE")

    def savepoint(self) -> None:
        """Marks the point to which `back` returns."""
        self.connection.execute("SAVEPOINT work")

    def release(self) -> None:
        """Forgets the savepoint."""
        self.connection.execute("RELEASE work")

    def back(self) -> None:
        """Undoes what followed the savepoint."""
        self.connection.execute("ROLLBACK TO work")

    def commit(self) -> None:
        """Commits with one fsync, to the file that people will look for."""
        if _identity(self._path) != self._file:
            raise StorageFailed(
                f"The database {self._path} was deleted or replaced while the host ran; nothing was acknowledged. "
                "Put the file back (or restore a backup), then start the host again."
            )
        self.connection.execute("COMMIT")
        self._commits += 1

    def reset(self) -> None:
        """Ends what is open; SQLite has often done so itself."""
        with suppress(sqlite3.Error):
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")

    def between(self) -> None:
        """Moves the log into the database every `CHECKPOINT_COMMITS` commits or `CHECKPOINT_BYTES` bytes."""
        size = self._wal.stat().st_size if self._wal.exists() else 0
        if self._commits < CHECKPOINT_COMMITS and size - self._wal_size < CHECKPOINT_BYTES:
            return
        self._commits, self._wal_size = 0, size
        try:
            self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        except sqlite3.Error as error:
            if size > WAL_LIMIT:
                raise
            _log.warning("A checkpoint of %s failed and is tried again later: %s", self._path, error)

    def ending(self, error: BaseException, committing: bool) -> Ending:
        """What the error did to the transaction."""
        if isinstance(error, StorageFailed):
            return Ending(Fate.FATAL, error)
        alive = Fate.OWN if self.connection.in_transaction and not committing else Fate.GONE
        if not isinstance(error, sqlite3.Error):
            return Ending(alive, error)
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_FULL:
            return Ending(Fate.GONE, disk_full())
        if code in _FATAL or committing:
            return Ending(Fate.FATAL, self._failed(error))
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            busy = Refusal("unavailable", "Another program holds the database; try again.", retry_after=1)
            return Ending(Fate.TOLD, busy)
        return Ending(alive, error)

    def _failed(self, error: sqlite3.Error) -> StorageFailed:
        name = getattr(error, "sqlite_errorname", "error")
        return StorageFailed(
            f"Writing to {self._path} failed ({name}: {error}). What was in flight is not acknowledged, and whether "
            "it is stored is known after a restart: ask again with the same idempotency key. "
            "Check the disk, start the host again, and run `standfast audit verify`."
        )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


class SqliteStore:
    """An open database file. Made by `sqlite_open.open_sqlite`, which has checked its schema."""

    def __init__(self, path: Path, clock: Clock, hook: Callable[[str], None] | None = None) -> None:
        self._path = path
        self._clock = clock
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self._readers_lock = threading.Lock()
        self._writer = _Writer(path, clock, hook)
        self._group = GroupCommit(self._writer)

    @property
    def failure(self) -> StorageFailed | None:
        """Why the store stopped, or None while it works."""
        return self._group.failure

    @property
    def commits(self) -> int:
        """Transactions committed since it was opened; each holds one or more works."""
        return self._group.commits

    def write(self, work: Callable[[Tx], T], scope: str = "") -> Future[T]:
        """Queues `work`; the future is answered after the commit that holds it."""
        return self._group.submit(work)

    def read(self, work: Callable[[Tx], T]) -> T:
        """Runs `work` on a snapshot in the caller's thread."""
        if self.failure is not None:
            raise self.failure
        try:
            connection = self._reader()
            connection.execute("BEGIN")
            try:
                return work(SqliteTx(connection, self._clock))
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            told = f"The database {self._path} cannot be read: {error}. Look at the file and its disk, then try again."
            raise StorageFailed(told) from error

    def _reader(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = connect(self._path, readonly=True)
            self._local.connection = connection
            with self._readers_lock:
                self._readers.append(connection)
        return connection

    def backup(self, path: str) -> None:
        """Writes a consistent copy to a new file, mode 0600."""
        backup_file(self._path, Path(path))

    def close(self) -> None:
        """Finishes queued writes, then closes every connection.

        After a failure the writer's connection stays open: closing would make SQLite write once more.
        """
        self._group.close()
        for connection in (*self._readers, *([] if self.failure else [self._writer.connection])):
            with suppress(sqlite3.Error):
                connection.close()


def backup_file(source: Path, target: Path) -> None:
    """A consistent copy of a database file, made through SQLite's backup; the target must not exist.

    Raises `OSError`, also for what SQLite says of the disk.
    """
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    reader = connect(source, readonly=True)
    copy = sqlite3.connect(target)
    try:
        reader.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        raise OSError(errno.EIO, str(error)) from error
    finally:
        copy.close()
        reader.close()
