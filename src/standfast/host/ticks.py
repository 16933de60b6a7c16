"""Begin, tick, untick, confirm, resolve and the task list, as operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from standfast.domain import naming, ticking, tracker
from standfast.domain.change import Change, Event
from standfast.domain.checklist import PlanTask
from standfast.domain.errors import Refusal
from standfast.domain.evidence import Item
from standfast.domain.plan import Plan, Tracker, parse_ref
from standfast.domain.session import Session
from standfast.domain.text import escape_title
from standfast.domain.ticking import Claim, Scene
from standfast.domain.tracker import Evidence, Tick
from standfast.host.operation import Input
from standfast.host.scenes import known_plans, scene_of
from standfast.host.turns import ensure_turn, opened_by
from standfast.host.work import Work

MAX_NOTE: Final = 2_000
PAGE_LIMIT: Final = 200


class TaskName(Input, frozen=True):
    """One task: exactly one of `id` (like P-3.4) and `title` (its exact text)."""

    id: str | None = None
    title: str | None = None
    session: str | None = None


class TickTask(TaskName, frozen=True):
    """A claim that a task is done, or with `undo` that it is not; `reason` says why it is undone."""

    note: str | None = None
    evidence: tuple[Item, ...] = ()
    undo: bool = False
    reason: str | None = None


class UntickTask(TaskName, frozen=True):
    """A tick taken back; an agent says why."""

    reason: str | None = None


class PlanTaskName(Input, frozen=True):
    """A task by its id alone, for a person; a number that several projects have needs the plan's id."""

    id: str
    plan: str | None = None
    session: str | None = None
    note: str | None = None


class ResolveTask(PlanTaskName, frozen=True):
    """A person's word on an uncertain task: `done` or `open`."""

    outcome: str = ""


def _located(work: Work, command: TaskName) -> tuple[Scene, PlanTask, tuple[Event, ...]]:
    name = naming.checked(naming.Name(command.id, command.title))
    session = work.open_session(command.session)
    known = naming.plan_of(name, known_plans(work, session))
    turn, events = ensure_turn(work, session)
    scene = scene_of(work, session, known.plan, known.tracker, turn.id if turn else None)
    return scene, naming.task_of(name, scene), events


def begin(work: Work, command: TaskName) -> Change:
    """Announces a task before its work."""
    scene, task, events = _located(work, command)
    return opened_by(events, ticking.begin(scene, task, work.ctx))


def tick(work: Work, command: TickTask) -> Change:
    """Claims a task done, or takes the claim back (`undo`)."""
    _note(command.note)
    _note(command.reason)
    scene, task, events = _located(work, command)
    claim = Claim(note=command.note, reason=command.reason, evidence=command.evidence)
    decide = ticking.untick if command.undo else ticking.tick
    return opened_by(events, decide(scene, task, claim, work.ctx))


def untick(work: Work, command: UntickTask) -> Change:
    """Takes a tick back."""
    _note(command.reason)
    scene, task, events = _located(work, command)
    return opened_by(events, ticking.untick(scene, task, Claim(reason=command.reason), work.ctx))


def confirm(work: Work, command: PlanTaskName) -> Change:
    """A person's yes to a task that awaits it."""
    return _by_person(work, command, lambda scene, task, claim: ticking.confirm(scene, task, claim, work.ctx))


def resolve(work: Work, command: ResolveTask) -> Change:
    """A person's word on a task whose outcome nobody knows."""
    return _by_person(
        work,
        command,
        lambda scene, task, claim: ticking.resolve(scene, task, command.outcome, claim, work.ctx),
    )


def _by_person(work: Work, command: PlanTaskName, decide: Callable[[Scene, PlanTask, Claim], Change]) -> Change:
    _note(command.note)
    ref = parse_ref(command.id)
    if ref is None or ref[1] is None:
        raise Refusal("invalid", "id names a task, like P-3.4.", field="id")
    plan = work.plan(command.plan or f"P-{ref[0]}")
    track = _tracker(work, plan, command.session)
    session = work.tx.get(Session, track.session_id)
    assert session is not None, "a tracker has a session"
    known = naming.Known(plan, track)
    naming.plan_of(naming.Name(id=command.id), (known,))
    turn = work.active_turn(session.id)
    scene = scene_of(work, session, plan, track, turn.id if turn else None)
    return decide(scene, naming.task_of(naming.Name(id=command.id), scene), Claim(note=command.note))


