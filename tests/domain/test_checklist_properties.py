"""What holds of every plan, whatever its text: reading never fails but by a limit, and titles lead to tasks."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from standfast.domain.checklist import TASKS, parse_checklist, resolve_title
from standfast.domain.markdown import TooLarge
from standfast.domain.text import display, print_title

WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=30)
LINES = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "  ", "    ", "> ", "\t"]),
    st.sampled_from(
        ["- [ ] ", "- [x] ", "* [ ] ", "1. [ ] ", "1. ", "## ", "```", "Order: strict", "- **After:** ", "<!--"]
    ),
    WORDS,
)
PLANS = st.lists(LINES | WORDS, max_size=30).map("\n".join)


@given(PLANS)
@settings(max_examples=300, deadline=None)
def test_every_text_is_read_the_same_way_twice(markdown: str) -> None:
    first = parse_checklist(markdown)
    assert first == parse_checklist(markdown)
    assert [task.position for task in first.tasks] == list(range(1, len(first.tasks) + 1))
    for task in first.tasks:
        assert task.parent is None or task.parent > task.position
        assert task.position not in task.after
        assert all(1 <= position <= len(first.tasks) for position in task.after)


@pytest.mark.requirement("PLAN-CHECKLIST-08")
@given(PLANS)
@settings(max_examples=300, deadline=None)
def test_a_title_printed_whole_always_leads_to_its_task(markdown: str) -> None:
    checklist = parse_checklist(markdown)
    for task in checklist.tasks:
        shown = display(task.normalised)
        texts = {task.title, task.normalised, print_title(task.normalised, None).text}
        for text in texts if shown.cut else texts | {shown.text}:
            assert task in resolve_title(checklist, text).matches


@given(PLANS)
@settings(max_examples=200, deadline=None)
def test_dependencies_never_close_a_circle(markdown: str) -> None:
    after = {task.position: set(task.after) for task in parse_checklist(markdown).tasks}
    while free := [position for position, needed in after.items() if not needed & set(after)]:
        for position in free:
            del after[position]
    assert not after


@pytest.mark.requirement("PLAN-CHECKLIST-07")
def test_a_thousand_tasks_are_read_and_one_more_is_too_many() -> None:
    whole = "".join(f"- [ ] Task {n}\n" for n in range(TASKS))
    assert len(parse_checklist(whole).tasks) == TASKS
    with pytest.raises(TooLarge):
        parse_checklist(whole + "- [ ] One more\n")


@pytest.mark.requirement("PLAN-CHECKLIST-07")
def test_a_line_of_a_hundred_thousand_characters_is_one_title() -> None:
    title = "word " * 20_000
    (task,) = parse_checklist(f"- [ ] {title}\n").tasks
    assert task.normalised == title.strip()
    assert display(task.normalised).cut
    assert len(display(task.normalised).text) <= 501
    assert (task.printed, task.display) == (None, None)
