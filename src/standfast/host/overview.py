"""What every session is doing and what it waits for, read at once; and finding plans and sessions by words.

A list of a thousand sessions is a handful of queries, not one per session. Which task comes next is read only
where somebody works on it, because a checklist is as large as its plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypeVar

from standfast.domain import tracker
from standfast.domain.change import Change
from standfast.domain.checklist import PlanTask
from standfast.domain.errors import Refusal
from standfast.domain.plan import Execution, Plan, Tracker, parse_ref
from standfast.domain.session import Project, Session, Turn
from standfast.domain.ticking import Scene
from standfast.domain.tracker import AWAITING, BEGUN, OPEN, Tick
from standfast.host import sessions
from standfast.host.contexts import view
from standfast.host.operation import Input
from standfast.host.scenes import scene_of
from standfast.host.sweep import as_seen
from standfast.host.work import Work

MOST: Final = 1_000
WORKING_SHOWN: Final = 64
"""Sessions whose next task is read: as many checklists as the host keeps in memory."""
FOUND: Final = 100
ENDED: Final = ("expired", "interrupted")
Owned = TypeVar("Owned", Turn, Tracker, Execution, Plan)


class Overview(Input, frozen=True):
    """The sessions with the newest change; `limit` 1 to 1,000."""

    limit: int = 200


def overview(work: Work, command: Overview) -> Change:
    """Sessions with activity, plan and what they wait for; `projects` maps an id to what worktrees share."""
    if not 1 <= command.limit <= MOST:
        raise Refusal("limit", f"limit is 1 to {MOST}.", field="limit", limit=MOST)
    found = work.tx.find(Session, "sessions_recent", most=command.limit)
    rows = Rows(work, command.limit)
    shown = [rows.view(session) for session in found]
    known = {session.project_id for session in found if session.project_id is not None}
    projects = {row.id: row.identity for name in sorted(known) if (row := work.tx.get(Project, name))}
    older = _waiting_elsewhere(work, {session.id for session in found})
    return Change({"sessions": [*shown, *older], "projects": projects, "now": work.ctx.now})


def _waiting_elsewhere(work: Work, listed: set[str]) -> list[dict[str, object]]:
    """Sessions that are not among the newest and whose plan waits: what waits is never left out."""
    pending = work.tx.find(Plan, "plans_recent_with_status", status="pending", most=MOST)
    found = []
    for plan in pending:
        session = None if plan.session_id in listed else work.tx.get(Session, plan.session_id)
        if session is not None:
            found.append(Rows(work, 0, (plan,)).view(session))
    return found


class Rows:
    """The rows that belong to the newest sessions, by session."""

    def __init__(self, work: Work, most: int, newest: Iterable[Plan] | None = None) -> None:
        self._work: Final = work
        self._turns: Final = _by_session(work.tx.find(Turn, "turns_active_of_recent", most=most))
        self._tracks: Final = _by_session(work.tx.find(Tracker, "trackers_open_of_recent", most=most))
        self._runs: Final = _by_session(work.tx.find(Execution, "executions_live_of_recent", most=most))
        tracked = work.tx.find(Plan, "plans_tracked_of_recent", most=most)
        self._plans: Final = {plan.id: plan for plan in tracked}
        newest = work.tx.find(Plan, "plans_newest_of_recent", most=most) if newest is None else newest
        self._newest: Final = _by_session(as_seen(plan, work.ctx) for plan in newest)
        self._left = WORKING_SHOWN

    def view(self, session: Session) -> dict[str, object]:
        """A session with its activity, its plan's progress and what it waits for.

        `activity` is a word and a time: since when it waits, or its last sign of life.
        """
        track = self._tracks.get(session.id)
        newest = self._newest.get(session.id)
        scene = self._scene(session, track)
        plan = newest if track is None or (newest and newest.status == "pending") else self._plans[track.plan_id]
        state, since = self._activity(session, track, newest)
        waits = [*self._verdict(newest), *self._confirmations(track), *_uncertain(scene)]
        return sessions.view(session) | {
            "activity": {"state": state, "since": since},
            "plan": None if plan is None else _plan(plan, track if track and track.plan_id == plan.id else None),
            "next": _next(scene),
            "waits": waits,
        }

    def _scene(self, session: Session, track: Tracker | None) -> Scene | None:
        """The tracked plan where somebody works on it, or where something was begun."""
        if track is None or track.status != "active" or not track.on_branch or self._left == 0:
            return None
        if session.id not in self._turns and session.id not in self._runs and not track.begun:
            return None
        self._left -= 1
        return scene_of(self._work, session, self._plans[track.plan_id], track)

    def _activity(self, session: Session, track: Tracker | None, newest: Plan | None) -> tuple[str, int]:
        turn, run = self._turns.get(session.id), self._runs.get(session.id)
        if session.status == "closed":
            return "closed", session.updated_at
        if newest is not None and newest.status == "pending":
            return "waiting", newest.created_at
        if run is not None and run.status == "queued":
            return "approved", run.created_at
        if track is not None and AWAITING in track.states and not set(track.states) & {OPEN, BEGUN}:
            return "held", track.updated_at
        if turn is not None and turn.source != "connection":
            began = "planning" if session.mode == "plan" else "working"
            return began, max(turn.started_at, track.updated_at if track else 0)
        if turn is not None and run is not None and track is not None and track.status == "active":
            return "working", max(run.created_at, track.updated_at)
        last = max(session.updated_at, track.updated_at if track else 0, newest.created_at if newest else 0)
        return ("connected" if turn is not None else "idle"), last

    def _verdict(self, newest: Plan | None) -> list[dict[str, object]]:
        """A pending plan, or one that ended without a verdict and can be offered again."""
        if newest is None or newest.status not in ("pending", *ENDED):
            return []
        kind = "verdict" if newest.status == "pending" else "reoffer"
        since = newest.created_at if kind == "verdict" else newest.resolved_at or newest.expires_at
        return [_wait(kind, newest, since) | {"question": newest.question, "expires_at": newest.expires_at}]

    def _confirmations(self, track: Tracker | None) -> list[dict[str, object]]:
        """Tasks that a person must confirm."""
        if track is None or AWAITING not in track.states:
            return []
        plan = self._plans[track.plan_id]
        positions = [n for n, state in enumerate(track.states, 1) if state == AWAITING][:20]
        tasks = self._work.text(plan.id).checklist.tasks
        return [_wait("confirmation", plan, self._awaited(track, n), tasks[n - 1]) for n in positions]

    def _awaited(self, track: Tracker, position: int) -> int:
        params: dict[str, str | int] = {"session": track.session_id, "plan": track.plan_id, "position": position}
        newest = self._work.tx.first(Tick, "ticks_of_task", **params)
        return track.updated_at if newest is None else newest.at


def _by_session(rows: Iterable[Owned]) -> dict[str, Owned]:
    return {row.session_id: row for row in rows}


def _plan(plan: Plan, track: Tracker | None) -> dict[str, object]:
    return {
        "plan": plan.id,
        "number": plan.ref,
        "title": plan.title,
        "status": plan.status,
        "error_code": plan.error_code,
        "tasks": plan.tasks,
        "done": 0 if track is None else track.states.count(tracker.DONE),
        "tracker": None if track is None else track.status,
        "on_branch": True if track is None else track.on_branch,
    }


def _next(scene: Scene | None) -> dict[str, object] | None:
    if scene is None:
        return None
    task = tracker.progress(scene.checklist, scene.tracker.states, scene.uncertain).next
    return None if task is None else {"task": scene.id(task), "title": task.normalised}


def _uncertain(scene: Scene | None) -> list[dict[str, object]]:
    """Tasks that cannot be undone and of which nobody knows whether they happened."""
    if scene is None:
        return []
    tasks = [scene.checklist.tasks[n - 1] for n in sorted(scene.uncertain)]
    return [_wait("outcome", scene.plan, scene.tracker.updated_at, task) for task in tasks]


def _wait(kind: str, plan: Plan, since: int, task: PlanTask | None = None) -> dict[str, object]:
    """`kind` is verdict, reoffer, confirmation or outcome; `since` is when it began, milliseconds."""
    named = {"plan": plan.id, "number": plan.ref, "title": plan.title, "tasks": plan.tasks}
    about = {"task": task and f"{plan.ref}.{task.position}", "task_title": task and task.normalised}
    return {"for": kind, "since": since, **named, **about}


class Search(Input, frozen=True):
    """Words that stand together in a plan's title, question, path or text, or in a session's names; 1 to 200
    characters. Case counts beyond ASCII. A plan's number or an id finds exactly that."""

    text: str
    limit: int = 50


