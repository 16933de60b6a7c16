"""Words that the repository does not contain: synonyms of our nouns, unfinished marks, one machine's places.

The patterns are written with brackets so that this file does not match itself.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.support.repository import ROOT, SOURCE, files, modules, name, tree

NOWHERE = {
    "a package index: where packages come from is the machine's configuration": (
        r"pyp[i]\.org|pythonhoste[d]|npmj[s]\.|yarnpk[g]\.com|deb\.debia[n]\.org|crate[s]\.io|proxy\.golan[g]"
    ),
    "a path of one machine": (r"(?<![\w.\-/}])/(?:roo[t]|wor[k])(?![\w\-])|(?<![\w.\-/}])/hom[e]/\w|/User[s]/\w"),
    "a commit of another's work or an issue number": r"(?i)\b(?:issue|pull request|PR) #\d",
}
"""Reason -> pattern, for every text file."""

UNFINISHED = r"\b(?:TOD[O]|FIXM[E]|XX[X]|HAC[K])\b"

SYNONYMS = {
    "conversation_id": "session",
    "thread_id": "session",
    "todo_item": "todo",
    "work_item": "task",
    "subtask": "plan_task or task",
    "checkbox_item": "plan_task",
    "completion_record": "tick",
    "approver": "operator",
    "superuser": "operator",
    "approval_request": "approval",
    "journal_entry": "event",
    "outbox_item": "message",
    "user_prompt": "prompt",
    "timeout_ms": "timeout_milliseconds: a unit is written out",
}
"""Words that an identifier of the product does not contain -> the word of the vocabulary."""


def text_of(path: Path) -> str:
    """The text of a file; nothing for what is not text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def hits(pattern: str, text: str) -> list[str]:
    """The lines of a text that match, with their numbers."""
    found = re.compile(pattern)
    return [f"{n}: {line.strip()[:120]}" for n, line in enumerate(text.splitlines(), 1) if found.search(line)]


def identifiers(module: ast.AST) -> set[str]:
    """All names that a module defines or uses, in lower case."""
    found: set[str] = set()
    for node in ast.walk(module):
        for field in ("id", "attr", "arg", "name"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                found.add(value.lower())
    return found


@pytest.mark.parametrize("reason", NOWHERE)
def test_the_repository_does_not_name(reason: str) -> None:
    found = {name(path): lines for path in files() if (lines := hits(NOWHERE[reason], text_of(path)))}
    assert not found, f"{reason}: {found}"


def test_nothing_is_marked_as_unfinished() -> None:
    fixtures = ROOT / "tests" / "fixtures"
    found = {
        name(path): lines
        for path in files()
        if path.suffix != ".lock" and not path.is_relative_to(fixtures) and (lines := hits(UNFINISHED, text_of(path)))
    }
    assert not found


@pytest.mark.parametrize("path", modules(SOURCE), ids=name)
def test_a_module_uses_the_words_of_the_vocabulary(path: Path) -> None:
    names = identifiers(tree(path))
    found = {word: SYNONYMS[word] for word in SYNONYMS if any(word in each for each in names)}
    assert not found, f"{name(path)}: say {found}"


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (0, "see https://pyp" + "i.org/simple"),
        (1, "cd /ro" + "ot/x"),
        (1, "'/wor" + "k'"),
        (1, "HOME=/hom" + "e/ada"),
        (2, "Fixes issue" + " #12"),
    ],
)
def test_each_pattern_finds_what_it_is_for(pattern: int, text: str) -> None:
    assert hits(list(NOWHERE.values())[pattern], text)


def test_paths_that_only_look_like_one_machine_are_left_alone() -> None:
    assert not hits(list(NOWHERE.values())[1], "/workflow docs/work ${HOME}/work /workspace $XDG/home/x")


def test_marks_and_identifiers_are_read_as_whole_words() -> None:
    assert hits(UNFINISHED, "# TOD" + "O: later")
    assert not hits(UNFINISHED, "a Todo, todos")
    assert identifiers(ast.parse("def f(thread_id): self.outbox_item = 1")) == {
        *("f", "thread_id", "self", "outbox_item")
    }
