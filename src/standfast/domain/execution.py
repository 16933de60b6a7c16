"""Executions: the one authorised start of an approved plan.

`queued` at the approval, `running` at the first of three claim points (the stop hook's answer, `plan.status`
of the session's own agent, the next prompt or delivered message), exactly once. It ends with its turn. The
restart fence interrupts what an earlier boot left live and replays nothing.
"""

from __future__ import annotations

import msgspec

from standfast.domain.change import Context, Event, Put
from standfast.domain.errors import Refusal
from standfast.domain.plan import EXECUTION, Execution, Plan, aggregate


def queued(plan: Plan, ctx: Context) -> Execution:
    """A new execution of an approved plan."""
    return Execution(
        id=ctx.new_id("exe"),
        plan_id=plan.id,
        session_id=plan.session_id,
        status=EXECUTION.initial,
        turn_id=None,
        claimed_by=None,
        boot=ctx.boot,
        created_at=ctx.now,
        claimed_at=None,
        ended_at=None,
    )


def _event(kind: str, before: Execution, after: Execution, **data: object) -> Event:
    facts: dict[str, object] = {"execution": after.id, "plan": after.plan_id, "status": after.status, **data}
    return Event(kind, aggregate(after.plan_id), after.session_id, facts, (Put(before, after),))


def claimed(live: Execution, point: str, turn_id: str | None, ctx: Context) -> Event:
    """The claim of a queued execution; a second explicit claim is `conflict`."""
    if live.status != "queued":
        raise Refusal(
            "conflict",
            f"The execution is {live.status}; its instruction was handed out once and is not given again.",
            execution=live.id,
            status=live.status,
        )
    status = EXECUTION.step(live.status, "claim", f"execution {live.id}")
    after = msgspec.structs.replace(live, status=status, turn_id=turn_id, claimed_by=point, claimed_at=ctx.now)
    return _event("execution.claimed", live, after, point=point)


def interrupted(live: Execution, why: str, ctx: Context) -> tuple[Event, ...]:
    """The end of a live execution that did not complete; an ended one stays as it is."""
    if EXECUTION.final(live.status):
        return ()
    status = EXECUTION.step(live.status, "interrupt", f"execution {live.id}")
    after = msgspec.structs.replace(live, status=status, ended_at=ctx.now)
    return (_event("execution.interrupted", live, after, why=why),)


def finished(live: Execution, stop_reason: str, ctx: Context) -> tuple[Event, ...]:
    """What the end of its turn makes of a running execution."""
    if stop_reason != "completed":
        return interrupted(live, f"turn {stop_reason}", ctx)
    status = EXECUTION.step(live.status, "complete", f"execution {live.id}")
    after = msgspec.structs.replace(live, status=status, ended_at=ctx.now)
    return (_event("execution.completed", live, after),)