def _tracker(work: Work, plan: Plan, session: str | None) -> Tracker:
    tracks = work.tx.find(Tracker, "trackers_of_plan", plan=plan.id)
    mine = [track for track in tracks if session is None or track.session_id == session]
    original = [track for track in mine if track.session_id == plan.session_id]
    if len(mine) == 1 or original:
        return (original or mine)[0]
    if not mine:
        raise Refusal("no_active_plan", f"{plan.ref} is not tracked{' in this session' if session else ''}.")
    names = ", ".join(track.session_id for track in mine)
    raise Refusal("session_required", f"{plan.ref} is tracked in several sessions: {names}; name one.")


class ListTasks(Input, frozen=True):
    """The tracked plan's tasks, or those of `plan`; a page from `after` (a position), at most 200."""

    plan: str | None = None
    after: int = 0
    limit: int = PAGE_LIMIT
    session: str | None = None


def tasks(work: Work, command: ListTasks) -> Change:
    """Every task with its state, progress and next: the read-only way back after a loss of context."""
    if not 1 <= command.limit <= PAGE_LIMIT:
        raise Refusal("limit", f"limit is 1 to {PAGE_LIMIT}.", field="limit", limit=PAGE_LIMIT)
    scene = _scene_to_list(work, command)
    where = tracker.progress(scene.checklist, scene.tracker.states, scene.uncertain)
    page = scene.checklist.tasks[max(command.after, 0) : max(command.after, 0) + command.limit]
    following = page[-1].position if page and page[-1].position < where.total else None
    return Change(
        {
            "plan": scene.plan.id,
            "number": scene.plan.ref,
            "title": scene.plan.title,
            "tracker": scene.tracker.status,
            "done": where.done,
            "total": where.total,
            "next": None if where.next is None else scene.id(where.next),
            "tasks": [_listed(scene, task) for task in page],
            "more_after": following,
        }
    )


def _scene_to_list(work: Work, command: ListTasks) -> Scene:
    if command.plan is not None:
        plan = work.plan(command.plan, own=False)
        track = _tracker(work, plan, command.session or work.actor.session)
        session = work.session(track.session_id)
        return scene_of(work, session, plan, track)
    session = work.session(command.session)
    known = naming.plan_of(naming.Name(title="-"), known_plans(work, session))
    return scene_of(work, session, known.plan, known.tracker)


def _listed(scene: Scene, task: PlanTask) -> dict[str, object]:
    return {
        "id": scene.id(task),
        "title": task.title,
        "shown": escape_title(task.normalised),
        "state": ticking.state_word(scene, task),
        "parent": None if task.parent is None else f"{scene.plan.ref}.{task.parent}",
        "after": [f"{scene.plan.ref}.{position}" for position in task.after],
        "gate": task.gate,
        "effect": task.effect,
        "owner": scene.tracker.session_id,
    }


def tasks_text(result: Mapping[str, Any]) -> str:
    """The task list as one line each."""
    marks = {"done": "x", "open": " ", "begun": "~", "awaiting_confirmation": "?", "ambiguous": "!"}
    lines = [f"{result['number']} {result['done']}/{result['total']}"]
    if result["next"]:
        lines[0] += f" · next {result['next']}"
    lines += [f"[{marks[task['state']]}] {task['id']} {task['shown']}" for task in result["tasks"]]
    if result["more_after"]:
        lines.append(f"and {result['total'] - result['more_after']} more: after={result['more_after']}")
    return "\n".join(lines)


class ListTicks(Input, frozen=True):
    """The recorded ticks of a plan's tracker, oldest first, with their evidence."""

    plan: str
    session: str | None = None


def ticks(work: Work, command: ListTicks) -> Change:
    """The append-only record, at most 10,000 ticks."""
    plan = work.plan(command.plan, own=False)
    track = _tracker(work, plan, command.session or work.actor.session)
    found = work.tx.find(Tick, "ticks_of_tracker", session=track.session_id, plan=plan.id)[:10_000]
    return Change({"plan": plan.id, "number": plan.ref, "ticks": [_recorded(work, plan, item) for item in found]})


def _recorded(work: Work, plan: Plan, item: Tick) -> dict[str, object]:
    rows = work.tx.find(Evidence, "evidence_of_tick", tick=item.id)
    shown = msgspec.structs.asdict(item) | {"task": f"{plan.ref}.{item.position}"}
    shown["evidence"] = [{"kind": row.kind, "value": row.value, "vouched_by": row.vouched_by} for row in rows]
    return shown


def _note(text: str | None) -> None:
    if text is not None and len(text) > MAX_NOTE:
        raise Refusal("limit", f"A note or reason has at most {MAX_NOTE} characters.", limit=MAX_NOTE)
