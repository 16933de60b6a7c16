"""Trackers and ticks: how far an approved checklist has come, on the selected branch.

Ticks are append-only facts; a tracker's `states` is their fold over the branch that is selected, one letter
per task. A single step (`advance`) is used both for the next tick and for folding a history, so the two
cannot differ. Done is a claim: evidence and human gates make a tick wait for a person where the plan says so.

A task that cannot be undone is announced by a begin. Begun, not ticked, and its turn did not end completed:
then nobody knows whether it happened; it is *uncertain*, is never offered as the next action, and only a
person resolves it.

Not here: resolving a title or an id to a task (`naming`), evidence rules (`evidence`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from standfast.domain.change import Context, Event, Put, Row
from standfast.domain.checklist import Checklist, PlanTask, carries_over
from standfast.domain.errors import Refusal
from standfast.domain.plan import TRACKER, Plan, PlanText, Tracker, aggregate
from standfast.domain.session import Session

OPEN, BEGUN, AWAITING, DONE = "o", "b", "a", "d"
LETTERS: Final = {OPEN: "open", BEGUN: "begun", AWAITING: "awaiting_confirmation", DONE: "done"}
ACTIONS: Final[dict[str, str]] = {
    "begin": BEGUN,
    "tick": DONE,
    "await": AWAITING,
    "confirm": DONE,
    "untick": OPEN,
    "resolve_done": DONE,
    "resolve_open": OPEN,
    "carry": DONE,
}


class Tick(Row, frozen=True):
    """One append-only fact about a task. `n` orders the ticks of a plan in a session, from 1.

    `entry` is the branch entry at which it happened, None where the client has no tree. `source` names the
    plan task that a carry-over came from.
    """

    id: str
    plan_id: str
    session_id: str
    n: int
    position: int
    action: str
    entry: str | None
    turn_id: str | None
    actor: str
    note: str | None
    source: str | None
    at: int


class Evidence(Row, frozen=True):
    """What supports a tick. `vouched_by` is `agent`, `person` or `host`."""

    id: str
    tick_id: str
    kind: str
    value: str
    vouched_by: str
    at: int


def initial(checklist: Checklist) -> str:
    """The states of a checklist on which nothing has happened."""
    return OPEN * len(checklist.tasks)


def advance(
    states: str, begun: Mapping[str, str], position: int, action: str, turn_id: str | None
) -> tuple[str, dict[str, str]]:
    """States and begun turns after one tick of the task at `position` (from 1)."""
    key = str(position)
    after = {name: turn for name, turn in begun.items() if name != key}
    if action == "begin":
        after[key] = turn_id or ""
    return states[: position - 1] + ACTIONS[action] + states[position:], after


def fold(checklist: Checklist, ticks: Iterable[Tick]) -> tuple[str, dict[str, str]]:
    """States and begun turns after `ticks`, which are those visible on the branch, in order."""
    letters = list(initial(checklist))
    begun: dict[str, str] = {}
    for tick in ticks:
        letters[tick.position - 1] = ACTIONS[tick.action]
        begun.pop(str(tick.position), None)
        if tick.action == "begin":
            begun[str(tick.position)] = tick.turn_id or ""
    return "".join(letters), begun


def opened(
    plan: Plan,
    checklist: Checklist,
    session: Session,
    carried: tuple[tuple[int, str], ...],
    ctx: Context,
) -> tuple[Tracker, tuple[Event, ...]]:
    """The tracker of a plan just approved, and one event per task carried over as done."""
    tracker = Tracker(
        plan_id=plan.id,
        session_id=session.id,
        status=TRACKER.initial,
        entry=session.leaf_entry,
        on_branch=True,
        states=initial(checklist),
        begun={},
        ticks=0,
        created_at=ctx.now,
        updated_at=ctx.now,
    )
    empty = tracker
    events: list[Event] = []
    for position, source in carried:
        tick = new_tick(tracker, position, "carry", session.leaf_entry, ctx, source=source)
        tracker, event = moved(tracker, tick, checklist, ctx)
        events.append(event)
    return empty, tuple(events)


def new_tick(
    tracker: Tracker,
    position: int,
    action: str,
    entry: str | None,
    ctx: Context,
    *,
    turn_id: str | None = None,
    note: str | None = None,
    source: str | None = None,
) -> Tick:
    """The next tick of a tracker."""
    return Tick(
        id=ctx.new_id("tck"),
        plan_id=tracker.plan_id,
        session_id=tracker.session_id,
        n=tracker.ticks + 1,
        position=position,
        action=action,
        entry=entry,
        turn_id=turn_id,
        actor=ctx.actor.key,
        note=note,
        source=source,
        at=ctx.now,
    )


def moved(
    tracker: Tracker, tick: Tick, checklist: Checklist, ctx: Context, evidence: tuple[Evidence, ...] = ()
) -> tuple[Tracker, Event]:
    """The tracker after `tick`: states, and `complete` or `active` as the states now say."""
    states, begun = advance(tracker.states, tracker.begun, tick.position, tick.action, tick.turn_id)
    after = msgspec.structs.replace(
        tracker,
        states=states,
        begun=begun,
        ticks=tick.n,
        status=status_for(tracker.status, states),
        updated_at=ctx.now,
    )
    data: dict[str, object] = {
        "plan": tracker.plan_id,
        "position": tick.position,
        "state": LETTERS[ACTIONS[tick.action]],
    }
    puts = (Put(None, tick), *(Put(None, item) for item in evidence), Put(tracker, after))
    return after, Event(f"task.{tick.action}", aggregate(tracker.plan_id), tracker.session_id, data, puts)


def status_for(status: str, states: str) -> str:
    """`complete` when every task is done, back to `active` when one is not; final states stay."""
    if TRACKER.final(status) or not states:
        return status
    if status == "active" and states == DONE * len(states):
        return TRACKER.step(status, "complete", "the tracker")
    if status == "complete" and states != DONE * len(states):
        return TRACKER.step(status, "reopen", "the tracker")
    return status


def closed(tracker: Tracker, action: str, ctx: Context) -> Event:
    """The tracker superseded or abandoned; final, on all branches. Its ticks stay."""
    status = TRACKER.step(tracker.status, action, "the tracker")
    after = msgspec.structs.replace(tracker, status=status, updated_at=ctx.now)
    data: dict[str, object] = {"plan": tracker.plan_id, "status": status}
    return Event(f"tracker.{status}", aggregate(tracker.plan_id), tracker.session_id, data, (Put(tracker, after),))


def refolded(tracker: Tracker, states: str, begun: dict[str, str], on_branch: bool, ctx: Context) -> Event | None:
    """The tracker as another branch has it, or None where that changes nothing."""
    if (tracker.states, tracker.begun, tracker.on_branch) == (states, begun, on_branch):
        return None
    after = msgspec.structs.replace(
        tracker,
        states=states,
        begun=begun,
        on_branch=on_branch,
        status=status_for(tracker.status, states),
        updated_at=ctx.now,
    )
    data: dict[str, object] = {"plan": tracker.plan_id, "on_branch": on_branch}
    return Event("tracker.refolded", aggregate(tracker.plan_id), tracker.session_id, data, (Put(tracker, after),))


def completed_without_tasks(tracker: Tracker, ctx: Context) -> tuple[Event, ...]:
    """A tracker without tasks is complete when its execution ended completed."""
    if tracker.states or tracker.status != "active":
        return ()
    after = msgspec.structs.replace(
        tracker, status=TRACKER.step(tracker.status, "complete", "the tracker"), updated_at=ctx.now
    )
    data: dict[str, object] = {"plan": tracker.plan_id, "status": after.status}
    put = Put(tracker, after)
    return (Event("tracker.complete", aggregate(tracker.plan_id), tracker.session_id, data, (put,)),)


class Progress(msgspec.Struct, frozen=True):
    """Where a checklist stands: counts, and the next task to offer (None when none is left to offer)."""

    done: int
    total: int
    next: PlanTask | None
    begun: tuple[int, ...]
    awaiting: tuple[int, ...]
    uncertain: tuple[int, ...]


def progress(checklist: Checklist, states: str, uncertain: frozenset[int]) -> Progress:
    """Counts and next action. A task is offered when it is open or begun, certain, and what it waits for is
    done; a parent only after its children; where everything left is blocked, nothing is offered."""
    offered = next(
        (task for task in checklist.tasks if offerable(checklist, states, uncertain, task)),
        None,
    )
    return Progress(
        done=states.count(DONE),
        total=len(states),
        next=offered,
        begun=_where(states, BEGUN),
        awaiting=_where(states, AWAITING),
        uncertain=tuple(sorted(uncertain)),
    )


def offerable(checklist: Checklist, states: str, uncertain: frozenset[int], task: PlanTask) -> bool:
    """Whether a task may be named as the next action."""
    if states[task.position - 1] not in (OPEN, BEGUN) or task.position in uncertain:
        return False
    if any(states[other - 1] != DONE for other in task.after):
        return False
    if checklist.strict_order:
        return all(states[other.position - 1] == DONE for other in _before(checklist, task))
    return True


def _before(checklist: Checklist, task: PlanTask) -> tuple[PlanTask, ...]:
    return checklist.tasks[: task.position - 1]


def _where(states: str, letter: str) -> tuple[int, ...]:
    return tuple(index for index, state in enumerate(states, start=1) if state == letter)


def uncertain_positions(checklist: Checklist, begun: Mapping[str, str], failed_turns: frozenset[str]) -> frozenset[int]:
    """Irreversible tasks that were begun in a turn which ended, and not as `completed`."""
    return frozenset(
        int(position)
        for position, turn in begun.items()
        if turn in failed_turns and checklist.tasks[int(position) - 1].effect == "irreversible"
    )


class Carry(msgspec.Struct, frozen=True):
    """A task of a new plan that an older approved plan has already done."""

    position: int
    source: str
    preselected: bool


def carry_candidates(checklist: Checklist, older: tuple[tuple[Tracker, PlanText], ...]) -> tuple[Carry, ...]:
    """Tasks whose key and metadata are equal and whose older twin is done (never merely awaiting).

    Preselected where the task has neither a verifier nor a gate: those a person ticks on purpose.
    """
    done = {
        task.key: (track, text.checklist, task)
        for track, text in older
        if track.on_branch
        for task in text.checklist.tasks
        if track.states[task.position - 1] == DONE
    }
    found = []
    for task in checklist.tasks:
        track, old, twin = done.get(task.key, (None, None, None))
        if track is not None and old is not None and twin is not None and carries_over(old, twin, checklist, task):
            source = f"{track.plan_id}.{twin.position}"
            found.append(Carry(task.position, source, task.verify is None and task.gate is None))
    return tuple(found)


def chosen(
    checklist: Checklist, older: tuple[tuple[Tracker, PlanText], ...], wish: tuple[int, ...] | None
) -> tuple[tuple[int, str], ...]:
    """The carry-over of an approval: the preselected ones, or exactly the positions that `wish` names."""
    candidates = carry_candidates(checklist, older)
    if wish is None:
        return tuple((item.position, item.source) for item in candidates if item.preselected)
    possible = {item.position: item.source for item in candidates}
    unknown = sorted(set(wish) - set(possible))
    if unknown:
        raise Refusal(
            "invalid",
            f"These tasks cannot be carried over: {unknown}; possible: {sorted(possible)}.",
            field="carry",
        )
    return tuple((position, possible[position]) for position in sorted(set(wish)))
