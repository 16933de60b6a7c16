"""What is read back: plan status, plan text, marker, resume view."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from standfast.domain import tracker, views
from standfast.domain.change import Change, Event
from standfast.domain.checklist import PlanTask
from standfast.domain.enforcement import enforced
from standfast.domain.errors import Refusal
from standfast.domain.hidden import find_hidden
from standfast.domain.plan import OPEN_TRACKER, Execution, Plan, PlanText, Tracker
from standfast.domain.session import Session, changed
from standfast.host.operation import WAIT_LIMIT_SECONDS, Input
from standfast.host.scenes import standing_of
from standfast.host.sweep import as_seen
from standfast.host.turns import deliver, due_marker, ensure_turn, hand_out, opened_by
from standfast.host.work import SESSION_ROLES, Work

PAGE: Final = 8_000


class PlanStatus(Input, frozen=True):
    """The verdict on a plan, the session's newest when none is named. `wait_seconds` is for programs."""

    plan: str | None = None
    wait_seconds: int = 0
    session: str | None = None


def status(work: Work, command: PlanStatus) -> Change:
    """Where a plan stands. To its session's own agent an approval is handed out here, once, to be executed."""
    plan = _asked_about(work, command)
    result = view(work, plan)
    if work.actor.role != "agent" or plan.session_id != work.actor.session:
        return Change(result)
    session = work.session()
    turn, events = ensure_turn(work, session)
    owed, delivered = deliver(work, session)
    instruction, claimed = None, tuple[Event, ...]()
    if plan.status == "approved":
        live = work.tx.first(Execution, "execution_live", session=session.id)
        if live is not None and live.plan_id == plan.id:
            instruction, claimed = hand_out(work, session, turn, "plan_status")
    answer = Change(result | {"instruction": instruction, "messages": owed}, (*delivered, *claimed))
    return opened_by(events, answer)


def _asked_about(work: Work, command: PlanStatus) -> Plan:
    if not 0 <= command.wait_seconds <= WAIT_LIMIT_SECONDS:
        raise Refusal("limit", f"wait_seconds is 0 to {WAIT_LIMIT_SECONDS}.", limit=WAIT_LIMIT_SECONDS)
    if command.plan is not None:
        return work.plan(command.plan)
    session = work.session(command.session)
    newest = work.tx.find(Plan, "plans_of_session", session=session.id, most=1)
    if not newest:
        raise Refusal("not_found", "This session has no plan; submit one.")
    return newest[0]


def waits(work: Work, command: PlanStatus) -> bool:
    """Whether a caller of `status` may go on waiting: the plan is still pending."""
    return as_seen(_asked_about(work, command), work.ctx).status == "pending"


def status_text(result: Mapping[str, Any]) -> str:
    """What a model reads: the instruction, or where the plan stands and what to do."""
    if result.get("instruction"):
        return str(result["instruction"])
    number, status = result["number"], result["status"]
    lines = [*result.get("messages", [])]
    if status == "pending":
        lines.append(f"{number} is pending: a person decides. End your turn; do not poll.")
    elif status == "approved":
        lines.append(f"{number} approved, {result['done']}/{result['tasks']} done; see plan_tasks.")
    else:
        lines.append(f"{number} is {status}. Do not execute it.")
    return "\n".join(lines)


def view(work: Work, plan: Plan) -> dict[str, object]:
    """A plan as lists and cards show it, without its text."""
    plan = as_seen(plan, work.ctx)
    track = work.tx.get(Tracker, plan.session_id, plan.id)
    run = work.tx.first(Execution, "execution_latest", plan=plan.id)
    return {
        "plan": plan.id,
        "number": plan.ref,
        "status": plan.status,
        "version": plan.version,
        "session": plan.session_id,
        "origin": plan.origin,
        "title": plan.title,
        "question": plan.question,
        "sha256": plan.sha256,
        "size": plan.size,
        "path": plan.path,
        "checkout": plan.checkout,
        "tasks": plan.tasks,
        "done": 0 if track is None else track.states.count(tracker.DONE),
        "tracker": None if track is None else track.status,
        "execution": None if run is None else run.status,
        "permission_mode": plan.permission_mode,
        "evidence": plan.evidence,
        "resolver": plan.resolver,
        "note": plan.note,
        "error_code": plan.error_code,
        "supersedes": plan.supersedes,
        "replaces": plan.replaces,
        "created_at": plan.created_at,
        "expires_at": plan.expires_at,
        "resolved_at": plan.resolved_at,
    }


