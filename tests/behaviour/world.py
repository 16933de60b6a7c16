"""A host with a clock, the people and agents around it, and its restarts; told in the words of the tests."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from standfast.host.artifacts import Artifacts
from standfast.host.door import Host
from standfast.host.fence import raise_fence
from standfast.host.gates import GateFiles
from standfast.store.tx import Store
from tests.behaviour.doors import CLIENT, SECRET, Caller, Door, Http, InProcess, Mcp, Said, served

START = 1_790_000_000_000
MINUTE = 60_000
THREE = "# Plan\n\n## Steps\n\n- [ ] one\n- [ ] two\n- [ ] three\n"
FIVE = "## Steps\n\n- [ ] one\n- [ ] two\n- [ ] three\n- [ ] four\n- [ ] five\n"


class Clock:
    """Milliseconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now

    def passes(self, milliseconds: int) -> None:
        """Time goes by."""
        self.now += milliseconds


class World:
    """A home, its host, and everybody who speaks to it."""

    def __init__(self, open_store: Callable[[Clock], Store], door: str, folder: Path) -> None:
        self.clock = Clock()
        self.folder = folder
        self.door_name = door
        self.artifacts: Artifacts | None = None
        self._open_store = open_store
        self._boots = itertools.count(1)
        self._names = itertools.count(1)
        self._up = ExitStack()
        self.person = Person(self)
        self.start()

    def start(self) -> None:
        """A boot: the store, the fence, then the door."""
        store = self._open_store(self.clock)
        self.host = Host(
            store,
            boot=f"boot{next(self._boots)}",
            secret=SECRET,
            gates=GateFiles(self.folder / "gate"),
            artifacts=self.artifacts,
        )
        self._up.callback(self.host.close)
        raise_fence(self.host)
        self.door: Door = InProcess(self.host)
        if self.door_name != "in process":
            path = self._up.enter_context(served(self.host, self.folder))
            self.door = Http(path) if self.door_name == "http" else Mcp(path)

    def stop(self) -> None:
        """The host ends."""
        self._up.close()

    def restart(self) -> None:
        """The host ends and another boot begins."""
        self.stop()
        self.start()

    def call(self, caller: Caller, operation: str, payload: Mapping[str, Any], request: str | None = None) -> Said:
        """One call through the door; `request` is its idempotency key."""
        return self.door.call(caller, operation, payload, request)

    def agent(self, workspace: str = "project", name: str | None = None, **more: Any) -> Agent:
        """An agent with a session of its own."""
        place = self.folder / workspace
        place.mkdir(exist_ok=True)
        return Agent(self, name or f"agent{next(self._names)}", place, more)

    def events(self, *kinds: str) -> list[dict[str, Any]]:
        """The journal, or the events of these kinds."""
        found: list[dict[str, Any]] = []
        while True:
            after = found[-1]["seq"] if found else 0
            page = self.person.done("events.list", after=after)["events"]
            if not page:
                return [event for event in found if not kinds or event["kind"] in kinds]
            found += page

    def sound(self) -> None:
        """The journal and the tables agree."""
        assert self.person.done("audit.verify")["ok"], self.person.done("audit.verify")


