"""The mode gate: may this tool run now?

The answer is `deny`, `ask` or `none` (no opinion), decided by the tool's capability from the durable mode,
whatever the caller believes its mode to be. Hooks only tighten: nothing here grants beyond the user's rules.
In an unattended session nothing is ever asked: there the gate only denies what plan mode denies.

Not here: which tool of which client has which capability (a table per client).
"""

from __future__ import annotations

from typing import Final

import msgspec

ALLOW: Final = "none"
CAPABILITIES: Final = (
    "read",
    "compact",
    "question",
    "plan",
    "list_read",
    "todo_write",
    "tick",
    "task_write",
    "workflow_start",
    "write",
    "edit",
    "plugin",
    "foreign",
    "network",
    "shell",
    "plan_verify",
    "unknown",
)
_PLAN_ALLOWS: Final = frozenset({"read", "compact", "question", "plan", "list_read"})
_SHELL_LIKE: Final = frozenset({"shell", "plan_verify"})
_ASKED: Final = {
    "ask": frozenset({"write", "edit", "shell", "plan_verify"}),
    "accept_edits": frozenset({"shell", "plan_verify"}),
}
SHELL_SETTINGS: Final = ("deny", "sandbox", "permission")


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate is asked: the session's durable modes, the tool and its capability.

    `outside` says that a path of the call leaves the workspace, `read_only` that an operator declared a third
    party's tool harmless, `sandboxed` that the client can run shell commands in the read-only sandbox.
    """

    mode: str
    permission_mode: str
    attended: bool
    capability: str
    tool: str
    shell: str = "permission"
    outside: bool = False
    read_only: bool = False
    sandboxed: bool = False


class Verdict(msgspec.Struct, frozen=True):
    """`decision` is `deny`, `ask` or `none`; `code` and `reason` say why; `sandbox` asks for a rewrite."""

    decision: str
    code: str | None = None
    reason: str = ""
    sandbox: bool = False


def check(question: Question) -> Verdict:
    """The gate's answer; total over every capability and mode."""
    if question.mode == "plan":
        return _in_plan(question)
    return _in_agent(question)


def _denied(question: Question) -> Verdict:
    if question.capability == "todo_write":
        return Verdict(
            "deny",
            "todo_denied_in_plan",
            "A checklist is not a proposal: put the steps into the plan and submit it.",
        )
    return Verdict(
        "deny",
        "tool_denied_in_plan",
        f"Plan mode: {question.tool} may not run before a person approves the plan. Read, plan, submit.",
    )


def _in_plan(question: Question) -> Verdict:
    if question.capability in _PLAN_ALLOWS:
        return Verdict(ALLOW)
    if question.capability in _SHELL_LIKE:
        return _shell_in_plan(question)
    if question.read_only and question.capability in {"foreign", "plugin", "unknown", "network"}:
        return Verdict(ALLOW)
    return _denied(question)


def _shell_in_plan(question: Question) -> Verdict:
    if question.shell == "deny":
        return _denied(question)
    if question.shell == "sandbox" and question.sandboxed:
        return Verdict(ALLOW, reason="read-only sandbox, no network", sandbox=True)
    if not question.attended:
        return _denied(question)
    if question.permission_mode == "auto":
        return Verdict(ALLOW)
    return Verdict("ask", reason=f"Plan mode: allow {question.tool} to run a command?")


def _in_agent(question: Question) -> Verdict:
    asked = _ASKED.get(question.permission_mode)
    if asked is None or not question.attended:
        return Verdict(ALLOW)
    if question.capability in asked:
        return Verdict("ask", reason=f"Permission mode {question.permission_mode}: allow {question.tool}?")
    if question.outside:
        return Verdict("ask", reason=f"{question.tool} reaches outside the workspace.")
    return Verdict(ALLOW)
