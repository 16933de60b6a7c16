"""Random histories, told to the model and to a real host on every store, compared after every step.

The same seed gives the same history. Steps are data, so that a failing history is cut down to the steps that
it needs before it is printed. As a program: `python -m standfast.testing.simulation [SEED]` plays one seed, or
many new ones; `STANDFAST_SIMULATION_URL` adds a PostgreSQL database to the embedded one, in which each history
gets a schema of its own.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from standfast.domain.change import Actor
from standfast.domain.errors import Refusal
from standfast.host.door import Host
from standfast.host.fence import raise_fence
from standfast.store.sqlite_open import open_sqlite
from standfast.store.tx import Store
from standfast.testing.model import BODIES, EXPIRY, TASKS, Model

SESSIONS: Final = 3
STEPS: Final = 120
SEEDS: Final = 200
START: Final = 1_790_000_000_000
OPERATOR: Final = Actor(role="operator", name="operator")
Step = tuple[str, dict[str, Any]]
OpenStore = Callable[[Path, Callable[[], int]], Store]


def history(seed: int, steps: int = STEPS) -> list[Step]:
    """A seeded history. It names plans by how many there are at most, so that every prefix is one, too."""
    chance = random.Random(seed)
    made: list[Step] = []
    for n in range(steps):
        session, plan = chance.randrange(SESSIONS), chance.randrange(1 + n // 6)
        kind = chance.choice(list(BODIES))
        choices: list[tuple[int, Step]] = [
            (8, ("submit", {"session": session, "kind": kind, "text": f"{BODIES[kind]}\nNo. {n // 4}\n"})),
            (8, ("approve", {"plan": plan, "mode": chance.choice(["ask", "ask", "auto", None]), "stale": False})),
            (1, ("approve", {"plan": plan, "mode": "ask", "stale": True})),
            (2, ("reject", {"plan": plan})),
            (1, ("forbidden", {"plan": plan})),
            (2, ("reoffer", {"plan": plan})),
            (16, ("tick", {"session": session, "task": chance.randrange(TASKS)})),
            (2, ("untick", {"session": session, "task": chance.randrange(TASKS)})),
            (3, ("confirm", {"session": session})),
            (4, ("asks", {"session": session})),
            (3, ("turn_starts", {"session": session})),
            (3, ("turn_ends", {"session": session, "reason": chance.choice(["completed", "error", "lost"])})),
            (2, ("passes", {"milliseconds": chance.choice([1, 1_000, EXPIRY // 2, EXPIRY - 1, EXPIRY])})),
            (6, ("todos", {"session": session, "items": _list(chance)})),
            (1, ("restarts", {})),
        ]
        (step,) = chance.choices([step for _, step in choices], [weight for weight, _ in choices])
        made.append(step)
    return made


def _list(chance: random.Random) -> list[tuple[str, str]]:
    """A todo list: some names in some order, each with a status."""
    names = chance.sample("abcd", chance.randrange(5))
    return [(name, chance.choice(["pending", "in_progress", "completed", "completed", "cancelled"])) for name in names]


class Real:
    """A real host, told the same steps. Every call is made twice with one key: the second must change nothing."""

    def __init__(self, open_store: OpenStore, folder: Path) -> None:
        self._open = open_store
        self._folder = folder
        self._now = START
        self._boots, self._keys, self._turns = itertools.count(1), itertools.count(1), itertools.count(1)
        (folder / "project").mkdir(parents=True)
        self._boot()
        self._ids = [self._begin(n) for n in range(SESSIONS)]
        self.plans: list[tuple[str, int, str]] = []

    def _boot(self) -> None:
        self.host = Host(self._open(self._folder, lambda: self._now), boot=f"b{next(self._boots)}", secret=b"s" * 32)
        raise_fence(self.host)

    def _begin(self, n: int) -> str:
        place = str(self._folder / "project")
        payload = {"client": "simulation", "client_session_id": f"s{n}", "workspace": place}
        return str(self.host.call("session.start", payload, Actor(role="agent", name=f"s{n}")).result["session"])

    def _call(self, actor: Actor, operation: str, payload: dict[str, Any]) -> str | None:
        key = f"k{next(self._keys)}"
        try:
            first = self.host.call(operation, payload, actor, key)
        except Refusal as refusal:
            return refusal.code
        again = self.host.call(operation, payload, actor, key)
        assert (again.result, again.replayed) == (first.result, True), f"{operation} was not replayed"
        if operation in ("plan.submit", "plan.reoffer"):
            plan = (first.result["plan"], 1, first.result["sha256"])
            if plan not in self.plans:
                self.plans.append(plan)
        return None

    def _agent(self, session: int, operation: str, **payload: Any) -> str | None:
        name = f"s{session}"
        return self._call(Actor("agent", self._ids[session], name, name), operation, payload)

    def _client(self, session: int, operation: str, **payload: Any) -> str | None:
        return self._call(Actor("coordinator", self._ids[session], "", f"c{session}"), operation, payload)

    def _person(self, operation: str, **payload: Any) -> str | None:
        return self._call(OPERATOR, operation, payload)

    def step(self, name: str, **given: Any) -> str | None:
        """One step; the code of its refusal."""
        code: str | None = getattr(self, name)(**given)
        return code

    def passes(self, milliseconds: int) -> None:
        """Time goes by."""
        self._now += milliseconds

    def restarts(self) -> None:
        """The host ends and another boot begins."""
        self.host.close()
        self._boot()

    def submit(self, session: int, kind: str, text: str) -> str | None:
        """Proposes a plan."""
        return self._agent(session, "plan.submit", title="Plan", question="Go?", markdown=text)

    def _seen(self, plan: int, stale: bool = False) -> dict[str, Any]:
        found, version, sha256 = self.plans[plan]
        return {"plan": found, "version": version + 7 * stale, "sha256": sha256}

    def approve(self, plan: int, mode: str | None, stale: bool) -> str | None:
        """A verdict."""
        return self._person("plan.approve", **self._seen(plan, stale), mode=mode, carry=[])

    def reject(self, plan: int) -> str | None:
        """A verdict."""
        return self._person("plan.reject", plan=self.plans[plan][0])

    def forbidden(self, plan: int) -> str | None:
        """An agent tries to give a verdict."""
        return self._agent(0, "plan.approve", **self._seen(plan), mode="auto")

    def reoffer(self, plan: int) -> str | None:
        """Offers a lapsed plan again."""
        return self._person("plan.reoffer", plan=self.plans[plan][0])

    def tick(self, session: int, task: int) -> str | None:
        """Ticks by title."""
        return self._agent(session, "plan.tick", title=("one", "two", "three")[task])

    def untick(self, session: int, task: int) -> str | None:
        """A person takes a tick back."""
        title = ("one", "two", "three")[task]
        return self._person("plan.untick", title=title, session=self._ids[session])

    def confirm(self, session: int) -> str | None:
        """A person confirms the second task of the tracked plan, where it is a gate."""
        resume = self.host.call("session.get", {"session": self._ids[session]}, OPERATOR).result
        for plan, _, _ in reversed(self.plans):
            card = self.host.call("plan.get", {"plan": plan}, OPERATOR).result
            if card["session"] == resume["session"] and card["tracker"] in ("active", "complete"):
                gate = card["checklist"][1]
                return self._person("plan.confirm", id=gate["id"]) if gate["gate"] else "skipped"
        return "skipped"

    def todos(self, session: int, items: list[tuple[str, str]]) -> str | None:
        """Writes the whole todo list."""
        given = [{"id": name, "content": f"item {name}", "status": status} for name, status in items]
        return self._agent(session, "todo.write", todos=given)

    def _todos(self, session: str) -> tuple[tuple[int, str, str], ...]:
        lists = self.host.call("todo.read", {"session": session}, OPERATOR).result["lists"]
        return tuple((item["number"], item["id"], item["status"]) for each in lists for item in each["items"])

    def asks(self, session: int) -> str | None:
        """The agent asks for its newest plan."""
        return self._agent(session, "plan.status")

    def turn_starts(self, session: int) -> str | None:
        """The client reports a new turn."""
        return self._client(session, "turn.start", turn=f"t{next(self._turns)}")

    def turn_ends(self, session: int, reason: str) -> str | None:
        """The client reports an end."""
        return self._client(session, "turn.end", stop_reason=reason)

    def seen(self) -> list[tuple[Any, ...]]:
        """What a person sees of every plan, and the sessions' modes."""
        found: list[tuple[Any, ...]] = []
        for plan, _, _ in self.plans:
            card = self.host.call("plan.get", {"plan": plan}, OPERATOR).result
            states: tuple[str, ...] = ()
            if card["tracker"] is not None:
                tasks = self.host.call("plan.tasks", {"plan": plan}, OPERATOR).result["tasks"]
                states = tuple(task["state"] for task in tasks)
            found.append((card["status"], card["execution"], card["tracker"], states))
        modes = (self.host.call("session.get", {"session": one}, OPERATOR).result["mode"] for one in self._ids)
        return [*found, tuple(modes), tuple(map(self._todos, self._ids))]


