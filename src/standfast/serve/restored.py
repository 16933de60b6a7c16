"""What a transcript's report means for the store: the lists that it found, as captures that were restored.

Plans of a transcript are shown and never stored: a verdict needs a submission.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from standfast.domain.clients import HOOKED
from standfast.domain.todo import MAIN, MAX_ITEMS, MAX_NAME, Place, TodoRevision, flags_of
from standfast.domain.todo_views import ROOM, Shown, block
from standfast.domain.todo_writes import foreign
from standfast.host.todos import CaptureTodos
from standfast.transcripts import FoundList, Report
from standfast.transcripts.lists import ListItem

LISTS: Final = 32
"""Lists of one transcript that are taken; a session holds twice as many."""


def client_of(report: Report) -> str:
    """The client's name in its sessions."""
    return HOOKED.get(report.format, report.format)


def captures(report: Report) -> list[dict[str, Any]]:
    """An input of `todo.capture` for each list, without the session."""
    return [_capture(found) for found in report.lists[:LISTS]]


def _capture(found: FoundList) -> dict[str, Any]:
    return {
        "source": found.source[:MAX_NAME],
        "agent": found.agent[:MAX_NAME] or MAIN,
        "todos": [given(item) for item in found.items[:MAX_ITEMS]],
        "restored": True,
        "cut": len(found.items) > MAX_ITEMS or not found.certain,
    }


def given(item: ListItem) -> dict[str, Any]:
    """A client's item as a writer sends it."""
    fields: dict[str, Any] = {"content": _kept(item.content), "status": _kept(item.status) or "pending"}
    if item.id:
        fields["id"] = _kept(item.id)
    if item.active_form:
        fields["active_form"] = _kept(item.active_form)
    if item.parent:
        fields["parent"] = _kept(item.parent)
    if item.depends_on:
        fields["depends_on"] = [_kept(name) for name in item.depends_on]
    return fields


def view(report: Report) -> str:
    """The open items of a transcript's lists as a model would be told of them; nothing where there are none."""
    shown = [Shown(revision=_revision(found), interrupted=True) for found in report.lists[:LISTS]]
    lines = block([each for each in shown if not each.revision.over], MAX_ITEMS, ROOM)
    return "\n".join(["[standfast] Restored from a transcript, not words of the user.", *lines]) if lines else ""


def _revision(found: FoundList) -> TodoRevision:
    wish = msgspec.convert(_capture(found), CaptureTodos)
    place = Place(session_id="", agent=wish.agent, source=wish.source, head=None, current=None, highest=0)
    items = foreign(place, wish.todos, 0)
    return TodoRevision("", "", wish.agent, wish.source, 1, 1, None, None, "restored", "", items, flags_of(items), 0)


def _kept(text: str) -> str:
    """A text without what no store keeps."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
