"""What changed between two texts: lines, words inside them, and the bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from standfast.domain.difference import LINES, SHOWN, Difference, compare

TEXTS = st.lists(st.sampled_from(["a", "b b", "c c c", "", "- [ ] step one", "- [ ] step two"]), max_size=30).map(
    "\n".join
)


def texts(found: Difference, kind: str) -> list[str]:
    """The lines of one kind, whole."""
    lines = [line for hunk in found.hunks for line in hunk if line.kind == kind]
    return ["".join(piece.text for piece in line.pieces) for line in lines]


def test_one_changed_word_in_a_long_plan_is_one_changed_word() -> None:
    before = "\n".join(f"- [ ] Step {n} of the plan" for n in range(200))
    found = compare(before, before.replace("Step 100 of", "Step 100 (twice) of"))
    assert (found.added, found.removed) == (1, 1)
    assert len(found.hunks) == 1
    changed = [piece.text for line in found.hunks[0] for piece in line.pieces if piece.changed]
    assert "".join(changed).strip() == "(twice)"
    assert [line.before for line in found.hunks[0] if line.kind == "same"] == [98, 99, 100, 102, 103, 104]


def test_equal_texts_have_no_difference() -> None:
    assert compare("a\nb", "a\nb") == Difference()


@given(TEXTS, TEXTS)
def test_applying_a_difference_to_the_old_text_gives_the_new_one(before: str, after: str) -> None:
    found = compare(before, after)
    old = before.split("\n")
    made: list[str] = []
    at = 0
    for hunk in found.hunks:
        for line in hunk:
            if line.before is not None:
                made += old[at : line.before - 1]
                at = line.before
            if line.kind != "removed":
                made.append("".join(piece.text for piece in line.pieces))
    assert made + old[at:] == after.split("\n")


@given(TEXTS, TEXTS)
def test_the_counts_are_those_of_the_lines(before: str, after: str) -> None:
    found = compare(before, after)
    assert (found.added, found.removed) == (len(texts(found, "added")), len(texts(found, "removed")))


@pytest.mark.parametrize(
    ("before", "after"),
    [("x" * 524_288, "y" * 524_288), ("a b " * 100_000, "a c " * 100_000), ("\n" * (LINES - 1), "x\n" * (LINES - 1))],
)
def test_long_lines_and_many_lines_are_bounded(before: str, after: str) -> None:
    found = compare(before, after)
    assert sum(map(len, found.hunks)) <= SHOWN
    assert all(len("".join(p.text for p in line.pieces)) <= 2_000 for hunk in found.hunks for line in hunk)
    assert sum(map(len, found.hunks)) + found.cut == found.added + found.removed + (1 if before[0] == "\n" else 0)


def test_texts_of_too_many_lines_are_not_compared() -> None:
    assert compare("\n" * LINES, "").too_long
