"""A proposal's life until its verdict: submit, approve, reject, expire, interrupt.

Only an operator gives a verdict (the policy table says so; nothing here does). Silence never approves: the
deadline is absolute and turns a proposal into `expired`. Checks run in a fixed order, so that every surface
gives the same refusal for the same mistake: expired, permission mode, already settled, version and digest,
artifact.

Not here: finding the plan, the file on disk (`standfast.host`), ticks (`tracker`).
"""

from __future__ import annotations

from typing import Final

import msgspec

from standfast.domain import execution, tracker
from standfast.domain.change import Change, Context, Event, Put
from standfast.domain.errors import Refusal
from standfast.domain.plan import PLAN, Execution, Plan, PlanText, Proposal, Tracker, aggregate
from standfast.domain.session import PERMISSION_MODES, Session, changed

EVIDENCE_POLICIES: Final = ("none", "any", "command", "human")


class Filing(msgspec.Struct, frozen=True, kw_only=True):
    """Where a new proposal comes from and goes to, beside its texts."""

    plan_id: str
    number: int
    origin: str
    path: str
    expires_at: int
    turn_id: str | None = None
    tool_call_id: str | None = None
    replaces: str | None = None


def file_proposal(
    session: Session, proposal: Proposal, text: PlanText, sha256: str, filing: Filing, ctx: Context
) -> tuple[Plan, Event]:
    """A pending plan with its text, as one event. `session` has a workspace (checked by the caller)."""
    if session.project_id is None or session.checkout is None:
        raise Refusal("workspace_required", "A plan needs a session with a workspace.")
    plan = Plan(
        id=filing.plan_id,
        number=filing.number,
        status=PLAN.initial,
        version=1,
        project_id=session.project_id,
        session_id=session.id,
        turn_id=filing.turn_id,
        tool_call_id=filing.tool_call_id,
        origin=filing.origin,
        title=proposal.title,
        question=proposal.question,
        sha256=sha256,
        size=len(proposal.markdown),
        tasks=len(text.checklist.tasks),
        checkout=session.checkout,
        path=filing.path,
        permission_mode=None,
        evidence="none",
        resolver=None,
        note=None,
        error_code=None,
        supersedes=None,
        replaces=filing.replaces,
        boot=ctx.boot,
        created_at=ctx.now,
        expires_at=filing.expires_at,
        resolved_at=None,
    )
    data: dict[str, object] = {"plan": plan.id, "number": plan.ref, "title": plan.title, "sha256": sha256}
    return plan, Event("plan.submitted", aggregate(plan.id), session.id, data, (Put(None, plan), Put(None, text)))


def settle(plan: Plan, action: str, ctx: Context, **fields: object) -> Plan:
    """The plan after `action`, with resolver and time; legal only along the table."""
    status = PLAN.step(plan.status, action, plan.ref)
    resolver = fields.pop("resolver", None) or ctx.actor.key
    return msgspec.structs.replace(
        plan, status=status, version=plan.version + 1, resolver=resolver, resolved_at=ctx.now, **fields
    )


def _event(kind: str, before: Plan, after: Plan, *puts: Put, **data: object) -> Event:
    facts: dict[str, object] = {"plan": after.id, "number": after.ref, "status": after.status, **data}
    return Event(kind, aggregate(after.id), after.session_id, facts, (Put(before, after), *puts))


class Approval(msgspec.Struct, frozen=True, kw_only=True):
    """A person's yes: what they saw (`version`, `sha256`) and what they allow."""

    version: int
    sha256: str
    mode: str | None
    evidence: str = "none"
    carry: tuple[int, ...] | None = None


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """Everything of the session that an approval touches. `older` pairs an open tracker with its plan's
    number and text; `artifact` is what the host found on disk: `same`, or why not."""

    session: Session
    text: PlanText
    artifact: str = "same"
    older: tuple[tuple[Tracker, PlanText], ...] = ()
    live: tuple[Execution, ...] = ()


def approve(plan: Plan, standing: Standing, wish: Approval, ctx: Context) -> Change:
    """The approval as one change: plan, session mode, execution, tracker, what it supersedes, what is carried.

    An identical second approval answers the stored result (no event); another one is `conflict`.
    """
    _decidable(plan)
    if wish.mode not in PERMISSION_MODES:
        raise Refusal(
            "permission_mode_required",
            f"Name the permission mode of the execution: one of {', '.join(PERMISSION_MODES)}.",
        )
    if plan.status != "pending":
        return _repeated(plan, "approved", (plan.permission_mode, plan.sha256) == (wish.mode, wish.sha256))
    _seen(plan, wish.version, wish.sha256)
    if standing.artifact != "same":
        raise Refusal(
            "artifact_hash_mismatch",
            f"The file {plan.path} is not what was proposed ({standing.artifact}). Nothing was approved: "
            "restore it, or adopt the edited file as a plan of your own.",
            path=plan.path,
            found=standing.artifact,
        )
    return _approved(plan, standing, wish, ctx)


