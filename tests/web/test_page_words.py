"""The page's words: every kind of event has its sentence, and no actor is shown as a code."""

from __future__ import annotations

import ast
import re

import pytest

from standfast.domain.settings import RULES
from standfast.host.fence import FENCE
from standfast.serve.web.words import HAPPENED, happened, instant, project_name, size, who, why
from tests.support.repository import SOURCE, modules, tree

KIND = re.compile(r"(plan|task|tracker|execution|turn|session|message|todo|operator|project|setting|host)\.[a-z_]+")
DERIVED = {
    *("task.begin", "task.tick", "task.await", "task.confirm", "task.untick", "task.carry"),
    *("task.resolve_done", "task.resolve_open", "tracker.superseded", "tracker.abandoned"),
    *("todo.written", "todo.captured", "todo.restored", "operator.protected", "operator.unprotected"),
    *("artifact.intended", "artifact.kept", "artifact.done", "artifact.dropped"),
    *("message.delivered", "message.cancelled", "session.branch_switched", "session.advanced", "session.taken_over"),
}
"""Kinds whose names are put together where they are made."""


def kinds() -> set[str]:
    """The kinds of events that the domain and the host spell out in the text."""
    found = set()
    for path in [*modules(SOURCE / "domain"), *modules(SOURCE / "host")]:
        if path.parent.name == "entries" or path.name == "policy.py":
            continue
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call):
                texts = [each.value for each in node.args if isinstance(each, ast.Constant)]
                found |= {text for text in texts if isinstance(text, str) and KIND.fullmatch(text)}
    return found


def test_every_kind_of_event_has_a_sentence() -> None:
    found = kinds() - set(RULES)
    assert len(found) > 20
    assert sorted(kind for kind in found | DERIVED if kind not in HAPPENED) == []


@pytest.mark.parametrize("kind", HAPPENED)
def test_a_sentence_needs_no_fact_that_an_event_may_lack(kind: str) -> None:
    said = happened({"kind": kind, "data": {"plan": "pln_1"}}, {})
    assert said
    assert said[0].isupper()
    assert "{" not in said


def test_a_kind_without_a_sentence_is_shown_as_it_is() -> None:
    assert happened({"kind": "run.paused", "data": {}}, {}) == "run.paused"
    assert happened({"kind": "task.tick", "data": {"plan": "p", "position": 4}}, {"p": "P-3"}) == "P-3.4 was ticked"


def test_actors_reasons_places_times_and_sizes_are_in_words() -> None:
    assert who("agent:ses_1") == "the agent"
    assert who(FENCE.key) == "the host's restart"
    assert who("operator:page") == "a person, on this page"
    assert who(None) == "nobody"
    assert why("PLAN_APPROVAL_TIMEOUT") == "Nobody decided in time."
    assert project_name("git:/a/shop/.git") == "shop"
    assert project_name("id:acme") == "acme"
    assert project_name(None) == "no workspace"
    assert instant(0) == "1970-01-01T00:00:00.000Z"
    assert (size(999), size(524_288)) == ("999 bytes", "512 KiB")
