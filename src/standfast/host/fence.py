"""The restart fence (I7): what an earlier boot left open is closed before the first request is served.

One transaction marks its pending proposals and live executions `interrupted` and cancels what it still owed
about them. Nothing is replayed; a person can reoffer. Trackers, modes and the turns of clients that live on
are not touched. Files that a crash left are finished or removed by their intents alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from standfast.domain import execution, message, verdict
from standfast.domain.change import Actor, Change, Event
from standfast.domain.message import Message
from standfast.domain.plan import Execution, Intent, Plan
from standfast.domain.session import Session
from standfast.host import artifacts
from standfast.host.submission import closed_intent
from standfast.host.work import Work

if TYPE_CHECKING:
    from standfast.host.door import Host

FENCE: Final = Actor(role="host", name="fence")


def raise_fence(host: Host) -> dict[str, object]:
    """Runs the fence, repairs files, and gives what it found: counts of plans, executions, messages, files."""
    result = dict(host.write_change(_interrupt, FENCE))
    result["files"] = _repair(host)
    host.gates.rewrite(host.look(lambda work: work.tx.find(Session, "sessions_in_plan_mode"), FENCE))
    return result


def _interrupt(work: Work) -> Change:
    boot = work.ctx.boot
    plans = work.tx.find(Plan, "plans_pending_of_other_boots", boot=boot)
    live = work.tx.find(Execution, "executions_live_of_other_boots", boot=boot)
    owed = [item for item in work.tx.find(Message, "messages_of_other_boots", boot=boot) if item.kind == "start"]
    events: list[Event] = []
    for plan in plans:
        due = verdict.expire(plan, work.ctx)
        events += [due] if due is not None else verdict.interrupt(plan, "host restarted", work.ctx).events
    for run in live:
        events += execution.interrupted(run, "host restarted", work.ctx)
    events += [message.settled(item, "cancel", work.ctx) for item in owed]
    return Change({"plans": len(plans), "executions": len(live), "messages": len(owed)}, tuple(events))


def _repair(host: Host) -> int:
    intents = host.look(lambda work: work.tx.find(Intent, "intents_open"), FENCE)
    for intent in intents:
        _repair_one(host, intent)
    return len(intents)


def _repair_one(host: Host, intent: Intent) -> None:
    kept = intent.status == "kept"
    try:
        host.artifacts.recover(
            artifacts.Left(Path(intent.checkout), intent.directory, intent.temp_name, intent.sha256, intent.size),
            kept=kept,
        )
    except artifacts.ArtifactError:
        return  # the workspace is not there now; the intent stays open and is judged at the next start
    action = "finish" if kept else "drop"
    host.write_change(lambda work: Change({}, (closed_intent(intent, action),)), FENCE)
