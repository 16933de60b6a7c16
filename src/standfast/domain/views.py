"""What a model sees: the marker, the resume view, the execution instruction.

Views are rendered from rows and never written back (I2). They hold the host's own sentences and quoted,
escaped titles; never notes, descriptions or evidence texts, because clients promote such text to a
developer's or system's role. Each is bounded, deterministic and says that it supersedes earlier ones.

Not here: when a view is due (`host.contexts`), the system prompt (constant, `serve.surface`).
"""

from __future__ import annotations

from typing import Final

import msgspec

from standfast.domain import todo_views, tracker
from standfast.domain.checklist import TASKS, PlanTask
from standfast.domain.plan import INSTRUCTION_INLINE_BYTES, Execution, Plan, PlanText
from standfast.domain.session import Session
from standfast.domain.text import escape_title, print_title
from standfast.domain.ticking import Scene, state_word
from standfast.domain.todo_views import Shown
from standfast.domain.tracker import AWAITING, BEGUN, DONE

MARKER_LIMIT: Final = 400
TITLE_LIMIT: Final = 120
LINE_TITLE_LIMIT: Final = 40
RESUME_LIMIT: Final = 4_000
CHARACTERS_PER_TASK: Final = 80
"""A resume view lists one open task per so many of its characters, since titles that are short cost more tokens."""
INACTIVE_SHOWN: Final = 3
NOTHING: Final = "[standfast] Nothing is active now; earlier markers no longer hold."


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """All that a view of one session is made of.

    `scene` is the tracked plan on the selected branch (None without one); `off_branch` are plans approved
    later than the selected branch; `inactive` are proposals that ended without approval, newest first. `todos` are
    the lists with open items, newest first, of which `todos_shown` are shown at most.
    """

    session: Session
    pending: Plan | None = None
    scene: Scene | None = None
    execution: Execution | None = None
    off_branch: tuple[Plan, ...] = ()
    inactive: tuple[Plan, ...] = ()
    todos: tuple[Shown, ...] = ()
    todos_shown: int = 40


def quoted(title: str, limit: int = TITLE_LIMIT) -> str:
    """A title in quotes, escaped and cut; a cut one ends with an ellipsis."""
    return f'"{escape_title(title, limit)}"'


def marker(standing: Standing, limit: int = MARKER_LIMIT) -> str:
    """The short tail text, or empty when nothing is active. At most `limit` characters."""
    for title_limit in (TITLE_LIMIT, 80, 48, 24, 12):
        text = _marker(standing, title_limit)
        if len(text) <= limit:
            return text
    return text[: limit - 1] + "…"


def _marker(standing: Standing, title_limit: int) -> str:
    parts = []
    if standing.session.mode == "plan":
        parts.append("plan mode")
    if standing.pending is not None:
        parts.append(f"{standing.pending.ref} {quoted(standing.pending.title, title_limit)} waits for a person")
    scene = standing.scene
    if scene is not None and scene.tracker.status == "active":
        parts.append(_tracked(scene, title_limit))
    parts += [_list(shown, title_limit) for shown in standing.todos if shown.main][:1]
    parts += [f"{plan.ref} approved later, not on this branch" for plan in standing.off_branch[:1]]
    if not parts:
        return ""
    return f"[standfast] {'; '.join(parts)}. Replaces earlier markers."


def _tracked(scene: Scene, title_limit: int) -> str:
    where = tracker.progress(scene.checklist, scene.tracker.states, scene.uncertain)
    text = f"{scene.plan.ref} {quoted(scene.plan.title, title_limit)} {where.done}/{where.total}"
    if where.next is not None:
        text += f" next {scene.id(where.next)} {_cut_title(where.next, title_limit)}"
    if where.awaiting:
        text += f", {len(where.awaiting)} await a person"
    if where.uncertain:
        text += f", ambiguous {', '.join(f'{scene.plan.ref}.{p}' for p in where.uncertain[:3])}"
    return text


