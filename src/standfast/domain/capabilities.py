"""What a client's tools can do: from the name of a tool, as its client reports it, to the gate's capability.

A name that is in no table is `unknown`, which plan mode refuses: a client's new tool is closed until somebody
has looked at it. Tools of other MCP servers are `foreign`, whatever they say about themselves.

Not here: the clients' tables (`client_tools`), what a capability may do in which mode (`gate`).
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Final

from standfast.domain.client_tools import TABLES

OWN_TOOLS: Final[Mapping[str, str]] = {
    "plan_enter": "plan",
    "plan_submit": "plan",
    "plan_status": "plan",
    "plan_read": "plan",
    "plan_tasks": "plan",
    "plan_begin": "tick",
    "plan_tick": "tick",
    "todo_write": "todo_write",
    "todo_read": "list_read",
    "resume": "list_read",
}
"""Standfast's own tools, by the last part of the name that a client gives them."""

MARKS: Final[Mapping[str, tuple[str, str]]] = {
    "claude": ("mcp__", "__"),
}
"""How a client names the tools of MCP servers: what each begins with, and what stands before the tool's own name."""


def of(client: str, tool: str, arguments: Mapping[str, object], plans: str = "") -> str:
    """The capability of a tool call of this client.

    `plans` is the folder of the client's own plan files: its plan mode writes there, which is planning.
    """
    begins, between = MARKS[client]
    if tool.startswith(begins):
        server, _, name = tool.removeprefix(begins).rpartition(between)
        return OWN_TOOLS.get(name, "foreign") if "standfast" in server else "foreign"
    capability = TABLES[client].get(tool, "unknown")
    if capability in ("write", "edit") and plans and _below(path_of(arguments), plans):
        return "plan"
    return capability


def client_plans(transcript: str) -> str:
    """Where Claude Code keeps its own plan files: beside the folder that holds the transcript's project."""
    configuration = posixpath.dirname(posixpath.dirname(posixpath.dirname(transcript)))
    return posixpath.join(configuration, "plans") if configuration else ""


def path_of(arguments: Mapping[str, object]) -> str:
    """The path that a file tool of Claude Code names, or nothing."""
    found = arguments.get("file_path") or arguments.get("notebook_path") or ""
    return found if isinstance(found, str) else ""


def outside(path: str, workspace: str) -> bool:
    """Whether a path that a tool names leaves the workspace, as it is written."""
    return bool(path) and not _below(posixpath.join(workspace, path), workspace)


def _below(path: str, folder: str) -> bool:
    whole, base = posixpath.normpath(path), posixpath.normpath(folder)
    return whole == base or whole.startswith(base.rstrip("/") + "/")
