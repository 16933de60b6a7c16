"""Group commit: one writer thread that runs queued works in batches, whatever the database.

The writer drains its queue and runs several works in one transaction (a savepoint each, one commit);
concurrency makes it faster. A caller is answered only after the commit that holds its work, or told that it
did not happen, or, where nobody can know, that the outcome is unknown: asking again with the same idempotency
key then gives the right answer.

A database says what an error did to the transaction (`Fate`); what follows from that is decided here, once.
A work may run more than once, and therefore has no effects but those on its transaction.
"""

from __future__ import annotations

import enum
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from standfast.domain.errors import Refusal
from standfast.store.tx import StorageFailed, Tx

T = TypeVar("T")
BATCH_LIMIT: Final = 64
QUEUE_LIMIT: Final = 10_000
PAUSES: Final = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64)
"""Seconds before each further attempt after `Fate.AGAIN`."""


class Fate(enum.Enum):
    """What an error did to the transaction that it met."""

    OWN = "only its work is undone, back to the savepoint"
    GONE = "the transaction is over and nothing of it is stored; each work may run again alone"
    AGAIN = "nothing is stored and the same may well work in a moment"
    TOLD = "everybody of the batch is told the same, and the store goes on"
    FATAL = "the store cannot go on"


class Ending(NamedTuple):
    """What ended a transaction, and the exception for those who are answered with it."""

    fate: Fate
    answer: BaseException


class Database(Protocol):
    """The few steps of a transaction that databases do differently. Called from the writer thread only."""

    @property
    def tx(self) -> Tx:
        """What works are given."""

    def begin(self) -> None:
        """Starts a transaction (and connects again where the connection was lost)."""

    def savepoint(self) -> None:
        """Marks the point to which `back` returns."""

    def release(self) -> None:
        """Forgets the savepoint and keeps what followed it."""

    def back(self) -> None:
        """Undoes what followed the savepoint."""

    def commit(self) -> None:
        """Makes the transaction durable."""

    def reset(self) -> None:
        """Ends whatever is open, without raising."""

    def between(self) -> None:
        """Upkeep after a batch was answered; may raise like the other steps."""

    def ending(self, error: BaseException, committing: bool) -> Ending:
        """What the error means; `committing` when it came out of `commit`."""


class _Job:
    """One queued work, the future that waits for it, and what came of it."""

    __slots__ = ("error", "future", "result", "work")

    def __init__(self, work: Callable[[Tx], Any]) -> None:
        self.work = work
        self.future: Future[Any] = Future()
        self.result: Any = None
        self.error: BaseException | None = None

    def answer(self) -> None:
        """Tells the caller."""
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class GroupCommit:
    """The queue and its writer thread over one database."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._closed = False
        self.failure: StorageFailed | None = None
        self.commits = 0
        self._thread = threading.Thread(target=self._serve, name="standfast-writer", daemon=True)
        self._thread.start()

    def submit(self, work: Callable[[Tx], T]) -> Future[T]:
        """Queues `work`; the future is answered after the commit that holds it."""
        job = _Job(work)
        if self.failure is not None:
            job.future.set_exception(self.failure)
        elif self._closed:
            job.future.set_exception(_going_down())
        elif self._queue.qsize() >= QUEUE_LIMIT:
            busy = Refusal("unavailable", "Too many calls wait for the store; try again.", retry_after=1)
            job.future.set_exception(busy)
        else:
            self._queue.put(job)
        return job.future

    def close(self) -> None:
        """Finishes what is queued and ends the thread."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
            self._thread.join()

    def _serve(self) -> None:
        ending = False
        while not ending:
            job = self._queue.get()
            batch: list[_Job] = []
            while job is not None:
                if job.future.set_running_or_notify_cancel():
                    batch.append(job)
                if len(batch) == BATCH_LIMIT:
                    break
                try:
                    job = self._queue.get_nowait()
                except queue.Empty:
                    break
            ending = job is None
            if batch:
                self._process(batch)
        with suppress(queue.Empty):
            while True:
                job = self._queue.get_nowait()
                if job is not None and job.future.set_running_or_notify_cancel():
                    job.future.set_exception(_going_down())

    def _process(self, batch: list[_Job]) -> None:
        """Runs and answers a batch, each work alone where it must be."""
        if self._settled(batch):
            for job in batch:
                job.answer()
        else:
            for job in batch:
                self._settled([job])
                job.answer()
        if self.failure is None:
            try:
                self._database.between()
            except Exception as error:  # whatever it is, the store says what it means
                self._answered(self._database.ending(error, committing=False), [])

    def _settled(self, batch: list[_Job]) -> bool:
        """Whether every work of the batch has its outcome; False when each must run again alone."""
        ending = self._attempt(batch)
        for pause in PAUSES:
            if ending is None or ending.fate is not Fate.AGAIN:
                break
            time.sleep(pause)
            ending = self._attempt(batch)
        if ending is None:
            return True
        if ending.fate in (Fate.GONE, Fate.OWN) and len(batch) > 1:
            return False
        return self._answered(ending, batch)

    def _answered(self, ending: Ending, batch: list[_Job]) -> bool:
        """Gives all of a batch the same answer; a fatal one is the store's from now on."""
        if ending.fate is Fate.FATAL and self.failure is None:
            answer = ending.answer
            self.failure = answer if isinstance(answer, StorageFailed) else StorageFailed(str(answer))
        for job in batch:
            job.error = ending.answer
        return True

    def _attempt(self, batch: list[_Job]) -> Ending | None:
        """One transaction over the batch: None when it is committed, else what ended it."""
        if self.failure is not None:
            return Ending(Fate.FATAL, self.failure)
        ending = self._transaction(batch)
        if ending is None:
            self.commits += 1
        else:
            self._database.reset()
        return ending

    def _transaction(self, batch: list[_Job]) -> Ending | None:
        database = self._database
        committing = False
        try:
            database.begin()
            for job in batch:
                job.error = None
                database.savepoint()
                ending = self._work(job)
                if ending is not None:
                    return ending
                database.release()
            committing = True
            database.commit()
        except Exception as error:  # whatever it is, the store says what it means
            return database.ending(error, committing)
        return None

    def _work(self, job: _Job) -> Ending | None:
        """Runs one work; what ended the whole transaction, or None."""
        try:
            job.result = job.work(self._database.tx)
        except BaseException as error:  # every fault of a work is its caller's answer
            ending = self._database.ending(error, committing=False)
            if ending.fate is not Fate.OWN:
                return ending
            job.error = ending.answer
            self._database.back()
        return None


def _going_down() -> Refusal:
    return Refusal("unavailable", "The host is going down.")


def unknown_outcome(what: str) -> Refusal:
    """For callers whose commit may or may not have happened, on a store that goes on."""
    return Refusal("unavailable", f"{what} Ask again with the same idempotency key.", retry_after=1)


def disk_full() -> Refusal:
    """For callers whose work found no room; nothing of it is stored."""
    return Refusal("storage_full", "The disk is full; nothing was written. Make room, then try again.")
