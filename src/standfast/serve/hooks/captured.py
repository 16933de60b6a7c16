"""A client's own todo list, kept as its tools write it, and taken from its transcript where nothing was seen of it.

What a call means for a list is known in one place, the transcript readers. A tool that writes the whole list says it
all; one that changes a single task is folded over the list as it was captured last.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import msgspec

from standfast import transcripts
from standfast.domain.todo import MAIN, MAX_ITEMS, MAX_NAME
from standfast.serve.hooks.vocabulary import Used
from standfast.serve.restored import captures, given
from standfast.transcripts.events import Place, ToolCall
from standfast.transcripts.lists import TASKS, ListItem, Nothing, Whole, write
from standfast.transcripts.tasks import TaskFold

Do = Callable[[str, Mapping[str, Any], str], Awaitable[Mapping[str, Any]]]
RESTORE_SECONDS: Final = 2.0
"""How long a session's start waits for its transcript; the reading goes on and is taken when it is done."""


class Captured:
    """Lists of the clients' own tools. `do` runs an operation as a session's coordinator."""

    def __init__(self, do: Do) -> None:
        self._do: Final = do
        self._reading: Final[set[asyncio.Task[None]]] = set()

    async def used(self, client: str, session: str, used: Used) -> None:
        """A tool was used and succeeded; if it wrote a list, the list is kept."""
        call = ToolCall(
            place=Place(),
            call=None,
            tool=used.tool,
            arguments=used.arguments,
            outcome="success",
            answer=used.answer if isinstance(used.answer, str) else None,
            stored=msgspec.json.encode(used.answer),
        )
        written = write(client, call)
        if written is None or isinstance(written.meaning, Nothing):
            return
        # Subagents of Claude Code share their parent's tasks; every other list is its agent's own.
        agent = MAIN if written.source == TASKS else used.agent[:MAX_NAME] or MAIN
        if isinstance(written.meaning, Whole):
            items = written.meaning.items
        else:
            items = await self._folded(session, call, written.source)
        wish = {"source": written.source, "agent": agent, "cut": len(items) > MAX_ITEMS}
        await self._do("todo.capture", wish | {"todos": [given(item) for item in items[:MAX_ITEMS]]}, session)

    async def _folded(self, session: str, call: ToolCall, source: str) -> tuple[ListItem, ...]:
        """The list after a change: the change over the list as it is known."""
        known = (await self._do("todo.read", {"source": source, "agent": MAIN}, session))["lists"]
        fold = TaskFold()
        fold.take(call)
        rows = [_row(item) for each in known for item in each["items"]]
        fold.take(ToolCall(Place(), None, "TaskList", {}, "success", stored=msgspec.json.encode({"tasks": rows})))
        return fold.items()

    async def restore(self, client: str, session: str, transcript: str) -> None:
        """Takes the lists of a transcript where the store knows none of the session's; waits a moment for them."""
        if not transcript or (await self._do("todo.read", {}, session))["lists"]:
            return
        reading = asyncio.create_task(self._restore(client, session, transcript))
        self._reading.add(reading)
        reading.add_done_callback(self._reading.discard)
        await asyncio.wait({reading}, timeout=RESTORE_SECONDS)

    async def _restore(self, client: str, session: str, transcript: str) -> None:
        try:
            report = await asyncio.to_thread(transcripts.restore, transcript)
        except OSError:
            return  # a session that is not kept in a file, or not here
        if report.format == client:
            for each in captures(report):
                await self._do("todo.capture", each, session)


def _row(item: Mapping[str, Any]) -> dict[str, object]:
    """An item as Claude Code's task list holds it."""
    return {
        "id": item["id"],
        "subject": item["content"],
        "status": item["status"],
        "activeForm": item["active_form"],
        "blockedBy": item["depends_on"],
    }
