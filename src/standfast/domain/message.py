"""The outbox: what the host owes to a session's model, delivered once with its next turn.

A message is written in the transaction of the fact that it tells. It is handed out by the next turn's start
or by a coordinator, and marked delivered there; the restart fence cancels what an earlier boot left
undelivered about an execution, a person's remark stays.
"""

from __future__ import annotations

from typing import Final

import msgspec

from standfast.domain.change import Context, Event, Put, Row
from standfast.domain.machine import Machine
from standfast.domain.session import aggregate

KINDS: Final = ("verdict", "remark")
MESSAGE: Final = Machine(
    "message", "pending", {("pending", "deliver"): "delivered", ("pending", "cancel"): "cancelled"}
)


class Message(Row, frozen=True):
    """One text owed to a session. `kind` is `verdict` or `remark`; `text` is plain, quoted when shown."""

    id: str
    session_id: str
    status: str
    kind: str
    plan_id: str | None
    text: str
    boot: str
    created_at: int
    settled_at: int | None


def owed(session_id: str, kind: str, plan_id: str | None, text: str, ctx: Context) -> Event:
    """A new message as an event of its session."""
    message = Message(
        id=ctx.new_id("msg"),
        session_id=session_id,
        status=MESSAGE.initial,
        kind=kind,
        plan_id=plan_id,
        text=text,
        boot=ctx.boot,
        created_at=ctx.now,
        settled_at=None,
    )
    data: dict[str, object] = {"message": message.id, "kind": kind}
    return Event("message.queued", aggregate(session_id), session_id, data, (Put(None, message),))


def settled(message: Message, action: str, ctx: Context) -> Event:
    """The message delivered or cancelled."""
    status = MESSAGE.step(message.status, action, f"message {message.id}")
    after = msgspec.structs.replace(message, status=status, settled_at=ctx.now)
    data: dict[str, object] = {"message": message.id}
    chain = aggregate(message.session_id)
    return Event(f"message.{status}", chain, message.session_id, data, (Put(message, after),))
