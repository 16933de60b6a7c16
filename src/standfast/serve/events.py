"""Events as a stream that resumes without loss.

Each reader pages through the journal by sequence number and sleeps until a commit wakes it; the number of the
last event is the event's id, so a reconnect with `Last-Event-ID` goes on exactly there. A slow reader holds
nothing in the host: it is simply further behind. One that is more than a page behind is told so by a `behind`
event, `{"after": N}`: what follows is from N on and not new. A comment every 15 s keeps the line open.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from standfast.domain.change import Actor

if TYPE_CHECKING:
    from standfast.serve.http import Caller

HEARTBEAT_SECONDS: Final = 15
PAGE: Final = 200
_encode: Final = msgspec.json.Encoder().encode


class Stream:
    """One reader's view of the journal: of one session or all, of some kinds or all."""

    def __init__(self, caller: Caller, actor: Actor, session: str | None, kinds: frozenset[str]) -> None:
        self._caller: Final = caller
        self._actor: Final = actor
        self._session: Final = session
        self._kinds: Final = kinds

    async def page(self, after: int) -> Mapping[str, Any]:
        """The next events after a number."""
        payload = {"after": after, "session": self._session, "limit": PAGE}
        return (await asyncio.wrap_future(self._caller.submit("events.list", payload, self._actor))).result

    async def lines(self, after: int, first: Mapping[str, Any]) -> AsyncIterator[bytes]:
        """Server-sent events, for as long as the reader stays."""
        loop = asyncio.get_running_loop()
        woken = asyncio.Event()
        forget = self._caller.listen(lambda last, sessions: loop.call_soon_threadsafe(woken.set))
        page = first
        try:
            yield b"retry: 1000\n\n"
            while True:
                for event in page["events"]:
                    if not self._kinds or event["kind"] in self._kinds:
                        yield _line(event)
                after = page["last"]
                if not page["events"]:
                    try:
                        await asyncio.wait_for(woken.wait(), HEARTBEAT_SECONDS)
                    except TimeoutError:
                        yield b": still here\n\n"
                    woken.clear()
                full = len(page["events"]) == PAGE
                page = await self.page(after)
                if full and page["events"]:
                    yield b'event: behind\ndata: {"after":%d}\n\n' % after
        finally:
            forget()


def _line(event: Mapping[str, Any]) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event["seq"], str(event["kind"]).encode(), _encode(event))
