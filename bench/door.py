"""The door in process: a tick against a bare commit of as many bytes, one caller and sixteen, both stores.

Every tick carries an idempotency key, as those of real clients do. The bare commit writes rows of the same
number and size, durably (WAL, FULL), on the same disk, in rounds that alternate with the door's.
"""

from __future__ import annotations

import itertools
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from bench.report import Row
from standfast.config import system_clock
from standfast.domain.change import Actor
from standfast.host.door import Host
from standfast.host.fence import raise_fence
from standfast.host.operation import Answer
from standfast.store.postgres_open import open_postgres
from standfast.store.sqlite import connect
from standfast.store.sqlite_open import open_sqlite
from standfast.store.tx import Store
from tests.support.postgres import NoPostgres, Reservation, started

OPERATOR = Actor(role="operator", name="operator")
CALLERS = 16
OPERATIONS = 400
ROUNDS = 5
WAITS = 40
KEYS = itertools.count()


@contextmanager
def host_over(store: Store) -> Iterator[Host]:
    """A host over a store, closed afterwards."""
    host = Host(store, boot="bench", secret=b"s" * 32)
    raise_fence(host)
    try:
        yield host
    finally:
        host.close()


@contextmanager
def embedded_host(hook: Callable[[str], None] | None = None) -> Iterator[tuple[Host, Path]]:
    """A host over a fresh embedded store, and its folder."""
    with (
        tempfile.TemporaryDirectory(prefix="standfast-bench-") as folder,
        host_over(open_sqlite(Path(folder) / "standfast.db", system_clock, hook=hook)) as host,
    ):
        yield host, Path(folder)


class Desk:
    """An agent at work on an approved plan."""

    def __init__(self, host: Host, name: str, workspace: Path, tasks: int = 10) -> None:
        self._host, self.tasks = host, tasks
        self.agent = Actor(role="agent", name=name)
        begun = {"client": "bench", "client_session_id": name, "workspace": str(workspace)}
        self.session = str(host.call("session.start", begun, self.agent).result["session"])
        self.agent = Actor("agent", self.session, name, name)
        self.approve(self.submit("## Steps\n\n" + "".join(f"- [ ] task {n}\n" for n in range(tasks))))
        host.call("plan.status", {}, self.agent)

    def submit(self, markdown: str) -> dict[str, object]:
        """A proposal."""
        wish = {"title": "Plan", "question": "Go?", "markdown": markdown}
        return dict(self._host.call("plan.submit", wish, self.agent).result)

    def approve(self, plan: dict[str, object]) -> None:
        """A person's yes."""
        seen = {name: plan[name] for name in ("plan", "version", "sha256")}
        self._host.call("plan.approve", {**seen, "mode": "ask"}, OPERATOR)

    def tick(self, n: int) -> None:
        """A tick, or its taking back, by turns."""
        self.submit_tick(n).result()

    def submit_tick(self, n: int) -> Future[Answer]:
        """The same without waiting."""
        title, back = f"task {n % self.tasks}", n // self.tasks % 2 == 1
        payload = {"title": title, "session": self.session} if back else {"title": title}
        operation, actor = ("plan.untick", OPERATOR) if back else ("plan.tick", self.agent)
        return self._host.submit(operation, payload, actor, f"bench-{next(KEYS)}")


def written(count: int) -> list[int]:
    """The sizes in bytes of the rows that `count` ticks write, of all but the reads, in the order of writing."""
    statements: list[str] = []
    with embedded_host(statements.append) as (host, folder):
        desk = Desk(host, "sizes", folder)
        statements.clear()
        for n in range(count):
            desk.tick(n)
        return [len(sql.encode()) for sql in statements if sql.split()[0] in ("INSERT", "UPDATE", "DELETE")]


def bare(path: Path, sizes: Sequence[int], operations: int) -> float:
    """Seconds per bare commit of as many rows as a tick writes."""
    each = len(sizes) // operations
    connection = connect(path)
    try:
        connection.execute("CREATE TABLE IF NOT EXISTS bare (id INTEGER PRIMARY KEY, body TEXT)")
        return _commits(connection, sizes, operations, each)
    finally:
        connection.close()