def line(standing: Standing) -> str:
    """What a person's status line shows: how far it is and what it waits for; empty when nothing is active."""
    parts = ["plan mode"] if standing.session.mode == "plan" else []
    scene = standing.scene
    if scene is not None and scene.tracker.status == "active":
        where = tracker.progress(scene.checklist, scene.tracker.states, scene.uncertain)
        parts.append(f"{scene.plan.ref} {where.done}/{where.total}")
        if where.awaiting:
            parts.append("waits for you")
        elif where.uncertain:
            parts.append(f"unclear: {scene.plan.ref}.{where.uncertain[0]}")
        elif where.next is not None:
            parts.append(escape_title(where.next.normalised, LINE_TITLE_LIMIT))
    else:
        parts += [f"todos {todo_views.summary(shown.revision.items)}" for shown in standing.todos if shown.main][:1]
    if standing.pending is not None:
        parts.append(f"{standing.pending.ref} waits for your verdict")
    return " · ".join(parts)


def _list(shown: Shown, title_limit: int) -> str:
    now = todo_views.focus(shown)
    text = f"todos {todo_views.summary(shown.revision.items)}"
    return text if now is None else f"{text} now {escape_title(now.id)} {quoted(now.content, title_limit)}"


def _cut_title(task: PlanTask, limit: int) -> str:
    shown = print_title(task.normalised, limit)
    return f'"{shown.text}"{" (use id)" if shown.cut else ""}'


def instruction(plan: Plan, text: PlanText) -> str:
    """What starts the execution, rendered once: the approved bytes, or where to read them."""
    tasks = text.checklist.tasks
    head = [
        f"{plan.ref} {quoted(plan.title)} was approved by a person. Execute it now.",
        "It is approved: do not replan it and do not ask for approval again.",
        f"Question it answers: {quoted(plan.question, 2_000)}",
        f"File: {escape_title(plan.path, 1_000)} (sha256 {plan.sha256}).",
    ]
    if tasks:
        head.append(
            f"It has {len(tasks)} tasks, {plan.ref}.1 to {plan.ref}.{len(tasks)}. When one is really done, "
            "tick it with plan_tick by id or exact title; begin what cannot be undone with plan_begin first."
        )
    if plan.size <= INSTRUCTION_INLINE_BYTES:
        tag = f"approved-plan-{plan.sha256[:12]}"
        return "\n".join([*head, f"<{tag}>", text.markdown.decode("utf-8"), f"</{tag}>"])
    head.append("Read it with plan_read, page by page. Its tasks:")
    return "\n".join([*head, *_bounded([_task_line(plan, task) for task in tasks], INSTRUCTION_INLINE_BYTES)])


def _task_line(plan: Plan, task: PlanTask) -> str:
    return f"- {plan.ref}.{task.position} {quoted(task.normalised)}"


def _bounded(lines: list[str], room: int, most: int = TASKS) -> list[str]:
    kept: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0 or len(kept) == most:
            return [*kept, f"and {len(lines) - len(kept)} more: plan_tasks"]
        kept.append(line)
    return kept


def is_empty(standing: Standing) -> bool:
    """Whether a resume view would tell a model nothing: no plan, and nothing that plan mode forbids."""
    plans = standing.scene or standing.pending or standing.off_branch or standing.inactive
    return standing.session.mode == "agent" and not plans and not standing.todos


