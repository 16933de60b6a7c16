"""Loading what a session's plan looks like: tracker, checklist, uncertainty, and the standing for views."""

from __future__ import annotations

from standfast.domain import views
from standfast.domain.naming import Known
from standfast.domain.plan import OPEN_TRACKER, Execution, Plan, Tracker
from standfast.domain.session import Session, Turn
from standfast.domain.ticking import Scene
from standfast.domain.tracker import uncertain_positions
from standfast.host.sweep import as_seen
from standfast.host.todo_scenes import lists_of
from standfast.host.work import Work


def known_plans(work: Work, session: Session) -> tuple[Known, ...]:
    """All plans with a tracker in this session, oldest first."""
    return tuple(
        Known(_plan(work, tracker.plan_id), tracker)
        for tracker in work.tx.find(Tracker, "trackers_of_session", session=session.id)
    )


def _plan(work: Work, plan_id: str) -> Plan:
    plan = work.tx.get(Plan, plan_id)
    assert plan is not None, f"the tracker's plan {plan_id} exists"
    return plan


def scene_of(work: Work, session: Session, plan: Plan, tracker: Tracker, turn_id: str | None = None) -> Scene:
    """One plan and its tracker as a scene."""
    checklist = work.text(plan.id).checklist
    failed = frozenset(turn for turn in set(tracker.begun.values()) if turn and _failed(work, turn))
    return Scene(
        session=session,
        plan=plan,
        checklist=checklist,
        tracker=tracker,
        uncertain=uncertain_positions(checklist, tracker.begun, failed),
        policy=work.settings(session.project_id).text("plan.evidence"),
        turn_id=turn_id,
    )


def _failed(work: Work, turn_id: str) -> bool:
    turn = work.tx.get(Turn, turn_id)
    return turn is not None and turn.status == "ended" and turn.stop_reason != "completed"


def current_scene(work: Work, session: Session) -> Scene | None:
    """The tracked plan on the selected branch, or None."""
    tracker = work.tx.first(Tracker, "tracker_open", session=session.id)
    if tracker is None or not tracker.on_branch:
        return None
    return scene_of(work, session, _plan(work, tracker.plan_id), tracker)


def standing_of(work: Work, session: Session) -> views.Standing:
    """Everything that a marker or a resume view of the session is made of."""
    tracker = work.tx.first(Tracker, "tracker_open", session=session.id)
    scene = None
    off_branch: tuple[Plan, ...] = ()
    if tracker is not None:
        plan = _plan(work, tracker.plan_id)
        if tracker.on_branch:
            scene = scene_of(work, session, plan, tracker)
        else:
            off_branch = (plan,)
    found = work.tx.find(Plan, "plans_of_session", session=session.id, most=8)
    newest = [as_seen(plan, work.ctx) for plan in found]
    pending = next((plan for plan in newest if plan.status == "pending"), None)
    ended = tuple(plan for plan in newest if plan.status in ("rejected", "expired", "interrupted"))
    execution = None
    if scene is not None:
        execution = work.tx.first(Execution, "execution_latest", plan=scene.plan.id)
    return views.Standing(
        session=session,
        pending=pending,
        scene=scene if scene is not None and scene.tracker.status in OPEN_TRACKER else None,
        execution=execution,
        off_branch=off_branch,
        inactive=ended,
        todos=lists_of(work, session),
        todos_shown=work.settings(session.project_id).number("todo.view_items"),
    )
