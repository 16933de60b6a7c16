"""`standfast plans …`: looking at plans and giving verdicts.

A verdict needs a terminal and asks on it, after showing what is decided. It refuses where an agent client is
an ancestor process or its marks are in the environment: a model has no person's authority.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from standfast.cli.agents import agent_above
from standfast.cli.commands import REFUSED, connection, emit
from standfast.cli.show import card, clean, table, when
from standfast.client.call import Connection, Refused

MODES = ("ask", "accept_edits", "auto", "client")
SIMPLE = {
    "abort": "plan.abort",
    "reoffer": "plan.reoffer",
    "abort-execution": "plan.abort_execution",
    "abandon": "plan.abandon",
}


def list_plans(arguments: Namespace) -> int:
    """The newest plans."""
    answer = connection(arguments).call("plan.list", {"limit": arguments.limit})
    rows = [
        (plan["number"], plan["status"], f"{plan['done']}/{plan['tasks']}", when(plan["created_at"]), plan["title"])
        for plan in answer["plans"]
    ]
    return emit(arguments, answer, table(rows, ("PLAN", "STATUS", "DONE", "CREATED", "TITLE")) if rows else "No plans.")


def show(arguments: Namespace) -> int:
    """A plan's card."""
    answer = connection(arguments).call("plan.get", {"plan": arguments.plan})
    return emit(arguments, answer, card(answer))


def show_text(arguments: Namespace) -> int:
    """A plan's exact text, made visible for the terminal; exact bytes into a file or pipe."""
    answer = connection(arguments).call("plan.get", {"plan": arguments.plan})
    if not sys.stdout.isatty() and not arguments.json:
        sys.stdout.buffer.write(answer["markdown"].encode())
        return 0
    return emit(arguments, answer, clean(answer["markdown"], lines=True))


def approve(arguments: Namespace) -> int:
    """Shows the card, asks for mode and yes, approves exactly what was shown."""
    _person()
    door = connection(arguments)
    plan = door.call("plan.get", {"plan": arguments.plan})
    print(card(plan))
    mode = arguments.mode or _ask_mode("ask" if plan["attended"] else "client")
    if not _yes(f"Approve {plan['number']} with permission mode {mode}?"):
        print("Nothing was decided.")
        return REFUSED
    wish = {"plan": plan["plan"], "version": plan["version"], "sha256": plan["sha256"], "mode": mode}
    answer = door.call("plan.approve", wish)
    return emit(arguments, answer, f"{answer['number']} approved.")


def reject(arguments: Namespace) -> int:
    """Shows the card, asks, rejects."""
    _person()
    door = connection(arguments)
    plan = door.call("plan.get", {"plan": arguments.plan})
    print(card(plan))
    if not _yes(f"Reject {plan['number']}?"):
        print("Nothing was decided.")
        return REFUSED
    wish = {"plan": plan["plan"], "version": plan["version"], "note": arguments.note}
    answer = door.call("plan.reject", wish)
    return emit(arguments, answer, f"{answer['number']} rejected.")


def simple(arguments: Namespace) -> int:
    """Abort, reoffer, abort-execution, abandon: one plan, one operation."""
    _person()
    word = next(word for word in SIMPLE if word in sys.argv)
    answer = connection(arguments).call(SIMPLE[word], {"plan": arguments.plan})
    return emit(arguments, answer, f"{answer['number']}: {word} done.")


def adopt(arguments: Namespace) -> int:
    """Approves a person's own file for a session."""
    _person()
    path = Path(arguments.file)
    wish: dict[str, Any] = {
        "session": arguments.session,
        "mode": arguments.mode,
        "title": arguments.title or path.stem,
        "markdown": path.read_bytes().decode("utf-8"),
    }
    answer = Connection(connection(arguments).home).call("plan.adopt", wish)
    return emit(arguments, answer, f"{answer['number']} adopted and approved.")


def attach(arguments: Namespace) -> int:
    """Moves a tracker to another session."""
    _person()
    answer = connection(arguments).call("plan.attach", {"plan": arguments.plan, "session": arguments.session})
    return emit(arguments, answer, f"{answer['number']} is tracked in {answer['session']} now.")


def ticks(arguments: Namespace) -> int:
    """A plan's recorded ticks."""
    answer = connection(arguments).call("plan.ticks", {"plan": arguments.plan})
    rows = [
        (tick["task"], tick["action"], when(tick["at"]), tick["actor"], tick["note"] or "") for tick in answer["ticks"]
    ]
    return emit(arguments, answer, table(rows, ("TASK", "ACTION", "AT", "BY", "NOTE")) if rows else "No ticks.")


def tasks(arguments: Namespace) -> int:
    """A plan's tasks."""
    answer = connection(arguments).call("plan.tasks", {"plan": arguments.plan})
    rows = [(task["id"], task["state"], task["title"]) for task in answer["tasks"]]
    head = f"{answer['number']} {answer['done']}/{answer['total']}, tracker {answer['tracker']}"
    return emit(arguments, answer, f"{head}\n{table(rows, ('TASK', 'STATE', 'TITLE'))}")


def confirm(arguments: Namespace) -> int:
    """A person's yes to a task."""
    _person()
    answer = connection(arguments).call("plan.confirm", {"id": arguments.task, "note": arguments.note})
    return emit(arguments, answer, answer["text"])


def resolve(arguments: Namespace) -> int:
    """A person's word on an uncertain task."""
    _person()
    answer = connection(arguments).call("plan.resolve_task", {"id": arguments.task, "outcome": arguments.outcome})
    return emit(arguments, answer, answer["text"])


def _person() -> None:
    """A terminal, and no agent above it."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Refused({"code": "forbidden", "message": "A verdict is given on a terminal, or on the web page."})
    above = agent_above(os.environ)
    if above is not None:
        raise Refused({"code": "forbidden", "message": f"This runs under an agent ({above}); a person decides."})


def _ask_mode(default: str) -> str:
    while True:
        given = input(f"Permission mode ({', '.join(MODES)}) [{default}]: ").strip() or default
        if given in MODES:
            return given


def _yes(question: str) -> bool:
    return input(f"{question} [y/N] ").strip().lower() in ("y", "yes")