def embedded(folder: Path, clock: Callable[[], int]) -> Store:
    """The embedded store of a folder."""
    return open_sqlite(folder / "standfast.db", clock)


def in_schemas(url: str) -> OpenStore:
    """A store in a PostgreSQL database: one schema for each folder."""
    import psycopg
    from psycopg.conninfo import make_conninfo

    from standfast.store.postgres_open import open_postgres

    def open_store(folder: Path, clock: Callable[[], int]) -> Store:
        name = f"history_{hashlib.sha256(str(folder).encode()).hexdigest()[:16]}"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA IF NOT EXISTS {name}".encode())
        return open_postgres(make_conninfo(url, options=f"-csearch_path={name}"), clock)

    return open_store


@contextmanager
def played(open_store: OpenStore) -> Iterator[Real]:
    """A host in a folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="standfast-simulation-") as folder:
        real = Real(open_store, Path(folder) / "home")
        try:
            yield real
        finally:
            real.host.close()


def difference(steps: Sequence[Step], open_store: OpenStore) -> tuple[int, str] | None:
    """The first step at which the host is not as the model says, with both; None when there is none."""
    model = Model(SESSIONS)
    with played(open_store) as real:
        for n, (name, given) in enumerate(steps):
            if "plan" in given and given["plan"] >= len(model.plans):
                continue
            said = model.step(name, **given), real.step(name, **given)
            if said[0] != said[1]:
                return n, f"the model answers {said[0]}, the host {said[1]}"
            seen = model.seen(), real.seen()
            if seen[0] != seen[1]:
                return n, f"the model has {seen[0]}, the host {seen[1]}"
        audit = real.host.call("audit.verify", {}, OPERATOR).result
        return None if audit["ok"] else (len(steps), f"the audit found {audit['findings']}")


def shortest(steps: Sequence[Step], open_store: OpenStore) -> list[Step]:
    """A failing history without the steps that it does not need."""
    kept = list(steps)
    for n in reversed(range(len(kept))):
        fewer = [*kept[:n], *kept[n + 1 :]]
        if difference(fewer, open_store) is not None:
            kept = fewer
    return kept


def play(seed: int, open_store: OpenStore = embedded, steps: int = STEPS) -> str | None:
    """Plays a seed; None, or what went wrong and the shortest history that shows it."""
    told = history(seed, steps)
    found = difference(told, open_store)
    if found is None:
        return None
    needed = shortest(told[: found[0] + 1], open_store)
    last = difference(needed, open_store)
    lines = [f"seed {seed}, step {found[0]}: {last[1] if last else found[1]}", *(f"  {step}" for step in needed)]
    return "\n".join(lines)


def main() -> int:
    """Plays one seed or many; 1 when a history went wrong."""
    seeds = [int(word) for word in sys.argv[1:]] or random.sample(range(10**9), SEEDS)
    stores: list[OpenStore] = [embedded]
    url = os.environ.get("STANDFAST_SIMULATION_URL")
    if url:
        stores.append(in_schemas(url))
    failures = 0
    for n, seed in enumerate(seeds, 1):
        for open_store in stores:
            wrong = play(seed, open_store)
            failures += wrong is not None
            if wrong:
                print(wrong, flush=True)
        if n % 20 == 0 or n == len(seeds):
            print(f"{n} of {len(seeds)} histories of {STEPS} steps, {failures} went wrong", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
