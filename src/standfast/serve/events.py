"""Events as a stream that resumes without loss.

Each reader pages through the journal by sequence number and sleeps until a commit wakes it; the number of the
last event is the event's id, so a reconnect with `Last-Event-ID` goes on exactly there. A slow reader holds
nothing in the host: it is simply further behind. One that is more than a page behind is told so by a `behind`
event, `{"after": N}`: what follows is from N on and not new. A comment every 15 s keeps the line open.

Readers at the same place share one reading of the journal, and one wake-up in the loop serves them all. The
first event after a quiet moment is sent at once; under load, wake-ups rest a moment for each reader, so that
hundreds of them cost a bounded share of the host and each still hears of a commit soon.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from standfast.domain.change import Actor

if TYPE_CHECKING:
    from standfast.serve.http import Caller

HEARTBEAT_SECONDS: Final = 15
PAGE: Final = 200
REST_SECONDS: Final = 0.0003
"""How long wake-ups rest for each reader: 60 ms with 200 of them."""
_encode: Final = msgspec.json.Encoder().encode


class Page(NamedTuple):
    """Events as they are sent, each with its kind, and the number to go on from."""

    lines: list[tuple[str, bytes]]
    last: int


class Feed:
    """The journal's readers of one host: who wakes them, and what they read together. Lives in one event loop."""

    def __init__(self, caller: Caller) -> None:
        self._caller: Final = caller
        self._readings: Final[dict[tuple[Actor, str | None, int], asyncio.Task[Page]]] = {}
        self._readers = 0
        self._commit = asyncio.Event()
        self._told = False
        self._rested = 0.0
        self._loop: asyncio.AbstractEventLoop | None = None

    async def page(self, actor: Actor, session: str | None, after: int) -> Page:
        """The next events after a number, of one session or all."""
        place = (actor, session, after)
        reading = self._readings.get(place)
        if reading is None:
            reading = asyncio.create_task(self._read(*place))
            self._readings[place] = reading
            reading.add_done_callback(lambda _: self._readings.pop(place, None))
        return await asyncio.shield(reading)

    async def _read(self, actor: Actor, session: str | None, after: int) -> Page:
        payload: Mapping[str, Any] = {"after": after, "session": session, "limit": PAGE}
        answer = await asyncio.wrap_future(self._caller.submit("events.list", payload, actor))
        return Page([(event["kind"], _line(event)) for event in answer.result["events"]], answer.result["last"])

    @property
    def commit(self) -> asyncio.Event:
        """What is set at the next commit. To miss none, take it before reading."""
        return self._commit

    async def lines(self, actor: Actor, session: str | None, kinds: frozenset[str], page: Page) -> AsyncIterator[bytes]:
        """Server-sent events of some kinds or all, from a first page on, for as long as the reader stays."""
        self._enter()
        try:
            yield b"retry: 1000\n\n"
            while True:
                if chunk := b"".join(line for kind, line in page.lines if not kinds or kind in kinds):
                    yield chunk
                full = len(page.lines) == PAGE
                commit, after = self.commit, page.last
                page = await self.page(actor, session, after)
                if full and page.lines:
                    yield b'event: behind\ndata: {"after":%d}\n\n' % after
                while not page.lines:
                    if not await _set(commit):
                        yield b": still here\n\n"
                    commit = self.commit
                    page = await self.page(actor, session, after)
        finally:
            self._leave()

    def _enter(self) -> None:
        self._readers += 1
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._forget = self._caller.listen(self._committed)

    def _leave(self) -> None:
        self._readers -= 1
        if self._readers == 0 and self._loop is not None:
            self._forget()
            self._loop = None

    def _committed(self, last: int, sessions: frozenset[str]) -> None:
        """In the thread that committed: tells the loop, once until it has heard."""
        loop = self._loop
        if loop is not None and not self._told:
            self._told = True
            loop.call_soon_threadsafe(self._rest, loop)

    def _rest(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wakes the readers now, or when the rest after the last time is over."""
        loop.call_at(max(loop.time(), self._rested), self._wake, loop)

    def _wake(self, loop: asyncio.AbstractEventLoop) -> None:
        self._told = False
        self._rested = loop.time() + self._readers * REST_SECONDS
        woken, self._commit = self._commit, asyncio.Event()
        woken.set()


async def _set(event: asyncio.Event) -> bool:
    """Whether an event came before the next sign of life is due."""
    try:
        async with asyncio.timeout(HEARTBEAT_SECONDS):
            return await event.wait()
    except TimeoutError:
        return False


def _line(event: Mapping[str, Any]) -> bytes:
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (event["seq"], str(event["kind"]).encode(), _encode(event))
