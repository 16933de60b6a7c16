"""Which task was meant: an id or an exact title, or a refusal that says what would have matched.

Nothing is guessed: no case folding, no substring, no "latest". An id is judged first by the plan that it
names; a title is compared in the tracked plan only.
"""

from __future__ import annotations

from typing import Final

import msgspec

from standfast.domain.checklist import PlanTask, resolve_title
from standfast.domain.errors import Refusal
from standfast.domain.plan import OPEN_TRACKER, Plan, Tracker, parse_ref
from standfast.domain.text import escape_title
from standfast.domain.ticking import Scene
from standfast.domain.tracker import DONE, LETTERS

MAX_ID: Final = 128
MAX_TITLE: Final = 2_000
SUGGESTIONS: Final = 5


class Name(msgspec.Struct, frozen=True):
    """How a caller names a task: exactly one of the two."""

    id: str | None = None
    title: str | None = None


def checked(name: Name) -> Name:
    """The name, if it is exactly one of id and title, not blank and within its limit."""
    if (name.id is None) == (name.title is None):
        raise Refusal("invalid", "Send exactly one of `id` (like P-3.4) and `title`.", field="id")
    text, limit = (name.id, MAX_ID) if name.id is not None else (name.title, MAX_TITLE)
    if not (text or "").strip():
        raise Refusal("invalid", "The task's id or title is blank.", field="id")
    if len(text or "") > limit:
        raise Refusal("limit", f"The task's name is longer than {limit} characters.", limit=limit)
    return name


class Known(msgspec.Struct, frozen=True):
    """A plan with its tracker in the session, for judging an id."""

    plan: Plan
    tracker: Tracker


def plan_of(name: Name, known: tuple[Known, ...]) -> Known:
    """The session's tracked plan, after judging the plan that an id names.

    `known` are all plans with a tracker in this session, newest last. Order: superseded, not the tracker's,
    none active.
    """
    current = next((item for item in reversed(known) if _current(item.tracker)), None)
    number = None if name.id is None else (parse_ref(name.id) or (None, None))[0]
    if number is not None:
        named = next((item for item in known if item.plan.number == number), None)
        if named is not None and named.tracker.status == "superseded":
            newer = f" P-{current.plan.number} is active." if current else ""
            raise Refusal(
                "plan_superseded",
                f"P-{number} was superseded by a newer approved plan.{newer}",
                plan=f"P-{number}",
            )
        if current is not None and current.plan.number != number:
            raise Refusal(
                "plan_not_active",
                f"P-{number} is not this session's tracker; {current.plan.ref} is.",
                plan=f"P-{number}",
            )
        if named is not None and not named.tracker.on_branch:
            raise Refusal("plan_not_active", f"P-{number} was approved later, not on this branch.")
    if current is None:
        raise Refusal("no_active_plan", "No approved plan is being tracked in this session; submit one first.")
    return current


def _current(track: Tracker) -> bool:
    return track.status in OPEN_TRACKER and track.on_branch


def task_of(name: Name, scene: Scene) -> PlanTask:
    """The one task that `name` means in the tracked plan."""
    if name.id is not None:
        return _by_id(name.id, scene)
    return _by_title(name.title or "", scene)


def _by_id(text: str, scene: Scene) -> PlanTask:
    ref = parse_ref(text)
    if ref is not None and ref[1] is not None and 1 <= ref[1] <= len(scene.checklist.tasks):
        return scene.checklist.tasks[ref[1] - 1]
    raise _unknown(text, scene)


def _by_title(title: str, scene: Scene) -> PlanTask:
    matches = resolve_title(scene.checklist, title).matches
    if not matches:
        raise _unknown(title, scene)
    if len(matches) > 1:
        found = [{"id": scene.id(task), "state": LETTERS[scene.state(task)]} for task in matches]
        listed = ", ".join(f"{item['id']} ({item['state']})" for item in found)
        raise Refusal("task_ambiguous", f"Several tasks have this title: {listed}. Send the id.", tasks=found)
    return matches[0]


def _unknown(text: str, scene: Scene) -> Refusal:
    following = [task for task in scene.checklist.tasks if scene.state(task) != DONE][:SUGGESTIONS]
    shown = [f"{scene.id(task)} {escape_title(task.normalised)}" for task in following]
    hint = f" Next are: {'; '.join(shown)}." if shown else ""
    return Refusal(
        "task_unknown",
        f"{scene.plan.ref} has no task {escape_title(text)!r}; titles must match exactly.{hint}",
        next=shown,
    )
