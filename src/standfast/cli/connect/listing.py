"""What is connected where, and in which state."""

from __future__ import annotations

import os
from argparse import Namespace
from pathlib import Path
from typing import Any

from standfast.cli.commands import emit
from standfast.cli.connect import files, plan, table
from standfast.cli.connect.record import Record
from standfast.cli.connect.table import Part, Scope, Settings, WholeFile
from standfast.cli.connect.text import Unreadable
from standfast.cli.show import table as columns


def listed(arguments: Namespace, home: str) -> int:
    """What is connected where, in which state; a project's row only where something is."""
    record = Record(Path(home))
    rows: list[dict[str, Any]] = []
    for client in table.TITLES:
        for scope in (user(home), project()):
            found = state(client, scope, record)
            if not scope.project or found not in (plan.ABSENT, plan.UNAVAILABLE):
                rows.append(_row(client, scope, found))
    heads = ("CLIENT", "SCOPE", "STATE", "GETS", "FILES")
    lines = [[*(row[name] for name in ("client", "scope", "state", "gets")), ", ".join(row["files"])] for row in rows]
    return emit(arguments, {"connections": rows}, columns(lines, heads))


def state(client: str, scope: Scope, record: Record) -> str:
    """One word for a client: what needs attention first; connected in part is an older form."""
    try:
        states = [_state(part, record, scope) for part in table.parts(client, scope)]
    except table.Unavailable:
        return plan.UNAVAILABLE
    for word in (plan.UNREADABLE, plan.ALTERED):
        if word in states:
            return word
    return states[0] if len(set(states)) == 1 else plan.OLDER


def user(home: str) -> Scope:
    """The person's own configuration, for this home."""
    return Scope(Path.home(), home, os.environ)


def project() -> Scope:
    """The project in the current directory."""
    return Scope(Path.cwd(), None, os.environ)


def named(scope: Scope) -> str:
    """The word for a scope."""
    return "project" if scope.project else "user"


def _row(client: str, scope: Scope, found: str) -> dict[str, Any]:
    parts = [] if found == plan.UNAVAILABLE else table.parts(client, scope)
    entries = [entry for part in parts if isinstance(part, Settings) for entry in part.entries]
    hooks = sum(entry.path[0] == "hooks" for entry in entries)
    names = ["MCP"] if len(entries) > hooks else []
    names += [f"{hooks} hooks"] if hooks else []
    names += [part.path.name for part in parts if isinstance(part, WholeFile)]
    return {
        "client": client,
        "scope": named(scope),
        "state": found,
        "gets": ", ".join(names),
        "files": [str(part.path) for part in parts],
    }


def _state(part: Part, record: Record, scope: Scope) -> str:
    try:
        found = files.find(part.path, scope.folder if scope.project else None)
    except Unreadable:
        return plan.UNREADABLE
    return plan.state(part, found, record.of(found.real))
