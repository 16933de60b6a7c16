"""A real host over its socket: durable writes against a trivial POST, memory with many sessions, many event readers.

The load comes from one process that speaks HTTP by hand over kept-alive connections, the same for the write and
for its floor. What it costs is in both figures, so the ratio understates nothing on the host's side.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.report import Row
from tests.support.hosts import Running, running_host

CONNECTIONS = 16
ROUNDS = 5
TICKS = 40
SESSIONS = 1_000
TASKS = 100
READERS = 200
EVENTS_PER_SECOND = 500
SECONDS = 6
NUMBERS = itertools.count()
TIMED = re.compile(rb'"at":(\d+)')


@dataclass
class Connection:
    """One kept-alive connection to a host."""

    host: Running
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @staticmethod
    async def opened(host: Running) -> Connection:
        """A fresh one over the host's socket."""
        return Connection(host, *await asyncio.open_unix_connection(str(host.home / "host.sock"), limit=2**24))

    async def post(self, path: str, body: object, token: str, **headers: str) -> bytes:
        """One POST that must succeed; the answer's body."""
        data = json.dumps(body).encode()
        lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {token}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        lines += [f"Content-Length: {len(data)}", "", ""]
        self.writer.write("\r\n".join(lines).encode() + data)
        head = await self.reader.readuntil(b"\r\n\r\n")
        answer = await self.reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split()[0]))
        if b" 200 " not in head.partition(b"\r\n")[0]:
            raise RuntimeError(answer.decode())
        return answer


class Agent:
    """An agent with an approved plan, on a connection of its own."""

    def __init__(self, connection: Connection, name: str) -> None:
        self._connection, self._name = connection, name
        self._tokens = {role: connection.host.token(role) for role in ("agent", "operator")}
        self._session = ""
        self._ticked = 0

    async def op(self, operation: str, payload: object, role: str = "agent", **headers: str) -> dict[str, object]:
        """One operation of this agent or of the person; its result."""
        if self._session and role == "agent":
            headers["Standfast_Session"] = self._session
        answer = await self._connection.post(f"/v1/op/{operation}", payload, self._tokens[role], **headers)
        result: dict[str, object] = json.loads(answer)["result"]
        return result

    async def begin(self, workspace: Path, tasks: int) -> Agent:
        """With a session and an approved plan of so many tasks."""
        wish = {"client": "bench", "client_session_id": self._name, "workspace": str(workspace)}
        self._session = str((await self.op("session.start", wish))["token"])
        steps = "## Steps\n\n" + "".join(f"- [ ] task {n}\n" for n in range(tasks))
        plan = await self.op("plan.submit", {"title": "Plan", "question": "Go?", "markdown": steps})
        seen = {name: plan[name] for name in ("plan", "version", "sha256")}
        await self.op("plan.approve", {**seen, "mode": "ask"}, "operator")
        await self.op("plan.status", {})
        return self

    async def tick(self) -> None:
        """The next tick, with a key as real clients send one."""
        title, key = f"task {self._ticked}", f"{self._name}-{self._ticked}"
        self._ticked += 1
        await self.op("plan.tick", {"title": title}, Idempotency_Key=key)

    async def ticks(self, count: int) -> None:
        """Some of them, one after the other."""
        for _ in range(count):
            await self.tick()

    async def trivial(self, count: int) -> None:
        """As many POSTs of the same size that write nothing."""
        for n in range(count):
            headers = {"Standfast_Session": self._session, "Idempotency_Key": f"{self._name}-{n}"}
            await self._connection.post("/trivial", {"title": f"task {n}"}, self._tokens["agent"], **headers)


@asynccontextmanager
async def agents(host: Running, folder: Path, count: int, tasks: int) -> AsyncIterator[list[Agent]]:
    """Agents at work, each on its own connection."""
    connections = [await Connection.opened(host) for _ in range(count)]
    found = [Agent(connection, f"agent{next(NUMBERS)}") for connection in connections]
    for agent in found:
        await agent.begin(folder, tasks)
    yield found
    for connection in connections:
        connection.writer.close()


async def seconds(work: Sequence[object]) -> float:
    """How long all of it takes side by side."""
    begun = time.perf_counter()
    await asyncio.gather(*work)  # type: ignore[call-overload]
    return time.perf_counter() - begun


