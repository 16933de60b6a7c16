"""Evidence: why "done" is true, and who vouches for it.

A plan's policy is the strictest of the verdict's, the workspace's and, for a task with a verifier, `command`.
Commands run by the host come with their own operation; until then `command` asks for any evidence. What only
a person can give makes a tick wait for the person instead of refusing it.
"""

from __future__ import annotations

from typing import Final

import msgspec

from standfast.domain.change import Context
from standfast.domain.checklist import PlanTask
from standfast.domain.errors import Refusal
from standfast.domain.tracker import Evidence, Tick

POLICIES: Final = ("none", "any", "command", "human")
KINDS: Final = ("reported", "human", "commit", "url", "artifact")
VOUCHERS: Final = ("agent", "person", "host")
MAX_ITEMS: Final = 16
MAX_VALUE: Final = 2_000


class Item(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One piece of evidence as it is given: a kind and its value (a remark, a commit id, a URL, a path)."""

    kind: str
    value: str


def checked(items: tuple[Item, ...], role: str) -> tuple[Item, ...]:
    """The items, within their limits; `human` evidence is an operator's alone."""
    if len(items) > MAX_ITEMS:
        raise Refusal("limit", f"At most {MAX_ITEMS} pieces of evidence.", field="evidence", limit=MAX_ITEMS)
    for item in items:
        if item.kind not in KINDS:
            raise Refusal("invalid", f"Evidence kind {item.kind!r} is not one of {', '.join(KINDS)}.")
        if item.kind == "human" and role != "operator":
            raise Refusal("forbidden", "Only a person can give human evidence.", field="evidence")
        if not item.value.strip():
            raise Refusal("invalid", "A piece of evidence is blank.", field="evidence")
        if len(item.value) > MAX_VALUE:
            raise Refusal("limit", f"Evidence is longer than {MAX_VALUE} characters.", limit=MAX_VALUE)
    return items


def missing(task: PlanTask, policies: tuple[str, ...], items: tuple[Item, ...]) -> str | None:
    """What a tick still lacks: None, `human` (it may wait for a person), or a refusal for anything else."""
    asked = max((*policies, "command" if task.verify else "none"), key=POLICIES.index)
    wanted = POLICIES.index(asked)
    needs_any = asked in ("any", "command") or task.verify is not None
    if wanted and needs_any and not items:
        verifier = f" Run `{task.verify}` and say what it showed." if task.verify else ""
        raise Refusal(
            "evidence_missing",
            f"This task needs evidence (policy {asked}): send `evidence` with the tick.{verifier}",
            policy=asked,
        )
    if asked == "human" and not any(item.kind == "human" for item in items):
        return "human"
    return None


def recorded(items: tuple[Item, ...], tick: Tick, ctx: Context) -> tuple[Evidence, ...]:
    """The items as rows of a tick; an operator's are vouched for by a person."""
    vouched = "person" if ctx.actor.role == "operator" else "agent"
    return tuple(
        Evidence(
            id=ctx.new_id("evd"),
            tick_id=tick.id,
            kind=item.kind,
            value=item.value,
            vouched_by=vouched,
            at=ctx.now,
        )
        for item in items
    )
