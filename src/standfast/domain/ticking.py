"""Begin, tick, untick, confirm, resolve: what is asked of one task, and what becomes of it.

The order of the checks is the order of the sentences in the refusals: mode, what was already answered,
uncertainty, gates and order, begin, evidence. Everything here is about one task that was already resolved.

Not here: which task was meant (`naming`), the fold (`tracker`).
"""

from __future__ import annotations

import msgspec

from standfast.domain import evidence, tracker
from standfast.domain.change import Change, Context
from standfast.domain.checklist import Checklist, PlanTask
from standfast.domain.errors import Refusal
from standfast.domain.plan import Plan, Tracker
from standfast.domain.session import Session
from standfast.domain.text import escape_title
from standfast.domain.tracker import AWAITING, BEGUN, DONE, LETTERS, OPEN


class Scene(msgspec.Struct, frozen=True, kw_only=True):
    """What a tick is judged by: the session, the plan that is tracked, its checklist and its tracker."""

    session: Session
    plan: Plan
    checklist: Checklist
    tracker: Tracker
    uncertain: frozenset[int] = frozenset()
    policy: str = "none"
    turn_id: str | None = None

    def state(self, task: PlanTask) -> str:
        """The letter of a task on the selected branch."""
        return self.tracker.states[task.position - 1]

    def id(self, task: PlanTask) -> str:
        """The id of a task, `P-3.4`."""
        return f"{self.plan.ref}.{task.position}"


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """What is said about a task beside its name."""

    note: str | None = None
    reason: str | None = None
    evidence: tuple[evidence.Item, ...] = ()


def begin(scene: Scene, task: PlanTask, ctx: Context) -> Change:
    """Records the intent before the work; beginning again is answered as already begun."""
    _not_in_plan_mode(scene, ctx)
    state = scene.state(task)
    if state in (DONE, AWAITING):
        return Change(_answer(scene, task, already=True))
    _certain(scene, task)
    _gates(scene, task)
    _strict(scene, task)
    if state == BEGUN and scene.tracker.begun.get(str(task.position)) == (scene.turn_id or ""):
        return Change(_answer(scene, task, already=True))
    return _record(scene, task, "begin", Claim(), ctx)


def tick(scene: Scene, task: PlanTask, claim: Claim, ctx: Context) -> Change:
    """Claims a task done. The result says what is next and what it overtook."""
    _not_in_plan_mode(scene, ctx)
    items = evidence.checked(claim.evidence, ctx.actor.role)
    if scene.state(task) in (DONE, AWAITING):
        return Change(_answer(scene, task, already=True))
    _certain(scene, task)
    _gates(scene, task)
    _strict(scene, task)
    if task.effect == "irreversible" and scene.state(task) != BEGUN:
        raise Refusal(
            "begin_required",
            f"{scene.id(task)} cannot be undone: begin it before the work, tick it after.",
            task=scene.id(task),
        )
    lacking = evidence.missing(task, (scene.plan.evidence, scene.policy), items)
    waits = lacking == "human" or (task.gate == "human" and ctx.actor.role != "operator")
    return _record(scene, task, "await" if waits else "tick", claim, ctx)


def untick(scene: Scene, task: PlanTask, claim: Claim, ctx: Context) -> Change:
    """Takes a done or awaiting claim back; an agent gives a reason. Reopens a complete tracker."""
    _not_in_plan_mode(scene, ctx)
    if ctx.actor.role != "operator" and not (claim.reason or "").strip():
        raise Refusal("invalid", "Say why in `reason` when you take a tick back.", field="reason")
    if scene.state(task) not in (DONE, AWAITING):
        return Change(_answer(scene, task, already=True))
    return _record(scene, task, "untick", Claim(note=claim.reason), ctx)


def confirm(scene: Scene, task: PlanTask, claim: Claim, ctx: Context) -> Change:
    """A person's yes to a task that waits for it."""
    if scene.state(task) == DONE:
        return Change(_answer(scene, task, already=True))
    if scene.state(task) != AWAITING:
        state = LETTERS[scene.state(task)]
        raise Refusal("invalid_action", f"{scene.id(task)} is {state}; only what awaits confirmation is confirmed.")
    items = (*claim.evidence, evidence.Item("human", claim.note or "confirmed"))
    return _record(scene, task, "confirm", Claim(note=claim.note, evidence=items), ctx)


def resolve(scene: Scene, task: PlanTask, outcome: str, claim: Claim, ctx: Context) -> Change:
    """A person's word on a task whose outcome nobody knows: `done` or `open`."""
    if outcome not in ("done", "open"):
        raise Refusal("invalid", "outcome is `done` or `open`.", field="outcome")
    if task.position not in scene.uncertain:
        if LETTERS[scene.state(task)] == outcome:
            return Change(_answer(scene, task, already=True))
        raise Refusal("invalid_action", f"{scene.id(task)} is not uncertain; tick or untick it instead.")
    return _record(scene, task, f"resolve_{outcome}", claim, ctx)


