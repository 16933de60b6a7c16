"""What is due is done before anything is looked at: proposals past their deadline expire.

The sweep runs at the start of every write, in its transaction, before a write's preparation looks at anything,
and from a loop for the quiet hours. Reading
never shows an expired proposal as pending either: readers judge by the same clock (`as_seen`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from standfast.domain import verdict
from standfast.domain.change import Change, Context
from standfast.domain.plan import Plan

if TYPE_CHECKING:
    from standfast.store.tx import Tx


def sweep(tx: Tx, ctx: Context) -> tuple[Change, ...]:
    """The expiries that are due now, as changes to append."""
    due = (verdict.expire(plan, ctx) for plan in tx.find(Plan, "plans_due", now=ctx.now))
    events = tuple(event for event in due if event is not None)
    return (Change({}, events),) if events else ()


def overdue(tx: Tx) -> bool:
    """Whether the next write will find something to do."""
    next_due = tx.number("plans_next_due")
    return 0 < next_due <= tx.now()


def as_seen(plan: Plan, ctx: Context) -> Plan:
    """A plan as a reader sees it: a proposal past its deadline is expired before it is swept."""
    event = verdict.expire(plan, ctx)
    after = event.puts[0].after if event is not None else plan
    assert isinstance(after, Plan), "an expiry writes its plan first"
    return after