def search(work: Work, command: Search) -> Change:
    """Plans and sessions, newest first, at most `limit` (1 to 100) of each."""
    text = command.text.strip()
    if not 0 < len(text) <= 200:
        raise Refusal("invalid", "text has 1 to 200 characters.", field="text")
    if not 1 <= command.limit <= FOUND:
        raise Refusal("limit", f"limit is 1 to {FOUND}.", field="limit", limit=FOUND)
    params: Mapping[str, str | int] = {"pattern": pattern(text), "most": command.limit}
    named = _named(work, text)
    plans = named or work.tx.find(Plan, "plans_found", **params)
    found = work.tx.find(Session, "sessions_found", text=text, **params)
    return Change({"plans": [view(work, plan) for plan in plans], "sessions": [sessions.view(row) for row in found]})


def _named(work: Work, text: str) -> list[Plan]:
    ref = parse_ref(text.upper())
    if ref is not None:
        return work.tx.find(Plan, "plans_by_number", number=ref[0])
    plan = work.tx.get(Plan, text)
    return [] if plan is None else [plan]


def pattern(text: str) -> str:
    """What LIKE compares with: the text anywhere, its own wildcards taken literally, ASCII in lower case."""
    lower = "".join(char.lower() if char.isascii() else char for char in text)
    return "%" + "".join(f"!{char}" if char in "!%_" else char for char in lower) + "%"
