"""What grows with the work and what must not: a tick with the plan, the resume view and the disk with the history."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from statistics import median

from bench.door import KEYS, Desk, embedded_host, one_caller
from bench.report import Row
from standfast.domain.change import Actor
from standfast.host.door import Host
from standfast.host.operation import Answer

ROUNDS = 7
EVENTS = 100_000
FEW = 100
TURNS = 400
STATE_BYTES = 400_000


def ratio(more: Callable[[], object], less: Callable[[], object], count: int) -> float:
    """The median over alternating rounds of the time of `more` by that of `less`."""
    return median(seconds(more, count) / seconds(less, count) for _ in range(ROUNDS))


def seconds(action: Callable[[], object], count: int) -> float:
    """How long `count` times take."""
    begun = time.perf_counter()
    for _ in range(count):
        action()
    return time.perf_counter() - begun


def plans(host: Host, folder: Path) -> Row:
    """A tick of a plan of a thousand tasks against one of ten."""
    few, many = Desk(host, "few", folder), Desk(host, "many", folder, tasks=1_000)
    found = ratio(lambda: one_caller(many, 200), lambda: one_caller(few, 200), 1)
    return Row("a tick of a plan of 1,000 tasks", found, "×", "of 10 tasks")


def history(host: Host, folder: Path) -> Row:
    """The resume view of a session with a long history against a short one."""
    few, many = Desk(host, "short", folder), Desk(host, "long", folder)
    for n in range(FEW):
        few.tick(n)
    queued: list[Future[Answer]] = []
    for n in range(EVENTS):
        queued.append(many.submit_tick(n))
        if len(queued) == 1_000:
            for each in queued:
                each.result()
            queued.clear()
    found = ratio(
        lambda: host.call("context.resume", {}, many.agent), lambda: host.call("context.resume", {}, few.agent), 100
    )
    return Row(f"resume view after {EVENTS:,} events", found, "×", f"after {FEW}", 1.2)


def disk() -> Row:
    """The database after many turns over a large plan, its log included."""
    with embedded_host() as (host, folder):
        desk = Desk(host, "disk", folder)
        client = Actor("coordinator", desk.session, "", "bench")
        line = "- [ ] {} " + "Explain the step in enough words that a plan of this size is one. " * 12 + "\n"
        for part in range(2):
            tasks = "".join(line.format(f"{part} {n}") for n in range(STATE_BYTES // len(line)))
            desk.approve(desk.submit(tasks))
        for n in range(TURNS):
            host.call("turn.start", {"turn": f"t{n}"}, client, f"bench-{next(KEYS)}")
            host.call("turn.end", {"stop_reason": "completed"}, client, f"bench-{next(KEYS)}")
        host.close()
        size = sum(path.stat().st_size for path in folder.glob("standfast.db*"))
    return Row(f"disk after {TURNS} turns, plans of 0.8 MB", size / 1e6, "MB", "", 4)


def rows() -> list[Row]:
    """All of them."""
    with embedded_host() as (host, folder):
        found = [plans(host, folder), history(host, folder)]
    return [*found, disk()]
