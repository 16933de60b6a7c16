"""Plans: a proposal, its exact bytes, its verdict, its execution and its tracker, as rows and machines.

A plan is immutable but for its status. The bytes live in their own row (`PlanText`) beside the checklist that
was parsed from them once. An execution is the one authorised turn that starts an approved plan; a tracker is
the approved checklist with its progress in one session. The three are separate on purpose: an execution that
was interrupted keeps its ticks, and ticks do not say that an execution ran.

Not here: the verdict (`verdict`), ticks (`tracker`), what a model is told (`views`).
"""

from __future__ import annotations

from typing import Final

import msgspec

from standfast.domain.change import Row
from standfast.domain.checklist import Checklist
from standfast.domain.errors import Refusal
from standfast.domain.machine import Machine

MAX_MARKDOWN_BYTES: Final = 524_288
MAX_TITLE: Final = 200
MAX_QUESTION: Final = 2_000
MAX_NOTE: Final = 2_000
INSTRUCTION_INLINE_BYTES: Final = 8_192
MINUTE_MS: Final = 60_000
DAY_MS: Final = 86_400_000
EXPIRY_DEFAULT_MS: Final = 30 * MINUTE_MS
EXPIRY_RANGE_MS: Final = (MINUTE_MS, 7 * DAY_MS)
ORIGINS: Final = ("submitted", "adopted", "reoffered")

PLAN: Final = Machine(
    "plan",
    "pending",
    {
        ("pending", "approve"): "approved",
        ("pending", "reject"): "rejected",
        ("pending", "expire"): "expired",
        ("pending", "interrupt"): "interrupted",
    },
)
EXECUTION: Final = Machine(
    "execution",
    "queued",
    {
        ("queued", "claim"): "running",
        ("queued", "interrupt"): "interrupted",
        ("running", "complete"): "completed",
        ("running", "interrupt"): "interrupted",
    },
)
TRACKER: Final = Machine(
    "tracker",
    "active",
    {
        ("active", "complete"): "complete",
        ("complete", "reopen"): "active",
        ("active", "supersede"): "superseded",
        ("complete", "supersede"): "superseded",
        ("active", "abandon"): "abandoned",
        ("complete", "abandon"): "abandoned",
    },
)
LIVE_EXECUTION: Final = ("queued", "running")
OPEN_TRACKER: Final = ("active", "complete")


class Plan(Row, frozen=True):
    """One submitted proposal. `path` is relative to `checkout`; `version` counts its changes of status."""

    id: str
    number: int
    status: str
    version: int
    project_id: str
    session_id: str
    turn_id: str | None
    tool_call_id: str | None
    origin: str
    title: str
    question: str
    sha256: str
    size: int
    tasks: int
    checkout: str
    path: str
    permission_mode: str | None
    evidence: str
    resolver: str | None
    note: str | None
    error_code: str | None
    supersedes: str | None
    replaces: str | None
    boot: str
    created_at: int
    expires_at: int
    resolved_at: int | None

    @property
    def ref(self) -> str:
        """The number as people and models write it."""
        return f"P-{self.number}"


class PlanText(Row, frozen=True):
    """The exact bytes that were proposed and the checklist parsed from them; never rewritten."""

    plan_id: str
    markdown: bytes
    checklist: Checklist


class Execution(Row, frozen=True):
    """The authorised start of an approved plan; handed out exactly once."""

    id: str
    plan_id: str
    session_id: str
    status: str
    turn_id: str | None
    claimed_by: str | None
    boot: str
    created_at: int
    claimed_at: int | None
    ended_at: int | None


class Tracker(Row, frozen=True):
    """An approved plan's checklist in one session.

    `states` has one letter per task on the selected branch (see `tracker.LETTERS`); it is the fold of the
    ticks and is stored so that a tick costs the same at 1,000 tasks as at 10. `begun` maps positions of
    begun tasks to the turn that began them. `entry` is the branch entry at the approval, None without a tree;
    `on_branch` is false where the selected branch does not contain it.
    """

    plan_id: str
    session_id: str
    status: str
    entry: str | None
    on_branch: bool
    states: str
    begun: dict[str, str]
    ticks: int
    created_at: int
    updated_at: int


class Intent(Row, frozen=True):
    """The record that a file is about to be written: what a crash leaves is judged by it alone."""

    id: str
    status: str
    plan_id: str
    checkout: str
    directory: str
    path: str
    temp_name: str
    sha256: str
    size: int
    created_at: int


INTENT: Final = Machine(
    "intent",
    "intended",
    {("intended", "keep"): "kept", ("intended", "drop"): "dropped", ("kept", "finish"): "done"},
)


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """The three things that a submission says, checked against their limits."""

    title: str
    question: str
    markdown: bytes


def proposal(title: str, question: str, markdown: bytes) -> Proposal:
    """Checks a submission's texts: lengths, blanks, UTF-8. Limits are those named above."""
    _bounded("title", title, MAX_TITLE)
    _bounded("question", question, MAX_QUESTION)
    if len(markdown) > MAX_MARKDOWN_BYTES:
        raise Refusal(
            "limit",
            f"markdown has {len(markdown)} bytes; at most {MAX_MARKDOWN_BYTES} are taken. Shorten the plan.",
            field="markdown",
            limit=MAX_MARKDOWN_BYTES,
        )
    try:
        blank = not markdown.decode("utf-8").strip()
    except UnicodeDecodeError as error:
        raise Refusal("invalid", f"markdown is not UTF-8 at byte {error.start}.", field="markdown") from error
    if b"\0" in markdown:
        raise Refusal(
            "invalid", "markdown holds the character U+0000, which no reader shows; take it out.", field="markdown"
        )
    if blank:
        raise Refusal("invalid", "markdown is blank; send the plan's text.", field="markdown")
    return Proposal(title=title, question=question, markdown=markdown)


def _bounded(field: str, text: str, limit: int) -> None:
    if not text.strip():
        raise Refusal("invalid", f"{field} is blank.", field=field)
    if len(text) > limit:
        raise Refusal("limit", f"{field} has {len(text)} characters; at most {limit}.", field=field, limit=limit)


def aggregate(plan_id: str) -> str:
    """The name of a plan's hash chain."""
    return f"plan:{plan_id}"


def parse_ref(text: str) -> tuple[int, int | None] | None:
    """`P-3` is `(3, None)`, `P-3.4` is `(3, 4)`; anything else is None (an opaque id, or nothing)."""
    head, dash, rest = text.partition("-")
    number, dot, position = rest.partition(".")
    if head != "P" or not dash or not _decimal(number) or (dot and not _decimal(position)):
        return None
    return int(number), int(position) if dot else None


def _decimal(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 9 and not text.startswith("0")
