"""Which plan a plan is compared with, and the difference between their texts."""

from __future__ import annotations

import msgspec

from standfast.domain.change import Change
from standfast.domain.difference import compare
from standfast.domain.plan import Plan
from standfast.domain.session import Session
from standfast.host.contexts import older_plans
from standfast.host.operation import Input
from standfast.host.work import Work


class ComparePlan(Input, frozen=True):
    """A plan, and the one that it is compared with: named, or the one whose place it takes."""

    plan: str
    base: str | None = None


def difference(work: Work, command: ComparePlan) -> Change:
    """Lines and words that differ; without another plan to compare with, `base` is None."""
    plan = work.plan(command.plan)
    base = work.plan(command.base) if command.base is not None else base_of(work, plan)
    if base is None:
        return Change({"plan": plan.id, "number": plan.ref, "base": None})
    texts = [work.text(each.id).markdown.decode("utf-8") for each in (base, plan)]
    found = msgspec.to_builtins(compare(texts[0], texts[1]))
    return Change({"plan": plan.id, "number": plan.ref, "base": base_view(base), **found})


def base_view(base: Plan) -> dict[str, object]:
    """The other plan, as an answer names it."""
    return {"plan": base.id, "number": base.ref, "title": base.title, "status": base.status}


def base_of(work: Work, plan: Plan) -> Plan | None:
    """What it supersedes or would supersede; else what it was made from; else its session's proposal before it."""
    if plan.supersedes or plan.replaces:
        return work.tx.get(Plan, plan.supersedes or plan.replaces or "")
    session = work.tx.get(Session, plan.session_id)
    assert session is not None, "a plan has a session"
    if plan.status == "pending":
        for track, _ in older_plans(work, session, plan):
            return work.tx.get(Plan, track.plan_id)
    return work.tx.first(Plan, "plan_before", session=plan.session_id, number=plan.number)
