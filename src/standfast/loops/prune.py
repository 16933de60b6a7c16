"""The duty of once a day: receipts past their retention go; those of verdicts stay."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final

from standfast.domain.change import Actor
from standfast.domain.errors import Refusal

if TYPE_CHECKING:
    from standfast.host.door import Host

ACTOR: Final = Actor(role="host", name="prune")
DAY_SECONDS: Final = 86_400.0


async def prune(host: Host, every_seconds: float = DAY_SECONDS) -> None:
    """Runs at the start and then once a day, until it is cancelled; a refusal is tried again the next time."""
    while True:
        with contextlib.suppress(Refusal):
            await asyncio.wrap_future(host.submit("receipts.prune", {}, ACTOR))
        await asyncio.sleep(every_seconds)
