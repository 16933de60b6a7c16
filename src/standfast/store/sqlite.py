"""The embedded store: SQLite with one writer thread and group commit.

The writer drains its queue and runs several works in one transaction (`BEGIN IMMEDIATE`, a savepoint each,
one commit, one fsync); concurrency makes it faster. A caller is answered only after the commit that holds its
work.

Errors. A work that raises is rolled back to its savepoint; the others stay. SQLite ends the whole transaction
by itself on some errors (a full disk), so after any database error the writer asks whether the transaction
still exists; if not, every work of the batch is run again alone. A full disk fails the works that met it and
the host goes on. An error of input/output, or of the commit itself, makes the store *failed*: nobody of the
batch is told ok, every later call gets `StorageFailed`, and the host stops, because what is on disk is known
only after opening it again.

Reads run in the caller's thread on connections of their own (WAL readers do not wait for the writer).
"""

from __future__ import annotations

import os
import queue
import sqlite3
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote

from standfast.domain.errors import Refusal
from standfast.store.sqltx import SqlTx
from standfast.store.tx import StorageFailed, Tx

T = TypeVar("T")
Clock = Callable[[], int]
BATCH_LIMIT: Final = 64
QUEUE_LIMIT: Final = 10_000
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


class _Job:
    """One queued work and the future that waits for it."""

    __slots__ = ("future", "outcome", "work")

    def __init__(self, work: Callable[[Tx], Any]) -> None:
        self.work = work
        self.future: Future[Any] = Future()
        self.outcome: Any = None


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


class SqliteStore:
    """An open database file. Made by `migrate.open_sqlite`, which has checked its schema."""

    def __init__(self, path: Path, clock: Clock, hook: Callable[[str], None] | None = None) -> None:
        self._path = path
        self._clock = clock
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._local = threading.local()
        self._readers: list[sqlite3.Connection] = []
        self._readers_lock = threading.Lock()
        self._failure: StorageFailed | None = None
        self._closed = False
        self._connection = connect(path, hook=hook)
        self._tx = SqliteTx(self._connection, clock)
        self.commits = 0
        self._thread = threading.Thread(target=self._serve, name="standfast-writer", daemon=True)
        self._thread.start()

    @property
    def failure(self) -> StorageFailed | None:
        """Why the store stopped, or None while it works."""
        return self._failure

    def write(self, work: Callable[[Tx], T], scope: str = "") -> Future[T]:
        """Queues `work`; the future is answered after the commit that holds it."""
        job = _Job(work)
        if self._failure is not None:
            job.future.set_exception(self._failure)
        elif self._closed:
            job.future.set_exception(Refusal("unavailable", "The host is going down."))
        elif self._queue.qsize() >= QUEUE_LIMIT:
            job.future.set_exception(
                Refusal("unavailable", "Too many calls wait for the store; try again.", retry_after=1)
            )
        else:
            self._queue.put(job)
        return job.future

    def read(self, work: Callable[[Tx], T]) -> T:
        """Runs `work` on a snapshot in the caller's thread."""
        if self._failure is not None:
            raise self._failure
        connection = self._reader()
        connection.execute("BEGIN")
        try:
            return work(SqliteTx(connection, self._clock))
        except sqlite3.Error as error:
            raise StorageFailed(f"The database {self._path} cannot be read: {error}.") from error
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")

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
        """Finishes queued writes, then closes every connection."""
        if self._closed:
            return
        self._closed = True
        self._queue.put(None)
        self._thread.join()
        for connection in (*self._readers, self._connection):
            with suppress(sqlite3.Error):
                connection.close()

    def _serve(self) -> None:
        while True:
            job = self._queue.get()
            if job is None:
                return self._drain()
            batch = [job]
            ending = False
            while len(batch) < BATCH_LIMIT:
                try:
                    following = self._queue.get_nowait()
                except queue.Empty:
                    break
                if following is None:
                    ending = True
                    break
                batch.append(following)
            self._process(batch)
            if ending:
                return self._drain()

    def _drain(self) -> None:
        """Refuses what came in after the end."""
        with suppress(queue.Empty):
            while True:
                job = self._queue.get_nowait()
                if job is not None:
                    job.future.set_exception(Refusal("unavailable", "The host is going down."))

    def _process(self, batch: list[_Job]) -> None:
        """Runs a batch in one transaction; where SQLite ended that by itself, each work again alone."""
        if self._failure is not None or self._committed(batch):
            self._answer(batch)
            return
        for job in batch:
            if self._failure is None:
                self._committed([job])
            self._answer([job])

    def _committed(self, batch: list[_Job]) -> bool:
        """Whether the batch has its outcomes; False when each work must run again alone."""
        try:
            return self._transaction(batch)
        except sqlite3.Error as error:
            self._commit_failed(batch, error)
            return True

    def _transaction(self, batch: list[_Job]) -> bool:
        """One transaction over the batch; False when SQLite ended it and several works must run alone."""
        self._connection.execute("BEGIN IMMEDIATE")
        for job in batch:
            self._connection.execute("SAVEPOINT work")
            try:
                job.outcome = job.work(self._tx)
            except BaseException as error:  # every fault of a work is its caller's answer
                job.outcome = _Raised(self._translated(error))
                if self._failure is not None:
                    return self._rolled_back() or True
                if not self._connection.in_transaction:
                    return len(batch) == 1
                self._connection.execute("ROLLBACK TO work")
            self._connection.execute("RELEASE work")
        self._connection.execute("COMMIT")
        self.commits += 1
        return True

    def _translated(self, error: BaseException) -> BaseException:
        if not isinstance(error, sqlite3.Error):
            return error
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_FULL:
            return _disk_full()
        if code in _FATAL:
            self._failure = self._failed(error)
            return self._failure
        return error

    def _failed(self, error: sqlite3.Error) -> StorageFailed:
        name = getattr(error, "sqlite_errorname", "error")
        return StorageFailed(
            f"Writing to {self._path} failed ({name}: {error}). What was in flight is not acknowledged. "
            "Check the disk, then start the host again and run `standfast audit verify`."
        )

    def _commit_failed(self, batch: list[_Job], error: sqlite3.Error) -> None:
        full = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL
        if full and self._rolled_back():
            outcome: BaseException = _disk_full()
        else:
            outcome = self._failure = self._failed(error)
        for job in batch:
            job.outcome = _Raised(outcome)

    def _rolled_back(self) -> bool:
        try:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        except sqlite3.Error:
            return False
        return True

    def _answer(self, batch: list[_Job]) -> None:
        for job in batch:
            if self._failure is not None:
                job.future.set_exception(self._failure)
            elif isinstance(job.outcome, _Raised):
                job.future.set_exception(job.outcome.error)
            else:
                job.future.set_result(job.outcome)


class _Raised:
    """The exception that a work raised, as its outcome."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


def _disk_full() -> Refusal:
    return Refusal("storage_full", "The disk is full; nothing was written. Make room, then try again.")


def backup_file(source: Path, target: Path) -> None:
    """A consistent copy of a database file, made through SQLite's backup; the target must not exist."""
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    reader = connect(source, readonly=True)
    copy = sqlite3.connect(target)
    try:
        reader.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
    finally:
        copy.close()
        reader.close()