async def writes(host: Running, folder: Path) -> Row:
    """Durable ticks per second against trivial POSTs per second, alternating."""
    async with agents(host, folder, CONNECTIONS, TICKS * (ROUNDS + 1)) as desks:
        ratios = []
        for _ in range(ROUNDS + 1):
            floor = await seconds([desk.trivial(TICKS) for desk in desks])
            ratios.append(floor / await seconds([desk.ticks(TICKS) for desk in desks]))
    against = f"the same server's trivial POST, {CONNECTIONS} connections"
    return Row("HTTP: durable writes", median(ratios[1:]), "×", against, 0.3, at_least=True)


def resident(host: Running) -> float:
    """A host's resident memory in MB."""
    status = Path(f"/proc/{host.process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1000


async def sessions(host: Running, folder: Path) -> Row:
    """What a host's memory grows by with many sessions, each with a plan in execution."""
    async with agents(host, folder, 1, 10):
        before = resident(host)
    connection = await Connection.opened(host)
    for n in range(SESSIONS):
        await Agent(connection, f"many{n}").begin(folder, TASKS)
    connection.writer.close()
    what = f"memory with {SESSIONS:,} sessions, {SESSIONS * TASKS:,} tasks"
    return Row(what, resident(host) - before, "MB", "more than the same host empty", 60)


class Listener(asyncio.Protocol):
    """A reader of all events; notes how old the oldest event of each arrival is, in ms."""

    def __init__(self) -> None:
        self.ages: list[float] = []

    def data_received(self, data: bytes) -> None:
        """An arrival holds one event or several in order."""
        if found := TIMED.search(data):
            self.ages.append(time.time() * 1000 - int(found.group(1)))


async def listening(host: Running, count: int) -> list[tuple[asyncio.Transport, Listener]]:
    """Readers that stand at the end of the journal."""
    after = 0
    while (page := host.done("events.list", {"after": after, "limit": 500}))["events"]:
        after = page["last"]
    loop = asyncio.get_running_loop()
    head = f"GET /v1/events?after={after} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {host.token('operator')}"
    found = []
    for _ in range(count):
        transport, listener = await loop.create_unix_connection(Listener, str(host.home / "host.sock"))
        transport.write(f"{head}\r\n\r\n".encode())
        found.append((transport, listener))
    return found


async def paced(desks: Sequence[Agent]) -> float:
    """Ticks at the rate of the goal, or as near as the host comes; how many per second were done."""
    begun, wanted = time.perf_counter(), EVENTS_PER_SECOND * SECONDS

    async def part(desk: Agent, first: int) -> None:
        for n in range(first, wanted, len(desks)):
            await asyncio.sleep(max(0.0, begun + n / EVENTS_PER_SECOND - time.perf_counter()))
            await desk.tick()

    await asyncio.gather(*(part(desk, at) for at, desk in enumerate(desks)))
    return wanted / (time.perf_counter() - begun)


async def events(host: Running, folder: Path) -> list[Row]:
    """How late events are at one reader and at the slowest of many."""
    found = []
    for count in (1, READERS):
        async with agents(host, folder, CONNECTIONS, EVENTS_PER_SECOND * SECONDS // CONNECTIONS + 1) as desks:
            readers = await listening(host, count)
            rate = await paced(desks)
            await asyncio.sleep(0.5)
            for transport, _ in readers:
                transport.close()
        ages = sorted(age for _, listener in readers for age in listener.ages)
        goal = 250 if count == READERS else None
        against = f"at {rate:.0f} events/s, {count} readers"
        found.append(Row(f"event until its reader, {count} readers: slowest", ages[-1], "ms", against, goal))
        found.append(Row(f"the same, 99 of 100, {count} readers", ages[len(ages) * 99 // 100], "ms", against))
    return found


def rows() -> list[Row]:
    """Each part over a host of its own."""
    found: list[Row] = []
    for part in (writes, sessions, events):
        with tempfile.TemporaryDirectory(prefix="standfast-bench-") as folder:
            home, workspace = Path(folder, "home"), Path(folder, "workspace")
            workspace.mkdir()
            program = [sys.executable, "-m", "bench.host", str(home)]
            with running_host(home, program=program) as host:
                new = asyncio.run(part(host, workspace))
                found += new if isinstance(new, list) else [new]
    return found