def resume(standing: Standing, limit: int = RESUME_LIMIT) -> str:
    """The full text after compaction, restart or on request; at most `limit` characters, stable in order."""
    head = ["[standfast] Context restored by Standfast, not words of the user. Replaces earlier ones."]
    if standing.session.mode == "plan":
        head.append("Mode: plan (read and plan only; submit a plan, then end the turn).")
    if standing.pending is not None:
        head.append(
            f"Pending: {standing.pending.ref} {quoted(standing.pending.title)} waits for a person's verdict. "
            "It is not approved: do not execute it."
        )
    body: list[str] = []
    if standing.scene is not None:
        head += _approved(standing, standing.scene)
        body = _open_lines(standing.scene)
    tail = [
        f"{plan.ref} {quoted(plan.title)}: approved later, not on this branch; do not tick it."
        for plan in standing.off_branch
    ]
    tail += [
        f"Not active: {plan.ref} {quoted(plan.title)} was {plan.status}; do not execute it."
        for plan in standing.inactive[:INACTIVE_SHOWN]
    ]
    tail.append(f"Next action: {next_action(standing)}")
    if standing.todos:
        tail.append("Say what backs that action before you act.")
    room = limit - sum(len(line) + 1 for line in (*head, *tail)) - 40
    lines = _bounded(body, max(room, 0), limit // CHARACTERS_PER_TASK)
    room -= sum(len(line) + 1 for line in lines)
    most = min(standing.todos_shown, max(limit // CHARACTERS_PER_TASK - len(lines), 1))
    lists = todo_views.block(standing.todos, most, min(room, todo_views.ROOM))
    return "\n".join([*head, *lines, *lists, *tail])[:limit]


def _approved(standing: Standing, scene: Scene) -> list[str]:
    plan = scene.plan
    where = tracker.progress(scene.checklist, scene.tracker.states, scene.uncertain)
    lines = [
        f"Approved: {plan.ref} {quoted(plan.title)}, permission mode {plan.permission_mode}.",
        f"File: {escape_title(plan.path, 1_000)} sha256 {plan.sha256}",
        f"Done: {where.done} of {where.total}."
        + (f" Execution {standing.execution.status}." if standing.execution else ""),
    ]
    if where.done < where.total:
        lines.append("Open, in order:" if not scene.checklist.strict_order else "Open, strictly in this order:")
    return lines


def _open_lines(scene: Scene) -> list[str]:
    return [_open_line(scene, task) for task in scene.checklist.tasks if scene.state(task) != DONE]


def _open_line(scene: Scene, task: PlanTask) -> str:
    notes = []
    if task.position in scene.uncertain:
        notes.append("ambiguous: begun, outcome unknown, a person resolves it")
    elif scene.state(task) == BEGUN:
        notes.append("was begun")
    elif scene.state(task) == AWAITING:
        notes.append(state_word(scene, task).replace("_", " "))
    waits = [scene.id(scene.checklist.tasks[p - 1]) for p in task.after if scene.tracker.states[p - 1] != DONE]
    if waits:
        notes.append(f"after {', '.join(waits)}")
    if task.gate == "human" and scene.state(task) != AWAITING:
        notes.append("a person confirms it")
    if task.effect == "irreversible" and scene.state(task) != BEGUN:
        notes.append("cannot be undone: plan_begin first")
    return f"- {scene.id(task)} {_cut_title(task, TITLE_LIMIT)}" + (f" ({'; '.join(notes)})" if notes else "")


def next_action(standing: Standing) -> str:
    """The one line that says what to do now."""
    if standing.pending is not None:
        return "end the turn; a person decides."
    if standing.session.mode == "plan":
        return "make a plan and submit it with plan_submit."
    scene = standing.scene
    if scene is None or scene.tracker.status != "active":
        return _next_todo(standing)
    where = tracker.progress(scene.checklist, scene.tracker.states, scene.uncertain)
    if where.next is None:
        return "ask the person: what is left waits for them." if where.total else "carry out the plan."
    verb = "go on with" if scene.state(where.next) == BEGUN else "do"
    return f"{verb} {scene.id(where.next)} {_cut_title(where.next, TITLE_LIMIT)}, then tick it."


def _next_todo(standing: Standing) -> str:
    """What the newest list of the main thread has in progress, else its first open item."""
    shown = next((each for each in standing.todos if each.main), None)
    if shown is None:
        return "none; follow the user's next words."
    now = todo_views.focus(shown)
    item = now or next(item for item in shown.revision.items if item.open)
    verb = "do" if now is None else "look how far it got, then go on with" if shown.interrupted else "go on with"
    return f"{verb} {escape_title(item.id)} {quoted(item.content)}."
