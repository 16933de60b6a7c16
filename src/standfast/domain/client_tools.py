"""The clients' own tools: one table per client, from a tool's name to the gate's capability.

Taken from what each client offers a model; a test asks the real clients and fails on a tool that is in no table.
A subagent's own calls come to the gate one by one, so starting one is no more than reading.

Not here: Standfast's tools and other servers' (`capabilities`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

CLAUDE: Final[Mapping[str, str]] = {
    "Agent": "read",
    "AskUserQuestion": "question",
    "Bash": "shell",
    "BashOutput": "read",
    "DeferredToolPlaceholder": "read",
    "Edit": "edit",
    "EnterPlanMode": "plan",
    "ExitPlanMode": "plan",
    "Glob": "read",
    "Grep": "read",
    "KillShell": "shell",
    "LS": "read",
    "ListAgents": "read",
    "ListMcpResourcesTool": "read",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "NotebookRead": "read",
    "Read": "read",
    "ReadMcpResourceTool": "read",
    "ReportFindings": "read",
    "ScheduleWakeup": "workflow_start",
    "Skill": "read",
    "Task": "read",
    "TaskCreate": "todo_write",
    "TaskGet": "list_read",
    "TaskList": "list_read",
    "TaskOutput": "read",
    "TaskStop": "shell",
    "TaskUpdate": "todo_write",
    "TodoWrite": "todo_write",
    "ToolSearch": "read",
    "WebFetch": "read",
    "WebSearch": "read",
    "Workflow": "workflow_start",
    "Write": "write",
}
"""Claude Code."""

TABLES: Final[Mapping[str, Mapping[str, str]]] = {"claude": CLAUDE}
"""By the word of the command line."""