def _record(scene: Scene, task: PlanTask, action: str, claim: Claim, ctx: Context) -> Change:
    made = tracker.new_tick(
        scene.tracker,
        task.position,
        action,
        scene.session.leaf_entry,
        ctx,
        turn_id=scene.turn_id,
        note=claim.note,
    )
    rows = evidence.recorded(claim.evidence, made, ctx)
    after, event = tracker.moved(scene.tracker, made, scene.checklist, ctx, rows)
    overtaken = _earlier(scene, task, (OPEN, BEGUN)) if action in ("tick", "await", "begin") else ()
    now = msgspec.structs.replace(scene, tracker=after, uncertain=scene.uncertain - {task.position})
    return Change(_answer(now, task, already=False, overtaken=overtaken), (event,))


def _answer(scene: Scene, task: PlanTask, *, already: bool, overtaken: tuple[int, ...] = ()) -> dict[str, object]:
    where = tracker.progress(scene.checklist, scene.tracker.states, scene.uncertain)
    return {
        "task": scene.id(task),
        "state": state_word(scene, task),
        "already": already,
        "done": where.done,
        "total": where.total,
        "next": None if where.next is None else scene.id(where.next),
        "out_of_order": [f"{scene.plan.ref}.{position}" for position in overtaken],
        "tracker": scene.tracker.status,
        "text": line(scene, task, where, already, overtaken),
    }


def state_word(scene: Scene, task: PlanTask) -> str:
    """A task's state as it is shown: `ambiguous` where its outcome is unknown."""
    return "ambiguous" if task.position in scene.uncertain else LETTERS[scene.state(task)]


def line(scene: Scene, task: PlanTask, where: tracker.Progress, already: bool, overtaken: tuple[int, ...]) -> str:
    """The one short line that a model gets for a tick, e.g. `3/5 · next P-3.4 Check rollback`."""
    parts = [f"{where.done}/{where.total}"]
    if already:
        parts.append(f"already {state_word(scene, task).replace('_', ' ')}")
    elif scene.state(task) == AWAITING:
        parts.append("waits for a person")
    if overtaken:
        parts.append("before " + ", ".join(f"{scene.plan.ref}.{position}" for position in overtaken[:3]))
    if where.next is not None:
        parts.append(f"next {scene.id(where.next)} {escape_title(where.next.normalised)}")
    elif where.done == where.total:
        parts.append("all done")
    elif where.awaiting or where.uncertain:
        parts.append("the rest waits for a person")
    return " · ".join(parts)


def _not_in_plan_mode(scene: Scene, ctx: Context) -> None:
    """Plan mode binds the agent; a person may correct what is recorded at any time."""
    if scene.session.mode == "plan" and ctx.actor.role != "operator":
        raise Refusal("tool_denied_in_plan", "Plan mode: ticks wait until the new plan has its verdict.")


def _certain(scene: Scene, task: PlanTask) -> None:
    if task.position in scene.uncertain:
        raise Refusal(
            "task_uncertain",
            f"{scene.id(task)} was begun, cannot be undone, and nobody knows whether it happened. "
            "A person resolves it; go on with another task or ask.",
            task=scene.id(task),
        )


def _gates(scene: Scene, task: PlanTask) -> None:
    closed = [
        scene.id(other)
        for other in (scene.checklist.tasks[position - 1] for position in task.after)
        if other.gate == "human" and scene.state(other) != DONE
    ]
    if closed:
        raise Refusal(
            "out_of_order",
            f"{scene.id(task)} waits for a person's confirmation of {', '.join(closed)}.",
            waits_for=closed,
        )


def _strict(scene: Scene, task: PlanTask) -> None:
    earlier = _earlier(scene, task, (OPEN, BEGUN, AWAITING))
    if scene.checklist.strict_order and earlier:
        ids = [f"{scene.plan.ref}.{position}" for position in earlier]
        raise Refusal(
            "out_of_order",
            f"This plan's order is strict; first: {', '.join(ids[:5])}.",
            waits_for=ids,
        )


def _earlier(scene: Scene, task: PlanTask, letters: tuple[str, ...]) -> tuple[int, ...]:
    """Positions that come before a task, by the list or by `After:`, and are in one of these states."""
    states = scene.tracker.states
    earlier = {other.position for other in scene.checklist.tasks[: task.position - 1]} | set(task.after)
    return tuple(position for position in sorted(earlier) if states[position - 1] in letters)
