"""Notices: a person is told when a verdict is wanted or something became ambiguous.

`notify.command` is an operator's setting, split like a shell would and run without one; the facts are in its
environment (`STANDFAST_NOTICE`, `STANDFAST_PLAN`, `STANDFAST_TITLE`), escaped. A notice that fails, hangs or
is slow changes nothing: it is given ten seconds and forgotten.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from standfast.domain.change import Actor
from standfast.domain.text import escape_title

if TYPE_CHECKING:
    from standfast.host.door import Host

ACTOR: Final = Actor(role="host", name="notify")
SECONDS: Final = 10
NOTICES: Final[Mapping[str, str]] = {
    "plan.submitted": "waits for your verdict",
    "plan.expired": "expired without a verdict",
    "task.await": "has a task that waits for you",
}


async def notify(host: Host) -> None:
    """Follows the journal from now on, until it is cancelled."""
    loop = asyncio.get_running_loop()
    woken = asyncio.Event()
    forget = host.listen(lambda last, sessions: loop.call_soon_threadsafe(woken.set))
    after = await asyncio.to_thread(host.look, lambda work: work.tx.number("events_last"), ACTOR)
    try:
        while True:
            page = await _page(host, after)
            after = page["last"]
            for event in page["events"]:
                if event["kind"] in NOTICES:
                    await _tell(host, event)
            if not page["events"]:
                await woken.wait()
                woken.clear()
    finally:
        forget()


async def _page(host: Host, after: int) -> Mapping[str, Any]:
    return (await asyncio.wrap_future(host.submit("events.list", {"after": after}, ACTOR))).result


async def _tell(host: Host, event: Mapping[str, Any]) -> None:
    settings = (await asyncio.wrap_future(host.submit("settings.get", {}, ACTOR))).result["settings"]
    command = settings["notify.command"]
    if not command:
        return
    plan = (await asyncio.wrap_future(host.submit("plan.get", {"plan": event["data"]["plan"]}, ACTOR))).result
    facts = {
        "STANDFAST_NOTICE": f"{plan['number']} {NOTICES[event['kind']]}",
        "STANDFAST_PLAN": plan["number"],
        "STANDFAST_TITLE": escape_title(plan["title"]),
    }
    with contextlib.suppress(OSError, ValueError, TimeoutError):
        await _run(shlex.split(command), {**os.environ, **facts})


async def _run(words: list[str], environment: Mapping[str, str]) -> None:
    null = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*words, env=environment, stdin=null, stdout=null, stderr=null)
    try:
        await asyncio.wait_for(process.wait(), SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