def _commits(connection: sqlite3.Connection, sizes: Sequence[int], operations: int, each: int) -> float:
    begun = time.perf_counter()
    for n in range(operations):
        connection.execute("BEGIN IMMEDIATE")
        for size in sizes[n * each : (n + 1) * each]:
            connection.execute("INSERT INTO bare (body) VALUES (?)", ("x" * size,))
        connection.execute("COMMIT")
    return (time.perf_counter() - begun) / operations


def one_caller(desk: Desk, operations: int) -> float:
    """Seconds per tick."""
    begun = time.perf_counter()
    for n in range(operations):
        desk.tick(n)
    return (time.perf_counter() - begun) / operations


def many_callers(desks: Sequence[Desk], seconds: float) -> list[int]:
    """How many ticks each of the callers got done while all of them called for `seconds`."""
    done = [0] * len(desks)
    start = threading.Barrier(len(desks))

    def work(at: int) -> None:
        start.wait()
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            desks[at].tick(done[at])
            done[at] += 1

    threads = [threading.Thread(target=work, args=(at,)) for at in range(len(desks))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return done


def wake(host: Host, desk: Desk) -> float:
    """Seconds from a verdict's answer to the answer of a call that waited for it."""
    plan = desk.submit(f"- [ ] task {next(KEYS)}\n")
    returned: list[float] = []

    def wait() -> None:
        host.call("plan.status", {"wait_seconds": 30}, desk.agent)
        returned.append(time.perf_counter())

    waiting = threading.Thread(target=wait)
    waiting.start()
    desk.approve(plan)
    decided = time.perf_counter()
    waiting.join()
    return max(0.0, returned[0] - decided)


def load(host: Host, folder: Path, name: str, alone: float) -> list[Row]:
    """Sixteen callers on a host."""
    desks = [Desk(host, f"{name}{n}", folder) for n in range(CALLERS)]
    many_callers(desks, 0.3)
    before = host.store.commits
    seconds = 3.0
    done = many_callers(desks, seconds)
    commits = host.store.commits - before
    return [
        Row(f"{name}: operations per commit, 16 callers", sum(done) / commits, "", "a count", 6, at_least=True),
        Row(f"{name}: most by fewest per caller", max(done) / min(done), "×", "of 16 callers, 3 s", 1.2),
        Row(f"{name}: throughput of 16 callers", sum(done) / seconds * alone, "×", "one caller", 2, at_least=True),
    ]


def embedded() -> list[Row]:
    """The rows of the embedded store."""
    sizes = written(OPERATIONS)
    with embedded_host() as (host, folder):
        desk = Desk(host, "alone", folder)
        one_caller(desk, 100)
        floor, ours = [], []
        for _ in range(ROUNDS):
            floor.append(bare(folder / "bare.db", sizes, OPERATIONS))
            ours.append(one_caller(desk, OPERATIONS))
        against = f"bare commit of {len(sizes) / OPERATIONS:.0f} rows of the same size"
        alone = median(ours)
        return [
            Row("sqlite: ticks, one caller", median(floor) / alone, "×", against, 0.4, at_least=True),
            Row("sqlite: a tick", alone * 1e3, "ms"),
            *load(host, folder, "sqlite", alone),
            Row("sqlite: verdict to waiting call", median(wake(host, desk) for _ in range(WAITS)) * 1e3, "ms", "", 50),
        ]


def postgres() -> list[Row]:
    """The rows of PostgreSQL; none where there is no server, which the table then says."""
    try:
        with Reservation.make(fsync=True) as reservation, tempfile.TemporaryDirectory() as folder:
            server = started(reservation.folder, fsync=True)
            with server.database("bench") as url, host_over(open_postgres(url, system_clock)) as host:
                desk = Desk(host, "alone", Path(folder))
                alone = min(one_caller(desk, OPERATIONS) for _ in range(ROUNDS))
                waits = [wake(host, desk) for _ in range(WAITS)]
                return [
                    Row("postgresql: a tick", alone * 1e3, "ms"),
                    *load(host, Path(folder), "postgresql", alone),
                    Row("postgresql: verdict to waiting call", median(waits) * 1e3, "ms", "", 50),
                ]
    except NoPostgres as reason:
        return [Row("postgresql", None, "", f"left out: {reason}")]


def rows() -> list[Row]:
    """Both stores."""
    return [*embedded(), *postgres()]
