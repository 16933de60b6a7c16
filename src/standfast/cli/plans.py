"""`standfast plans …`: looking at plans and giving verdicts.

A verdict needs a terminal and asks on it, after showing what is decided. It refuses where an agent client is
an ancestor process or its marks are in the environment: a model has no person's authority.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from standfast.cli.commands import MODES, REFUSED, UsageError, connection, emit
from standfast.cli.numbers import ask
from standfast.cli.person import Person
from standfast.cli.show import card, clean, table, when


def list_plans(arguments: Namespace) -> int:
    """The newest plans."""
    answer = connection(arguments).call("plan.list", {"limit": arguments.limit})
    rows = [
        (
            plan["number"],
            plan["status"],
            f"{plan['done']}/{plan['tasks']}",
            when(plan["created_at"]),
            plan["checkout"],
            plan["title"],
        )
        for plan in answer["plans"]
    ]
    text = table(rows, ("PLAN", "STATUS", "DONE", "CREATED", "WORKSPACE", "TITLE")) if rows else "No plans."
    return emit(arguments, answer, text)


def show(arguments: Namespace) -> int:
    """A plan's card."""
    answer = ask(connection(arguments), "plan.get", {"plan": arguments.plan})
    return emit(arguments, answer, card(answer))


def show_text(arguments: Namespace) -> int:
    """A plan's exact text, made visible for the terminal; exact bytes into a file or pipe."""
    answer = ask(connection(arguments), "plan.get", {"plan": arguments.plan})
    if not sys.stdout.isatty() and not arguments.json:
        sys.stdout.buffer.write(answer["markdown"].encode())
        return 0
    return emit(arguments, answer, clean(answer["markdown"], lines=True))


def approve(arguments: Namespace) -> int:
    """Shows the card, asks for mode and yes, approves exactly what was shown."""
    person = Person()
    door = connection(arguments)
    plan = ask(door, "plan.get", {"plan": arguments.plan})
    person.show(card(plan))
    mode = arguments.mode or person.choose("Permission mode", MODES, "ask" if plan["attended"] else "client")
    if not person.agrees(f"Approve {plan['number']} with permission mode {mode}?"):
        return _undecided(person)
    wish = {"plan": plan["plan"], "version": plan["version"], "sha256": plan["sha256"], "mode": mode}
    answer = door.call("plan.approve", wish)
    return emit(arguments, answer, f"{answer['number']} approved.")


def reject(arguments: Namespace) -> int:
    """Shows the card, asks, rejects."""
    person = Person()
    door = connection(arguments)
    plan = ask(door, "plan.get", {"plan": arguments.plan})
    person.show(card(plan))
    if not person.agrees(f"Reject {plan['number']}?"):
        return _undecided(person)
    wish = {"plan": plan["plan"], "version": plan["version"], "note": arguments.note}
    answer = door.call("plan.reject", wish)
    return emit(arguments, answer, f"{answer['number']} rejected.")


def _undecided(person: Person) -> int:
    person.show("Nothing was decided.")
    return REFUSED


def abort(arguments: Namespace) -> int:
    """Takes a pending plan off the table."""
    return _decide(arguments, "plan.abort", "is off the table")


def reoffer(arguments: Namespace) -> int:
    """Offers an expired or interrupted plan again."""
    return _decide(arguments, "plan.reoffer", "waits for a verdict")


def abort_execution(arguments: Namespace) -> int:
    """Interrupts a live execution."""
    return _decide(arguments, "plan.abort_execution", "is not being executed any more")


def abandon(arguments: Namespace) -> int:
    """Ends a tracker for good."""
    return _decide(arguments, "plan.abandon", "is abandoned")


def _decide(arguments: Namespace, operation: str, became: str) -> int:
    """One plan, one operation of a person's."""
    Person()
    answer = ask(connection(arguments), operation, {"plan": arguments.plan})
    return emit(arguments, answer, f"{answer['number']} {became}.")


def adopt(arguments: Namespace) -> int:
    """Approves a person's own file for a session."""
    Person()
    path = Path(arguments.file)
    try:
        markdown = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 (byte {error.start}). Save it as UTF-8 and try again.") from error
    wish: dict[str, Any] = {
        "session": arguments.session,
        "mode": arguments.mode,
        "title": arguments.title or path.stem,
        "markdown": markdown,
    }
    answer = connection(arguments).call("plan.adopt", wish)
    return emit(arguments, answer, f"{answer['number']} adopted and approved.")


def attach(arguments: Namespace) -> int:
    """Moves a tracker to another session."""
    Person()
    answer = ask(connection(arguments), "plan.attach", {"plan": arguments.plan, "session": arguments.session})
    return emit(arguments, answer, f"{answer['number']} is tracked in {answer['session']} now.")


def ticks(arguments: Namespace) -> int:
    """A plan's recorded ticks."""
    answer = ask(connection(arguments), "plan.ticks", {"plan": arguments.plan})
    rows = [
        (tick["task"], tick["action"], when(tick["at"]), tick["actor"], tick["note"] or "") for tick in answer["ticks"]
    ]
    return emit(arguments, answer, table(rows, ("TASK", "ACTION", "AT", "BY", "NOTE")) if rows else "No ticks.")


def tasks(arguments: Namespace) -> int:
    """A plan's tasks."""
    answer = ask(connection(arguments), "plan.tasks", {"plan": arguments.plan})
    rows = [(task["id"], task["state"], task["title"]) for task in answer["tasks"]]
    head = f"{answer['number']} {answer['done']}/{answer['total']}, tracker {answer['tracker']}"
    return emit(arguments, answer, f"{head}\n{table(rows, ('TASK', 'STATE', 'TITLE'))}")


def confirm(arguments: Namespace) -> int:
    """A person's yes to a task."""
    Person()
    wish = {"id": arguments.task, "plan": arguments.plan, "note": arguments.note}
    answer = ask(connection(arguments), "plan.confirm", wish)
    return emit(arguments, answer, answer["text"])


def resolve(arguments: Namespace) -> int:
    """A person's word on an uncertain task."""
    Person()
    wish = {"id": arguments.task, "plan": arguments.plan, "outcome": arguments.outcome}
    answer = ask(connection(arguments), "plan.resolve_task", wish)
    return emit(arguments, answer, answer["text"])
