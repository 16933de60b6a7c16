"""`plan.attach`: a plan goes on in another session, because people clear the context between steps.

A person may attach any; an agent the one whose approved bytes its session began with.
"""

from __future__ import annotations

from typing import Final

import msgspec

from standfast.domain import execution, tracker
from standfast.domain.change import Change, Event, Put
from standfast.domain.errors import Refusal
from standfast.domain.plan import OPEN_TRACKER, Execution, Plan, Tracker
from standfast.domain.session import Session
from standfast.domain.tracker import Tick
from standfast.host.branches import copied
from standfast.host.operation import Input
from standfast.host.todo_scenes import inherited
from standfast.host.work import Work

ATTACHABLE: Final = 50
"""Plans of a project that a prompt is compared with, the newest ones."""


class AttachPlan(Input, frozen=True):
    """Moves a plan's tracker, and the todos beside it, to another session of the same project.

    An agent proves its right with `first_prompt`, which holds the approved bytes exactly, but for white space
    around them. Without a plan the one
    that the prompt holds is meant.
    """

    plan: str | None = None
    session: str | None = None
    first_prompt: str | None = None


def attach(work: Work, command: AttachPlan) -> Change:
    """Tracker and undelivered execution go to the session, as one writer, by one event."""
    target = work.open_session(command.session)
    plan = _held(work, target, command.first_prompt) if command.plan is None else work.plan(command.plan, own=False)
    if plan.status != "approved":
        raise Refusal("invalid_action", f"{plan.ref} is {plan.status}; only an approved plan is attached.")
    if work.actor.role != "operator":
        _proved(work, plan, command.first_prompt)
    if target.project_id != plan.project_id:
        raise Refusal("wrong_session", f"{plan.ref} belongs to another project than session {target.id}.")
    answer = {"plan": plan.id, "number": plan.ref, "session": target.id}
    open_tracks = [
        track for track in work.tx.find(Tracker, "trackers_of_plan", plan=plan.id) if track.status in OPEN_TRACKER
    ]
    if any(track.session_id == target.id for track in open_tracks):
        return Change(answer | {"already": True})
    source = next((track for track in open_tracks if track.session_id == plan.session_id), None) or next(
        iter(open_tracks), None
    )
    if source is None:
        raise Refusal("no_active_plan", f"{plan.ref} has no active tracker to attach.")
    return Change(answer | {"already": False}, _moved(work, plan, source, target))


def _held(work: Work, target: Session, first_prompt: str | None) -> Plan:
    """The newest approved plan of the project that is being worked on and stands in the prompt as it was approved."""
    found = work.tx.find(Plan, "plans_worked_on", project=target.project_id or "", most=ATTACHABLE)
    held = (plan for plan in found if first_prompt and _text(work, plan) in first_prompt)
    plan = next(held, None)
    if plan is None:
        raise Refusal("not_found", "The prompt holds no approved plan of this project that is being worked on.")
    return plan


def _text(work: Work, plan: Plan) -> str:
    return work.text(plan.id).markdown.decode("utf-8").strip()


def _proved(work: Work, plan: Plan, first_prompt: str | None) -> None:
    if first_prompt is None or _text(work, plan) not in first_prompt:
        raise Refusal("forbidden", f"Only a session whose first prompt holds {plan.ref} exactly may attach it.")


def _moved(work: Work, plan: Plan, source: Tracker, target: Session) -> tuple[Event, ...]:
    events: tuple[Event, ...] = ()
    other = work.tx.first(Tracker, "tracker_open", session=target.id)
    if other is not None:
        events += (tracker.closed(other, "supersede", work.ctx),)
    ticks = work.tx.find(Tick, "ticks_of_tracker", session=source.session_id, plan=plan.id)
    event = copied(
        work,
        msgspec.structs.replace(source, entry=target.leaf_entry),
        [msgspec.structs.replace(tick, entry=target.leaf_entry) for tick in ticks],
        target.id,
        "tracker.attached",
    )
    puts: list[Put] = [Put(source, None), *event.puts]
    live = work.tx.first(Execution, "execution_live", session=source.session_id)
    if live is not None and live.plan_id == plan.id and live.status == "queued":
        busy = work.tx.first(Execution, "execution_live", session=target.id)
        events += () if busy is None else execution.interrupted(busy, "superseded", work.ctx)
        puts.append(Put(live, msgspec.structs.replace(live, session_id=target.id)))
    origin = work.tx.get(Session, source.session_id)
    assert origin is not None, "a tracker has a session"
    return (*events, msgspec.structs.replace(event, puts=tuple(puts)), *inherited(work, origin, target))