class NamePlan(Input, frozen=True):
    """A plan by its id or number."""

    plan: str


def get(work: Work, command: NamePlan) -> Change:
    """The whole card: text, tasks, warnings, hidden content, carry-over, what the client enforces, the branch."""
    plan = work.plan(command.plan)
    text = work.text(plan.id)
    markdown = text.markdown.decode("utf-8")
    session = work.tx.get(Session, plan.session_id)
    assert session is not None, "a plan has a session"
    track = tracked(work, plan)
    holds = enforced(session.client, own_plan_mode=session.own_plan_mode, attended=session.attended)
    return Change(
        view(work, plan)
        | {
            "tracked_in": None if track is None else track.session_id,
            "tracker": None if track is None else track.status,
            "done": 0 if track is None else track.states.count(tracker.DONE),
            "markdown": markdown,
            "client": session.client,
            "attended": session.attended,
            "enforced": msgspec.structs.asdict(holds),
            "branch": {
                "selected": session.leaf_entry,
                "approved_at": None if track is None else track.entry,
                "on_branch": track is None or track.on_branch,
            },
            "checklist": [_specified(plan, task) for task in text.checklist.tasks],
            "order": "strict" if text.checklist.strict_order else "listed",
            "warnings": [item.message for item in text.checklist.warnings],
            "hidden": [msgspec.structs.asdict(item) for item in find_hidden(markdown, text.checklist)],
            "carry": _carried(work, session, plan, text),
            "now": work.ctx.now,
        }
    )


def tracked(work: Work, plan: Plan) -> Tracker | None:
    """Where a plan is followed: in its own session, else where its tracker was moved to, an open one first."""
    own = work.tx.get(Tracker, plan.session_id, plan.id)
    if own is not None:
        return own
    moved = work.tx.find(Tracker, "trackers_of_plan", plan=plan.id)
    return next((track for track in moved if track.status in OPEN_TRACKER), next(iter(moved), None))


def _specified(plan: Plan, task: PlanTask) -> dict[str, object]:
    return {
        "id": f"{plan.ref}.{task.position}",
        "title": task.title,
        "shown": task.normalised,
        "parent": None if task.parent is None else f"{plan.ref}.{task.parent}",
        "after": [f"{plan.ref}.{position}" for position in task.after],
        "verify": task.verify,
        "gate": task.gate,
        "effect": task.effect,
        "meta": [list(pair) for pair in task.meta],
        "line": task.line,
    }


def _carried(work: Work, session: Session, plan: Plan, text: PlanText) -> list[dict[str, object]]:
    """What an approval would carry over as done from the plan that is tracked now."""
    candidates = tracker.carry_candidates(text.checklist, older_plans(work, session, plan))
    tasks = text.checklist.tasks
    return [
        {
            "position": item.position,
            "id": f"{plan.ref}.{item.position}",
            "title": tasks[item.position - 1].normalised,
            "preselected": item.preselected,
        }
        for item in candidates
    ]


def older_plans(work: Work, session: Session, plan: Plan) -> tuple[tuple[Tracker, Any], ...]:
    """The session's open tracker, if it is another plan's, with its text."""
    open_track = work.tx.first(Tracker, "tracker_open", session=session.id)
    if open_track is None or open_track.plan_id == plan.id:
        return ()
    return ((open_track, work.text(open_track.plan_id)),)


class ListPlans(Input, frozen=True):
    """The newest plans, of one session or of all, with one status or any; `limit` 1 to 500."""

    session: str | None = None
    status: str | None = None
    limit: int = 50


