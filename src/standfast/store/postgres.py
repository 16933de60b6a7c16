"""The shared database: PostgreSQL with one writer and group commit (`batch`), the same behaviour as SQLite.

A batch is one SERIALIZABLE transaction with a savepoint per work. A serialization failure or a lost
connection before the commit means that nothing was committed: the batch runs again, after connecting anew. A
connection lost during the commit leaves the outcome unknown: the batch is told to ask again with the same
idempotency key, and the store goes on.

One host writes at a time: it holds a lock for as long as its connection lives (`postgres_session`). After a
reconnection it goes on only if it got the lock back and no other host opened the database in between.

Reads run in the caller's thread on pooled connections, each a REPEATABLE READ snapshot.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Final, TypeVar

import psycopg
from psycopg.pq import TransactionStatus

from standfast.domain.errors import Refusal
from standfast.store import postgres_session as session
from standfast.store.batch import Ending, Fate, GroupCommit, disk_full, unknown_outcome
from standfast.store.postgres_backup import copy_out
from standfast.store.postgres_sql import translated
from standfast.store.sqltx import SqlTx
from standfast.store.tx import StorageFailed, Tx

T = TypeVar("T")
Clock = Callable[[], int]
READERS: Final = 8
_CLOCK: Final = b"SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"
_AGAIN: Final = frozenset({"40001", "40P01"})
_DISK_FULL: Final = "53100"
_READ_ONLY: Final = "25006"
"""What a server answers that became a standby; a new connection may find the primary."""


class PostgresTx(SqlTx):
    """A transaction on one connection. `clock` None means the database's."""

    dialect = "postgres"

    def __init__(self, connection: session.Connection, clock: Clock | None) -> None:
        self.connection = connection
        self._clock = clock

    def run(self, sql: str, params: Sequence[Any] | Mapping[str, Any] = ()) -> Any:
        """Executes one statement."""
        return self.connection.execute(translated(sql).encode(), params)

    def now(self) -> int:
        """The database's clock, unless another was given."""
        if self._clock is not None:
            return self._clock()
        row = self.connection.execute(_CLOCK).fetchone()
        assert row is not None, "a clock answers"
        return int(row[0])


class _Writer:
    """The writer's connection, as `GroupCommit` drives it."""

    def __init__(self, url: str, connection: session.Connection, token: str, clock: Clock | None) -> None:
        self._url = url
        self._token = token
        self._backend = connection.info.backend_pid
        self._tx = PostgresTx(connection, clock)

    @property
    def tx(self) -> PostgresTx:
        """The transaction on the writer's connection."""
        return self._tx

    @property
    def connection(self) -> session.Connection:
        """The connection that holds the lock."""
        return self._tx.connection

    def begin(self) -> None:
        """Starts a serializable transaction, on a new connection where the old one is gone."""
        if self.connection.closed:
            self._connect()
        self.connection.execute("BEGIN ISOLATION LEVEL SERIALIZABLE")

    def savepoint(self) -> None:
        """Marks the point to which `back` returns."""
        self.connection.execute("SAVEPOINT work")

    def release(self) -> None:
        """Forgets the savepoint."""
        self.connection.execute("RELEASE SAVEPOINT work")

    def back(self) -> None:
        """Undoes what followed the savepoint."""
        self.connection.execute("ROLLBACK TO SAVEPOINT work")

    def commit(self) -> None:
        """Commits; the server says COMMIT only when it is durable."""
        said = self.connection.execute("COMMIT").statusmessage
        if said != "COMMIT":
            raise RuntimeError(f"the database answered a commit with {said}")

    def reset(self) -> None:
        """Rolls back what is open; a connection that cannot is closed."""
        try:
            if self.connection.info.transaction_status != TransactionStatus.IDLE:
                self.connection.execute("ROLLBACK")
        except psycopg.Error:
            self.connection.close()

    def between(self) -> None:
        """Nothing: the server has its own upkeep."""

    def ending(self, error: BaseException, committing: bool) -> Ending:
        """What the error did to the transaction."""
        if isinstance(error, StorageFailed):
            return Ending(Fate.FATAL, error)
        state = getattr(error, "sqlstate", None)
        if session.lost(self.connection, error) or state == _READ_ONLY:
            self.connection.close()
            if committing:
                return Ending(Fate.TOLD, unknown_outcome("The database went away during the commit."))
            return Ending(Fate.AGAIN, self._unreachable(error))
        status = self.connection.info.transaction_status
        open_still = status in (TransactionStatus.INTRANS, TransactionStatus.INERROR) and not committing
        alive = Fate.OWN if open_still else Fate.GONE
        if state in _AGAIN:
            busy = Refusal("unavailable", "Others write to the same rows; try again.", retry_after=1)
            return Ending(Fate.AGAIN, busy)
        return Ending(alive, disk_full() if state == _DISK_FULL else error)

    def _unreachable(self, error: BaseException) -> Refusal:
        text = f"The database cannot be reached ({session.told(error, self._url)}); nothing was written. Try again."
        return Refusal("unavailable", text, retry_after=1)

    def _connect(self) -> None:
        """Connects again and takes the lock back; `StorageFailed` when another host was here."""
        connection = session.connect(self._url)
        try:
            if not session.take_lock(connection):
                holder = session.lock_holder(connection)
                if holder not in (None, self._backend):
                    raise self._taken_over()
                if holder is not None:
                    session.end_backend(connection, holder)
                raise psycopg.OperationalError("the lock of the lost connection is still held")
            if session.owner(connection) != self._token:
                raise self._taken_over()
        except BaseException:
            connection.close()
            raise
        self._backend = connection.info.backend_pid
        self._tx.connection = connection

    def _taken_over(self) -> StorageFailed:
        return StorageFailed(
            f"Another host took the database {session.masked(self._url)} over while this one had lost its connection. "
            "This host stops; what was in flight is not acknowledged. Point each home at a database of its own."
        )