def _approved(plan: Plan, standing: Standing, wish: Approval, ctx: Context) -> Change:
    older = standing.older
    after = settle(
        plan,
        "approve",
        ctx,
        permission_mode=wish.mode,
        evidence=wish.evidence,
        supersedes=older[-1][0].plan_id if older else None,
    )
    session, moded = changed(
        standing.session,
        ctx,
        "session.approved",
        {"mode": "agent", "permission_mode": wish.mode},
        mode="agent",
        permission_mode=wish.mode,
        marker_due=True,
    )
    queued = execution.queued(after, ctx)
    stopped = tuple(event for live in standing.live for event in execution.interrupted(live, "superseded", ctx))
    closed = tuple(tracker.closed(old, "supersede", ctx) for old, _ in older)
    carried = tracker.chosen(standing.text.checklist, older, wish.carry)
    track, ticks = tracker.opened(after, standing.text.checklist, session, carried, ctx)
    event = _event(
        "plan.approved", plan, after, Put(None, queued), Put(None, track), execution=queued.id, mode=wish.mode
    )
    return Change(answer(after), (*stopped, *closed, moded, event, *ticks))


def reject(plan: Plan, version: int | None, note: str | None, ctx: Context, resolver: str | None = None) -> Change:
    """A person's no; touches neither mode nor permission mode. Repeated with the same note it is answered."""
    _decidable(plan)
    if plan.status != "pending":
        return _repeated(plan, "rejected", plan.note == note)
    if version is not None and version != plan.version:
        raise _stale(plan)
    after = settle(plan, "reject", ctx, note=note, resolver=resolver)
    return Change(answer(after), (_event("plan.rejected", plan, after, noted=note is not None),))


def interrupt(plan: Plan, why: str, ctx: Context) -> Change:
    """Pending to interrupted: by an operator's abort, a closed session, or the restart fence."""
    if plan.status == "interrupted" and plan.error_code == why:
        return Change(answer(plan))
    after = settle(plan, "interrupt", ctx, error_code=why)
    return Change(answer(after), (_event("plan.interrupted", plan, after, why=why),))


def expire(plan: Plan, ctx: Context) -> Event | None:
    """The expiry of a pending plan whose deadline has come, else None. Exact: due at `expires_at` itself."""
    if plan.status != "pending" or ctx.now < plan.expires_at:
        return None
    after = settle(plan, "expire", ctx, error_code="PLAN_APPROVAL_TIMEOUT", resolver="clock")
    return _event("plan.expired", plan, after)


def answer(plan: Plan) -> dict[str, object]:
    """A plan as a verdict's caller gets it."""
    return {
        "plan": plan.id,
        "number": plan.ref,
        "status": plan.status,
        "version": plan.version,
        "permission_mode": plan.permission_mode,
        "resolver": plan.resolver,
        "resolved_at": plan.resolved_at,
    }


def _decidable(plan: Plan) -> None:
    """The first two reasons: what was interrupted takes no verdict, and neither does what expired."""
    if plan.status == "interrupted":
        raise Refusal("invalid_action", f"{plan.ref} was interrupted; reoffer it to decide again.", plan=plan.id)
    if plan.status == "expired":
        raise Refusal(
            "PLAN_APPROVAL_TIMEOUT",
            f"{plan.ref} expired before a verdict; reoffer it to decide again.",
            plan=plan.id,
            expired_at=plan.expires_at,
        )


def _repeated(plan: Plan, status: str, same: bool) -> Change:
    if plan.status == status and same:
        return Change(answer(plan))
    raise Refusal(
        "conflict",
        f"{plan.ref} is already {plan.status}; a verdict is final.",
        plan=plan.id,
        status=plan.status,
    )


def _seen(plan: Plan, version: int, sha256: str) -> None:
    if version != plan.version or sha256 != plan.sha256:
        raise _stale(plan)


def _stale(plan: Plan) -> Refusal:
    return Refusal(
        "stale",
        f"{plan.ref} is not what you looked at (now version {plan.version}); look again, then decide.",
        plan=plan.id,
        version=plan.version,
        sha256=plan.sha256,
    )