def list_all(work: Work, command: ListPlans) -> Change:
    """Plans, newest first."""
    if not 1 <= command.limit <= 500:
        raise Refusal("limit", "limit is 1 to 500.", field="limit", limit=500)
    own = command.session or work.actor.role in SESSION_ROLES
    bound = work.session(command.session).id if own else None
    if bound is not None:
        found = work.tx.find(Plan, "plans_of_session", session=bound, most=command.limit)
    elif command.status is not None:
        found = work.tx.find(Plan, "plans_recent_with_status", status=command.status, most=command.limit)
    else:
        found = work.tx.find(Plan, "plans_recent", most=command.limit)
    views_ = [view(work, plan) for plan in found]
    return Change({"plans": [item for item in views_ if command.status in (None, item["status"])]})


class ReadPlan(Input, frozen=True):
    """A page of a plan's exact text: characters from `offset`, at most 8,000."""

    plan: str | None = None
    offset: int = 0
    session: str | None = None


def read(work: Work, command: ReadPlan) -> Change:
    """A page of the text; `next` is the following offset, None at the end."""
    plan = _asked_about(work, PlanStatus(plan=command.plan, session=command.session))
    text = work.text(plan.id).markdown.decode("utf-8")
    if not 0 <= command.offset <= len(text):
        raise Refusal("invalid", f"offset is 0 to {len(text)}.", field="offset")
    page = text[command.offset : command.offset + PAGE]
    end = command.offset + len(page)
    return Change(
        {
            "plan": plan.id,
            "number": plan.ref,
            "sha256": plan.sha256,
            "text": page,
            "next": end if end < len(text) else None,
        }
    )


def read_text(result: Mapping[str, Any]) -> str:
    """A page as a model reads it."""
    if result["next"] is None:
        return str(result["text"])
    return f"{result['text']}\n[more: plan_read offset={result['next']}]"


class ShowContext(Input, frozen=True):
    """The session that a view is of."""

    session: str | None = None


def marker(work: Work, command: ShowContext) -> Change:
    """The marker if it is due now (None otherwise), noted as shown."""
    text, events = due_marker(work, work.session(command.session))
    return Change({"marker": text}, events)


class Resume(Input, frozen=True):
    """The resume view, at most `limit` characters (400 to 20,000)."""

    limit: int = views.RESUME_LIMIT
    session: str | None = None


def resume(work: Work, command: Resume) -> Change:
    """The full text that tells a model where it stands."""
    if not 400 <= command.limit <= 20_000:
        raise Refusal("limit", "limit is 400 to 20,000 characters.", field="limit", limit=20_000)
    session = work.session(command.session)
    standing = standing_of(work, session)
    text = views.resume(standing, command.limit)
    digest = hashlib.sha256(text.encode()).hexdigest()
    result = {"text": text, "empty": views.is_empty(standing), "digest": digest}
    return Change(result | {"told": session.view_shown == digest})


class Told(Input, frozen=True):
    """The model has the resume view with this `digest`, as `context.resume` gave it, in its context."""

    digest: str
    session: str | None = None


def told(work: Work, command: Told) -> Change:
    """Notes it, so that the same view is not told twice, also after a restart of the host."""
    session = work.session(command.session)
    if len(command.digest) != 64:
        raise Refusal("invalid", "digest is the one that context.resume gave.", field="digest")
    if session.view_shown == command.digest:
        return Change({"already": True})
    _, event = changed(session, work.ctx, "session.restored", {}, view_shown=command.digest)
    return Change({"already": False}, (event,))


def show(work: Work, command: ShowContext) -> Change:
    """Marker and resume view as a model would get them now; nothing is noted as shown.

    `due` says whether the marker would be told with the next turn.
    """
    session = work.session(command.session)
    standing = standing_of(work, session)
    told, _ = due_marker(work, session)
    return Change(
        {
            "session": session.id,
            "line": views.line(standing),
            "marker": views.marker(standing),
            "due": told is not None,
            "shown": session.marker_shown,
            "resume": views.resume(standing),
            "empty": views.is_empty(standing),
        }
    )
