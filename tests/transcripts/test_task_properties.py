"""Claude Code's tasks, folded newest first, against a store that is played forwards. All transcripts are synthetic."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast import transcripts
from tests.transcripts.written import ClaudeSession, Json, save

pytestmark = pytest.mark.requirement("RESTORE-01", "RESTORE-03")

STATUSES = st.sampled_from(["pending", "in_progress", "completed", "deleted"])
NUMBERS = st.integers(1, 6)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("create"), st.sampled_from(["One", "Two", "Two"])),
        st.tuples(st.just("status"), NUMBERS, STATUSES),
        st.tuples(st.just("subject"), NUMBERS, st.sampled_from(["Reworded", "Split"])),
        st.tuples(st.just("block"), NUMBERS, NUMBERS),
        st.tuples(st.just("lose"), NUMBERS),
        st.tuples(st.sampled_from(["list", "fail", "leave", "same", "compact", "reset"])),
    ),
    max_size=16,
)


class Store:
    """The client's folder of tasks, and the session that talks with it."""

    def __init__(self) -> None:
        self.session = ClaudeSession()
        self.session.prompt()
        self.tasks: dict[int, Json] = {}
        self.high = 0

    def play(self, step: tuple[object, ...]) -> None:
        match step:
            case ("create", subject):
                self.high += 1
                self.tasks[self.high] = {"id": str(self.high), "subject": subject, "status": "pending", "blockedBy": []}
                self.session.task_create(self.high, str(subject))
            case ("status", int(number), status):
                self.change(number, status=status)
            case ("subject", int(number), subject):
                self.change(number, subject=subject)
            case ("block", int(number), int(other)) if other in self.tasks:
                self.change(number, addBlockedBy=[str(other)])
            case ("lose", int(number)):
                self.tasks.pop(number, None)
            case ("list",):
                self.session.task_list([dict(task) for task in self.tasks.values()])
            case ("fail",):
                call = self.session.call("TaskUpdate", {"taskId": "1", "status": "completed"})
                self.session.result(call, "Sibling tool call errored", error=True)
            case ("leave",):
                self.session.call("TaskCreate", {"subject": "Never made", "description": "-"})
            case ("same",):
                self.session.task_update(1) if 1 in self.tasks else None
            case ("compact",):
                self.session.compact()
            case ("reset",):
                self.tasks.clear()
                self.session.task_list([])
            case _:
                pass

    def change(self, number: int, **changes: object) -> None:
        task = self.tasks.get(number)
        if task is None:
            call = self.session.call("TaskUpdate", {"taskId": str(number), **changes})
            self.session.result(call, "Task not found", {"success": False, "error": "Task not found"})
            return
        self.session.task_update(number, **changes)
        if changes.get("status") == "deleted":
            del self.tasks[number]
        for other in changes.pop("addBlockedBy", []):
            blockers = task["blockedBy"]
            assert isinstance(blockers, list)
            if other not in blockers:
                blockers.append(other)
        task.update(changes)


@given(steps=STEPS)
def test_the_fold_is_the_store_as_far_as_the_session_knew_it(steps: list[tuple[object, ...]]) -> None:
    store = Store()
    known: dict[int, Json] = {}
    for step in steps:
        lost = step[0] == "lose"
        store.play(step)
        # What the store lost by itself is known only when something asks for it.
        asked = step[0] in {"status", "subject"} or (step[0] == "block" and step[2] in store.tasks)
        missed = asked and step[1] not in store.tasks
        if step[0] in {"list", "reset"}:
            known = {}
        elif missed:
            known.pop(step[1] if isinstance(step[1], int) else 0, None)
        if not lost:
            known |= store.tasks
    with tempfile.TemporaryDirectory() as folder:
        report = transcripts.restore(save(Path(folder), store.session.data()))
    items = report.main.items if report.main is not None else ()
    told = [(item.id, item.content, item.status, sorted(item.depends_on)) for item in items]
    assert told == [
        (task["id"], task["subject"], task["status"], sorted(task["blockedBy"])) for _, task in sorted(known.items())
    ]