class Person:
    """The operator."""

    def __init__(self, world: World) -> None:
        self._world = world

    def do(self, operation: str, request: str | None = None, **payload: Any) -> Said:
        """A call, refused or not."""
        return self._world.call(Caller("operator"), operation, payload, request)

    def done(self, operation: str, **payload: Any) -> Mapping[str, Any]:
        """The result of a call that is not refused."""
        return self.do(operation, **payload).ok().result

    def card(self, plan: str = "P-1") -> Mapping[str, Any]:
        """A plan's card."""
        return self.done("plan.get", plan=plan)

    def seen(self, plan: str = "P-1") -> dict[str, Any]:
        """What a verdict names of what the person saw."""
        card = self.card(plan)
        return {"plan": plan, "version": card["version"], "sha256": card["sha256"]}

    def approve(self, plan: str = "P-1", mode: str | None = "ask", request: str | None = None, **more: Any) -> Said:
        """A verdict over what the card shows now."""
        return self.do("plan.approve", request, **self.seen(plan), mode=mode, **more)

    def reject(self, plan: str = "P-1", **more: Any) -> Said:
        """A verdict."""
        return self.do("plan.reject", plan=plan, **more)

    def status(self, plan: str = "P-1") -> str:
        """A plan's status."""
        return str(self.card(plan)["status"])

    def tasks(self, plan: str = "P-1", **more: Any) -> Mapping[str, Any]:
        """A plan's tasks as the tracker has them."""
        return self.done("plan.tasks", plan=plan, **more)

    def states(self, plan: str = "P-1", **more: Any) -> list[str]:
        """The state of each task."""
        return [task["state"] for task in self.tasks(plan, **more)["tasks"]]

    def ticks(self, plan: str = "P-1", **more: Any) -> list[Mapping[str, Any]]:
        """What was recorded."""
        return list(self.done("plan.ticks", plan=plan, **more)["ticks"])


class Agent:
    """An agent's connection and its session."""

    def __init__(self, world: World, name: str, workspace: Path, more: Mapping[str, Any]) -> None:
        self.world = world
        self.name = name
        self.workspace = workspace
        self._more = dict(more)
        place: dict[str, Any] = {"workspace": str(workspace)} | self._more
        self.started = self._begin(place).ok().result
        self.id = str(self.started["session"])
        if world.door_name == "mcp":
            self.do("plan.tasks")  # binds the connection before anything that a reconnection could disturb

    def _begin(self, place: Mapping[str, Any]) -> Said:
        facts = {"client": CLIENT, "client_session_id": self.name, **place}
        return self.world.call(Caller("agent", name=self.name), "session.start", facts)

    def starts(self, source: str = "startup", **more: Any) -> Said:
        """The client starts again with the same session."""
        return self._begin({"workspace": str(self.workspace), "source": source, **self._more, **more})

    def do(self, operation: str, request: str | None = None, **payload: Any) -> Said:
        """A call, refused or not."""
        caller = Caller("agent", self.id, self.name, str(self.workspace))
        return self.world.call(caller, operation, payload, request)

    def reports(self, operation: str, **payload: Any) -> Said:
        """A call of the coordinator of this session: the program around the model."""
        return self.world.call(Caller("coordinator", self.id, f"{self.name}-client"), operation, payload)

    def submit(self, markdown: str = THREE, title: str = "Plan", question: str = "Go?", **more: Any) -> Said:
        """Proposes a plan."""
        payload = {"title": title, "question": question, **more}
        if "path" not in more:
            payload["markdown"] = markdown
        return self.do("plan.submit", **payload)

    def tick(self, title: str | None = None, **more: Any) -> Said:
        """Ticks by title, or by what is named."""
        return self.do("plan.tick", **({"title": title} if title is not None else {}), **more)

    def begin(self, title: str) -> Said:
        """Announces a task."""
        return self.do("plan.begin", title=title)

    def works(self, markdown: str = THREE, mode: str = "ask", **more: Any) -> Agent:
        """Submits, is approved, and takes its instruction; this agent."""
        said = self.submit(markdown, **more).ok()
        plan = said.text.split()[0]
        self.world.person.approve(plan, mode).ok()
        self.do("plan.status").ok()
        return self

    def session(self) -> Mapping[str, Any]:
        """The session as the person sees it."""
        return self.world.person.done("session.get", session=self.id)

    def resume(self) -> str:
        """The resume view."""
        return self.do("context.resume").ok().text

    def files(self) -> list[Path]:
        """The artifacts in the workspace, oldest name first."""
        return sorted((self.workspace / ".standfast" / "plan").glob("*.md"))


def digest(data: bytes) -> str:
    """Hex SHA-256."""
    return hashlib.sha256(data).hexdigest()
