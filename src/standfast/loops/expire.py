"""The duty of the quiet hours: a proposal expires at its deadline although nobody calls.

Sleeps until the next deadline or the next commit, then calls the door; the sweep at the start of every write
does the rest. Waiters are woken by that commit.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final

from standfast.domain.change import Actor
from standfast.domain.errors import Refusal

if TYPE_CHECKING:
    from standfast.host.door import Host

ACTOR: Final = Actor(role="host", name="expire")
LONGEST_SECONDS: Final = 60.0


async def expire(host: Host) -> None:
    """Runs until it is cancelled."""
    loop = asyncio.get_running_loop()
    woken = asyncio.Event()
    forget = host.listen(lambda last, sessions: loop.call_soon_threadsafe(woken.set))
    try:
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(woken.wait(), await _seconds(host))
            woken.clear()
    finally:
        forget()


async def _seconds(host: Host) -> float:
    """Expires what is due; the seconds until the next deadline, at most a minute."""
    try:
        answer = await asyncio.wrap_future(host.submit("plans.expire", {}, ACTOR))
    except Refusal:
        return LONGEST_SECONDS
    due = int(answer.result["next"])
    if due == 0:
        return LONGEST_SECONDS
    now: int = await asyncio.to_thread(host.look, lambda work: work.ctx.now, ACTOR)
    return min(LONGEST_SECONDS, max(0.01, (due - now) / 1_000))
