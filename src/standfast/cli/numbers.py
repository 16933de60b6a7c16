"""A plan's number as a person means it: the plan of the project in which the command runs.

Numbers count within a project, so P-3 alone can name several plans. The host then tells the candidates; here
the one whose project is that of the current directory is meant. Elsewhere the person is told how to say it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from standfast.cli.show import clean
from standfast.client.call import Connection, Refused
from standfast.domain.errors import Refusal
from standfast.host.workspace import locate


def ask(door: Connection, operation: str, wish: Mapping[str, Any]) -> dict[str, Any]:
    """Calls an operation that names a plan or task; an ambiguous number means the plan of this project.

    Raises `Refused` (`plan_ambiguous`) where the current directory is in none of the projects.
    """
    try:
        return door.call(operation, wish)
    except Refused as refused:
        if refused.code != "plan_ambiguous":
            raise
        return door.call(operation, {**wish, "plan": _meant(refused)})


def _meant(refused: Refused) -> str:
    candidates: Sequence[Mapping[str, Any]] = refused.details["candidates"]
    project = _project(os.getcwd())
    here = [item for item in candidates if project is not None and _project(item["checkout"]) == project]
    if len(here) == 1:
        return str(here[0]["plan"])
    ids = ", ".join(f"{item['plan']} ({clean(item['checkout'])})" for item in candidates)
    message = f"Several projects have a plan of this number. Run this in its project, or use the plan's id: {ids}."
    raise Refused({"code": refused.code, "message": message, "details": refused.details}) from refused


def _project(directory: str) -> str | None:
    try:
        return locate(directory).project
    except Refusal:
        return None
