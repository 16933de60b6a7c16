"""Each promise that is kept has a test, each mark names a promise, and each test of behaviour has a mark."""

from __future__ import annotations

import ast
import re
import tomllib

from tests.support.repository import TESTS, modules, name, tree
from tests.support.requirements import (
    STATES,
    TABLE,
    Mark,
    Requirement,
    all_marks,
    in_line,
    marks,
    read,
    troubles,
    unmarked,
)

IDS = r"I[1-9]\d?|[A-Z]+(?:-[A-Z]+)*-\d{2}"
PLANNED = Requirement("A-01", "It is promised.", "plans / Some section", "planned")
KEPT = Requirement("B-01", "It is kept.", "plans / Some section", "kept")
BOTH = {"A-01": PLANNED, "B-01": KEPT}


def test_table_and_tests_agree() -> None:
    assert troubles(read(), all_marks()) == []


def test_each_requirement_is_one_sentence_with_a_source() -> None:
    for each in read().values():
        assert re.fullmatch(IDS, each.id), each
        assert each.state in STATES, each
        assert each.says[-1] == ".", each
        assert len(each.says) <= 200, each
        assert re.fullmatch(r"\w+ / .+", each.source), each


def test_no_sentence_is_there_twice() -> None:
    said = [each.says for each in read().values()]
    assert len(set(said)) == len(said)


def test_every_invariant_is_a_requirement() -> None:
    assert [key for key in read() if re.fullmatch(r"I\d+", key)] == [f"I{n}" for n in range(1, 14)]


def test_a_test_of_behaviour_says_what_it_shows() -> None:
    found = {name(path): unmarked(tree(path)) for path in modules(TESTS / "behaviour")}
    assert {place: tests for place, tests in found.items() if tests} == {}


def test_a_kept_requirement_without_a_test_is_found() -> None:
    assert troubles(BOTH, []) == ["B-01 is kept and no test shows it"]


def test_a_planned_requirement_with_a_test_is_found() -> None:
    found = troubles(BOTH, [Mark("A-01", "test_x.py:3"), Mark("B-01", "test_x.py:9")])
    assert found == ["A-01 has a test (test_x.py:3): mark it kept (make requirements)"]


def test_a_mark_without_a_requirement_is_found() -> None:
    found = troubles({"B-01": KEPT}, [Mark("B-01", "t:1"), Mark("C-01", "t:2"), Mark("", "t:3")])
    assert found == ["t:3: a mark spells its ids out", "t:2: there is no requirement C-01"]


def test_marks_are_read_from_tests_classes_parameters_and_modules() -> None:
    text = """
import pytest
pytestmark = pytest.mark.requirement("M-01")
@pytest.mark.requirement("A-01", "B-01")
def test_one(): ...
@pytest.mark.parametrize("n", [pytest.param(1, marks=pytest.mark.requirement("P-01"))])
def test_two(n): ...
@pytest.mark.requirement(NAME)
@pytest.mark.requirement()
class TestThree: ...
"""
    found = sorted(marks(ast.parse(text), "t"), key=lambda mark: mark.id)
    assert [mark.id for mark in found] == ["", "", "A-01", "B-01", "M-01", "P-01"]


def test_a_test_without_a_mark_is_found() -> None:
    text = """
@pytest.mark.requirement("A-01")
class TestMarked:
    def test_inside_a_marked_class(self): ...
@pytest.mark.requirement("A-01")
async def test_with_a_mark(): ...
@pytest.mark.parametrize("n", [1])
def test_without_a_mark(n): ...
"""
    assert unmarked(ast.parse(text)) == ["test_without_a_mark"]
    assert unmarked(ast.parse(f'pytestmark = [pytest.mark.requirement("A-01")]\n{text}')) == []


def test_bringing_states_in_line_changes_states_only() -> None:
    before = TABLE.read_text(encoding="utf-8")
    shown = {"I1", "CLI-02"}
    after = in_line(before, shown)
    changed = [line for line in after.splitlines() if line not in before.splitlines()]
    assert {line.partition(" ")[0] for line in changed} <= {"state"}
    assert re.sub(r'state = "\w+"', "", after) == re.sub(r'state = "\w+"', "", before)
    assert {key for key, fields in tomllib.loads(after).items() if fields["state"] == "kept"} == shown
