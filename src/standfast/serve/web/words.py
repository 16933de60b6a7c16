"""Stored facts in the words of a person: who, where, what happened. Used by the templates as filters.

Every text from outside is made visible by the templates (`visible`), not here; nothing here returns markup.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

WHO: Final[Mapping[str, str]] = {
    "operator:page": "a person, on this page",
    "operator:operator": "a person, on the command line",
    "client dialog": "a person, in the client's dialog",
    "clock": "the clock",
    "host:clock": "the clock",
    "host:fence": "the host's restart",
}
_ROLES: Final[Mapping[str, str]] = {
    "agent": "the agent",
    "coordinator": "the client",
    "operator": "a person",
    "worker": "a worker",
    "host": "the host",
}
WHY: Final[Mapping[str, str]] = {
    "PLAN_APPROVAL_TIMEOUT": "Nobody decided in time.",
    "host restarted": "The host was restarted while it waited.",
    "aborted": "A person took it off the table.",
    "session closed": "Its session was closed.",
}
"""Why a proposal ended without a verdict, by its error code."""

HAPPENED: Final[Mapping[str, str]] = {
    "plan.submitted": "{ref} was proposed: {title}",
    "plan.approved": "{ref} was approved, permission mode {mode}",
    "plan.rejected": "{ref} was rejected",
    "plan.expired": "{ref} expired without a verdict",
    "plan.interrupted": "{ref} was interrupted: {why}",
    "task.begin": "{task} was begun",
    "task.tick": "{task} was ticked",
    "task.await": "{task} waits for a person",
    "task.confirm": "{task} was confirmed",
    "task.untick": "The tick of {task} was taken back",
    "task.resolve_done": "{task} was said to be done",
    "task.resolve_open": "{task} was said to be open",
    "task.carry": "{task} was carried over as done",
    "tracker.superseded": "A newer plan took the place of {ref}",
    "tracker.abandoned": "{ref} was abandoned",
    "tracker.complete": "{ref} is complete",
    "tracker.attached": "{ref} is tracked by another session now",
    "tracker.inherited": "A fork took {ref} along as it stood",
    "tracker.refolded": "Another branch was selected; the ticks of {ref} are those of that branch",
    "execution.claimed": "The instruction of {ref} was handed to the agent",
    "execution.completed": "The execution of {ref} ended",
    "execution.interrupted": "The execution of {ref} was interrupted",
    "turn.started": "A turn began",
    "turn.ended": "The turn ended: {stop_reason}",
    "session.started": "The session began",
    "session.resumed": "The session was taken up again ({source})",
    "session.approved": "The session left plan mode",
    "session.plan_entered": "The session entered plan mode",
    "session.marker": "The model was told where it stands",
    "session.restored": "The model got its context back",
    "session.forked": "The session was forked from another",
    "session.advanced": "The session's history grew",
    "session.branch_switched": "Another branch was selected",
    "session.taken_over": "Another program of the client took the session over",
    "session.closed": "The session was closed",
    "session.shared": "A second program writes in this session",
    "session.configured": "The session was configured",
    "session.reports_turns": "The client reports its turns",
    "todo.written": "The todo list was written",
    "todo.captured": "The client's own todo list was read",
    "todo.restored": "A todo list was read from a transcript",
    "todo.inherited": "The todo list of the fork's parent was taken along",
    "todo.reminded": "The model was reminded of its todos",
    "todo.check_asked": "The model was asked for a check",
    "todo.branch_selected": "Another branch was selected; the todos are those of that branch",
    "operator.protected": "The operator lock was closed",
    "operator.unprotected": "The operator lock was taken away",
    "message.queued": "Word for the agent was left",
    "message.delivered": "The agent was told",
    "message.cancelled": "Word for the agent was taken back",
    "project.known": "A project was seen for the first time",
    "artifact.intended": "The plan's file is about to be written",
    "artifact.kept": "The plan's file was written",
    "artifact.done": "The plan's file was written",
    "artifact.dropped": "A file that no plan needed was taken away",
    "setting.changed": "The setting {key} was changed",
    "host.backed_up": "A backup was made",
}
"""A sentence for each kind of event; one without a sentence is shown by its kind."""

KINDS: Final[Mapping[str, str]] = {
    "": "everything",
    "plan": "plans",
    "task": "tasks",
    "execution": "executions",
    "todo": "todos",
    "turn": "turns",
    "session": "sessions",
}
"""What a timeline can be narrowed to: the first word of a kind."""


def who(actor: str | None) -> str:
    """An actor or resolver as people say it."""
    if not actor:
        return "nobody"
    return WHO.get(actor) or _ROLES.get(actor.partition(":")[0], actor)


def why(code: str | None) -> str:
    """Why a proposal ended."""
    return WHY.get(code or "", code or "")


def happened(event: Mapping[str, Any], numbers: Mapping[str, str]) -> str:
    """An event as a sentence; `numbers` maps plan ids to their numbers."""
    data: Mapping[str, Any] = event["data"]
    sentence = HAPPENED.get(event["kind"])
    if sentence is None:
        return str(event["kind"])
    ref = data.get("number") or numbers.get(str(data.get("plan")), "A plan")
    facts = {"title": "", "mode": "", "why": "", "stop_reason": "", "source": "", "key": "", **data}
    return sentence.format_map({**facts, "ref": ref, "task": f"{ref}.{data.get('position', '')}"})


def project_name(identity: str | None) -> str:
    """The short name of a project: its folder, or the id that it declares."""
    kind, _, place = (identity or "").partition(":")
    if kind == "id":
        return place
    if kind == "git":
        place = place.removesuffix("/.git")
    return posixpath.basename(place) or place or "no workspace"


def instant(milliseconds: int) -> str:
    """A time as HTML's `datetime` has it, UTC."""
    return datetime.fromtimestamp(milliseconds / 1_000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def size(count: int) -> str:
    """Bytes as people read them; the exact number stands beside."""
    return f"{count:,} bytes" if count < 10_000 else f"{count / 1_024:,.0f} KiB"


def promises(enforced: Mapping[str, bool]) -> list[tuple[bool, str]]:
    """What the client holds to, and what it cannot."""
    return [
        (enforced["deny"], "until the verdict, tools that write are denied"),
        (enforced["ask"], "before edits and commands, a person is asked where the mode says so"),
        (enforced["set_mode"], "the client's own permission mode follows the verdict"),
        (enforced["rewrite"], "in plan mode, commands run in a read-only sandbox"),
    ]
