"""`standfast demo`: the main job on the real parts, in words that a newcomer understands.

A real host with SQLite in a temporary home, a scripted agent that speaks MCP through the real pipe, a plan,
a person's verdict (asked on a terminal, else given by the script and said so), begins and ticks, a
compaction, `kill -9`, the rest of the ticks, an older plan that must not come back, the audit. Every promise
is checked; the status is not zero when one does not hold.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import sys
import tempfile
from argparse import Namespace
from importlib import resources
from pathlib import Path
from typing import Any

from standfast.cli.demo_agent import DemoAgent, ToolError
from standfast.cli.hosting import stop
from standfast.cli.show import card, table
from standfast.client.call import Connection
from standfast.client.start import answers, ensure_host

OLD_PLAN = "# The first idea\n\n## Steps\n\n- [ ] Rename the tables in place\n- [ ] Hope for the best\n"
EXAMPLE_TITLE = "Move the billing tables to their own schema"


def demo(arguments: Namespace) -> int:
    """Plays the main job; 0 when everything survived."""
    if arguments.plan:
        markdown = Path(arguments.plan).read_bytes().decode("utf-8")
        title = Path(arguments.plan).stem
    else:
        markdown = (resources.files("standfast.cli") / "example_plan.md").read_text(encoding="utf-8")
        title = EXAMPLE_TITLE
    place = Path(tempfile.mkdtemp(prefix="sf-"))
    play = Play(place, title, markdown)
    try:
        return play.run()
    finally:
        play.end()
        shutil.rmtree(place, ignore_errors=True)


class Play:
    """One run of the demonstration in one temporary folder."""

    def __init__(self, place: Path, title: str, markdown: str) -> None:
        self.home = place / "home"
        self.workspace = place / "project"
        self.workspace.mkdir()
        self.title = title
        self.markdown = markdown
        self.person = Connection(str(self.home))
        self.agent: DemoAgent | None = None
        self.survived: list[tuple[str, bool]] = []

    def run(self) -> int:
        """All scenes in order."""
        _scene("1", "A host starts in an empty home; it keeps everything in one SQLite file.")
        ensure_host(str(self.home))
        print(f"   host pid {self._pid()}, home {self.home}")
        self.agent = DemoAgent(self.home, self.workspace)
        self._older_plan(self.agent)
        plan = self._propose(self.agent)
        if not self._verdict(plan):
            print("\nRejected: the agent was told so and does nothing. That is the whole demonstration then.")
            return 0
        self._work(self.agent, plan)
        self._check(plan)
        return self._table()

    def _older_plan(self, agent: DemoAgent) -> None:
        _scene("2", "The agent proposes a first idea; it is approved, and will be superseded later.")
        _say(agent.tool("plan_submit", title="The first idea", question="Rename in place?", markdown=OLD_PLAN))
        old = self.person.call("plan.get", {"plan": "P-1"})
        self._approve(old, "ask")
        agent.tool("plan_status")
        _say(agent.tool("plan_tick", title="Rename the tables in place"))

    def _propose(self, agent: DemoAgent) -> dict[str, Any]:
        _scene("3", "It thinks again and proposes a better plan. Nothing runs until a person has decided.")
        agent.tool("plan_enter")
        _say(agent.tool("plan_submit", title=self.title, question="Shall I go ahead?", markdown=self.markdown))
        return self.person.call("plan.get", {"plan": "P-2"})

    def _verdict(self, plan: dict[str, Any]) -> bool:
        _scene("4", "The person sees exactly what will be approved:")
        _say(card(plan))
        if sys.stdin.isatty() and sys.stdout.isatty():
            if input("   Approve? [y/N] ").strip().lower() not in ("y", "yes"):
                self.person.call("plan.reject", {"plan": "P-2", "version": plan["version"]})
                return False
        else:
            print("   (no terminal here: the script gives the verdict, permission mode ask)")
        self._approve(plan, "ask")
        return True

    def _approve(self, plan: dict[str, Any], mode: str) -> None:
        wish = {"plan": plan["plan"], "version": plan["version"], "sha256": plan["sha256"], "mode": mode}
        answer = self.person.call("plan.approve", wish)
        print(f"   {answer['number']} {answer['status']}.")

    def _work(self, agent: DemoAgent, plan: dict[str, Any]) -> None:
        _scene("5", "The agent gets its instruction once, and works.")
        agent.tool("plan_status")
        half = len(plan["checklist"]) // 2
        for _ in range(half):
            self._one_task(agent)
        _scene("6", "Compaction: the agent forgets everything. All it has is what `resume` gives back:")
        _say(agent.tool("resume"))
        _scene("7", f"The host is killed (kill -9 {self._pid()}) in the middle of the work.")
        os.kill(self._pid(), signal.SIGKILL)
        print("   The agent does not notice: its pipe starts a new host and asks again.")
        while self._one_task(agent):
            pass
        print(f"   new host pid {self._pid()}")

    def _one_task(self, agent: DemoAgent) -> bool:
        """Begins and ticks the next task by its title; False when none is left."""
        found = agent.next_task()
        if found is None:
            return False
        task, printed = found
        name = {"id": task} if printed.endswith("…") else {"title": printed}
        agent.tool("plan_begin", **name)
        evidence = [{"kind": "reported", "value": "the demonstration did it"}]
        print(f"   tick {printed}: {agent.tool('plan_tick', evidence=evidence, **name)}")
        return True

    def _check(self, plan: dict[str, Any]) -> None:
        _scene("8", "What is left of it? The older plan is asked for, the files and the journal are checked.")
        assert self.agent is not None, "the agent lives"
        try:
            stale = self.agent.tool("plan_tick", id="P-1.2")
        except ToolError as refusal:
            stale = str(refusal)
        print(f"   tick of the older plan: {stale}")
        after = self.person.call("plan.get", {"plan": "P-2"})
        listed = self.person.call("plan.tasks", {"plan": "P-2"})
        ticks = self.person.call("plan.ticks", {"plan": "P-2"})["ticks"]
        file = (Path(after["checkout"]) / after["path"]).read_bytes()
        claimed = [tick["task"] for tick in ticks if tick["action"] == "tick"]
        audit = self.person.call("audit.verify")
        self.survived = [
            ("the approved bytes, in the store", after["markdown"] == self.markdown),
            ("the approved bytes, in the file", hashlib.sha256(file).hexdigest() == plan["sha256"]),
            ("the verdict and its permission mode", (after["status"], after["permission_mode"]) == ("approved", "ask")),
            (
                f"every tick, once ({listed['done']} of {listed['total']})",
                len(claimed) == len(set(claimed)) and listed["done"] == listed["total"],
            ),
            ("the older plan stayed superseded", stale.startswith("plan_superseded")),
            (f"journal and tables agree ({audit['events']} events)", bool(audit["ok"])),
        ]

    def _table(self) -> int:
        print("\n" + table([(what, "yes" if kept else "NO") for what, kept in self.survived], ("WHAT", "SURVIVED")))
        return 0 if all(kept for _, kept in self.survived) else 1

    def _pid(self) -> int:
        return int(Connection(str(self.home), start=False).call("host.status")["pid"])

    def end(self) -> None:
        """Stops what was started, by its own process id."""
        if self.agent is not None:
            self.agent.close()
        if answers(str(self.home)):
            stop(str(self.home))


def _scene(number: str, text: str) -> None:
    print(f"\n{number}. {text}")


def _say(text: str) -> None:
    print("\n".join(f"   | {line}" for line in text.splitlines()))