class PostgresStore:
    """An open database. Made by `postgres_open.open_postgres`, which has checked schema and lock."""

    def __init__(self, url: str, connection: session.Connection, token: str, clock: Clock | None) -> None:
        self._url = url
        self._clock = clock
        self._idle: queue.LifoQueue[session.Connection] = queue.LifoQueue()
        self._room = threading.BoundedSemaphore(READERS)
        self._writer = _Writer(url, connection, token, clock)
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
        """Runs `work` on a snapshot; once more when a pooled connection turns out to be gone."""
        if self.failure is not None:
            raise self.failure
        for _ in range(READERS):
            with self._reader() as connection:
                try:
                    return self._snapshot(connection, work)
                except psycopg.Error as error:
                    if not session.lost(connection, error):
                        raise
                    connection.close()
        raise Refusal("unavailable", "The database keeps closing its connections; try again.", retry_after=1)

    def _snapshot(self, connection: session.Connection, work: Callable[[Tx], T]) -> T:
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        try:
            return work(PostgresTx(connection, self._clock))
        finally:
            if not connection.closed:
                connection.execute("ROLLBACK")

    @contextlib.contextmanager
    def _reader(self) -> Iterator[session.Connection]:
        """A pooled connection, or a new one while there is room; it goes back unless it was closed."""
        with self._room:
            try:
                connection = self._idle.get_nowait()
            except queue.Empty:
                connection = self._connected()
            try:
                yield connection
            finally:
                if not connection.closed:
                    self._idle.put(connection)

    def _connected(self) -> session.Connection:
        try:
            return session.connect(self._url)
        except psycopg.Error as error:
            text = f"The database cannot be reached ({session.told(error, self._url)}). Try again."
            raise Refusal("unavailable", text, retry_after=1) from error

    def backup(self, path: str) -> None:
        """Writes a consistent copy, as a SQLite database of the same schema, to a new file, mode 0600."""
        with self._reader() as connection:
            self._snapshot(connection, lambda _: copy_out(connection, path))

    def close(self) -> None:
        """Finishes queued writes, then closes every connection and with them the lock."""
        self._group.close()
        self._writer.connection.close()
        with contextlib.suppress(queue.Empty):
            while True:
                self._idle.get_nowait().close()
