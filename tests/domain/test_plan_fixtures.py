"""Plans as people and models write them, with what the specification makes of each, written by hand.

`tests/fixtures/plans/NAME.md` is a plan's text; `NAME.expected.json` its checklist: how it was read, its
tasks in order (only the fields that matter there) and the codes of its warnings.
"""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from standfast.domain.checklist import parse_checklist

PLANS = Path(__file__).parents[1] / "fixtures" / "plans"
NAMES = sorted(path.stem for path in PLANS.glob("*.md"))


@pytest.mark.requirement(
    "PLAN-CHECKLIST-03", "PLAN-CHECKLIST-04", "PLAN-CHECKLIST-05", "PLAN-CHECKLIST-06", "PLAN-CHECKLIST-10"
)
@pytest.mark.parametrize("name", NAMES)
def test_a_plan_is_read_as_a_person_would(name: str) -> None:
    markdown = (PLANS / f"{name}.md").read_bytes().decode()
    expected = json.loads((PLANS / f"{name}.expected.json").read_text())
    found = msgspec.to_builtins(parse_checklist(markdown))
    wanted = expected.pop("tasks")
    assert [task["normalised"] for task in found["tasks"]] == [task["normalised"] for task in wanted]
    for task, want in zip(found["tasks"], wanted, strict=True):
        assert {
            field: list(task[field]) if isinstance(task[field], (tuple, list)) else task[field] for field in want
        } == want
    assert sorted(item["code"] for item in found["warnings"]) == sorted(expected.pop("warnings"))
    assert {field: found[field] for field in expected} == expected


@pytest.mark.requirement("PLAN-CHECKLIST-08")
@pytest.mark.parametrize("name", NAMES)
def test_positions_count_from_one_and_keys_differ(name: str) -> None:
    tasks = parse_checklist((PLANS / f"{name}.md").read_bytes().decode()).tasks
    assert [task.position for task in tasks] == list(range(1, len(tasks) + 1))
    assert len({task.key for task in tasks}) == len(tasks)


def test_there_are_plans_enough() -> None:
    assert len(NAMES) >= 24
    assert {path.name for path in PLANS.iterdir()} == {f"{n}{end}" for n in NAMES for end in (".md", ".expected.json")}
