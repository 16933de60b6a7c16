"""The story that every client is led through, and what was seen in it.

Plan mode and a write that must not happen; a submission; a person's yes; the execution and a tick by title; the
client's own compaction; the client and the host killed in the middle of a turn, and taken up again; compacted once
more. What was seen is kept as facts; what they mean is said in `promises`.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace

from tests.clients.bench import Bench
from tests.clients.drivers.base import Driver
from tests.clients.model.script import SUMMARY, Asked, Say, call

PLAN = "# Plan\n\n## Steps\n\n- [ ] Copy the table\n- [ ] Switch the readers\n- [ ] Drop the old table\n- [ ] Tell\n"
INSTRUCTION = "was approved by a person. Execute it now."
VIEW = "[standfast] Context restored by Standfast"


@dataclass(frozen=True)
class Look:
    """What the model was asked first in one run, beside what Standfast would have it know."""

    asked: Asked
    view: str

    @property
    def views(self) -> int:
        """How often the newest resume view stands in the request."""
        return self.asked.count(self.view)


@dataclass
class Seen:
    """The facts of one story."""

    client: str
    tools: frozenset[str] = frozenset()
    refused: str = ""
    written: bool = False
    status: str = ""
    attended: bool = True
    sessions: list[str] = field(default_factory=list)
    prompts: list[Asked] = field(default_factory=list)
    approved: Asked | None = None
    compacted: list[Look] = field(default_factory=list)
    resumed: list[Look] = field(default_factory=list)
    summaries: int = 0
    done: list[int] = field(default_factory=list)
    execution: list[str | None] = field(default_factory=list)
    audit: bool = False


def told(bench: Bench, driver: Driver) -> Seen:
    """Leads a client through the story."""
    story = Story(bench, driver)
    story.plan()
    story.execute()
    story.compact("Switch the readers")
    story.crash()
    story.compact("Drop the old table")
    story.seen.prompts = [replace(asked, system=driver.system(asked)) for asked in bench.script.turns()]
    return story.seen


class Story:
    """A client on its way."""

    def __init__(self, bench: Bench, driver: Driver) -> None:
        self.bench, self.driver = bench, driver
        self.seen = Seen(driver.word)
        self._plan = ""
        self._session = ""

    def _own(self, tool: str, **arguments: str) -> Say:
        return call(f"{self.driver.own}{tool}", **arguments)

    def plan(self) -> None:
        """The agent plans, tries to write all the same, and submits."""
        file = self.bench.project / "early.txt"
        first = self.bench.play(
            self._own("plan_enter"),
            call(self.driver.write, **self.driver.writes(file)),
            self._own("plan_submit", title="Move the table", question="Go?", markdown=PLAN),
            Say("It waits for you."),
        )
        self.driver.prompt("Please plan the move.")
        self.seen.refused = self.bench.asked(first + 2).newest
        self.seen.written = file.exists()
        self.seen.tools = frozenset(tool.name for asked in self.bench.script.turns() for tool in asked.tools)
        [plan] = self.bench.plans()
        self.seen.status, self._plan, self._session = plan["status"], plan["plan"], plan["session"]
        sessions = self.bench.host.done("session.list", {})["sessions"]
        self.seen.sessions = [each["client"] for each in sessions]
        self.seen.attended = next(each["attended"] for each in sessions if each["session"] == self._session)

    def execute(self) -> None:
        """A person approves; the agent starts and ticks."""
        self.bench.approve()
        first = self.bench.play(self._own("plan_tick", title="Copy the table"), Say("Copied."))
        self.driver.prompt("Go on.")
        self.seen.approved = self.bench.asked(first)
        self._note()

    def compact(self, title: str) -> None:
        """The client compacts its context; the agent ticks what the view names as next."""
        self.driver.compact()
        first = self.bench.play(self._own("plan_tick", title=title), Say("Done with it."))
        view = self.bench.view(self._session)
        self.driver.prompt("Continue.")
        look = Look(self.bench.asked(first), view)
        self.seen.compacted.append(look)
        self.seen.summaries += look.asked.count(SUMMARY) > 0
        self._note()

    def crash(self) -> None:
        """Client and host die in the middle of a turn, and come back."""
        hold = threading.Event()
        self.bench.play(Say("Too late.", hold=hold))
        self.driver.killed("Work on.")
        hold.set()
        self._look()
        self.bench.kill_host()
        self.bench.raise_host()
        self._look()

    def _look(self) -> None:
        """The client is taken up again."""
        view = self.bench.view(self._session)
        first = self.bench.play(Say("Here I am."))
        self.driver.prompt("Where are we?")
        self.seen.resumed.append(Look(self.bench.asked(first), view))

    def _note(self) -> None:
        tasks = self.bench.host.done("plan.tasks", {"plan": self._plan})
        self.seen.done.append(tasks["done"])
        [plan] = self.bench.plans()
        self.seen.execution.append(plan["execution"])
        self.seen.audit = self.bench.host.done("audit.verify", {})["ok"]
