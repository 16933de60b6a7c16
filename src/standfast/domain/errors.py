"""Every refusal that Standfast can give, in one table.

A refusal is an answer: nothing was written, the message says what (which object, in which state) and what
to do instead. `CODES` is the only place where a code is introduced; transports map the *kind* of a code to
their own terms (an HTTP status, an exit code) in one table each and never look at single codes.

Not here: faults of the program or of the storage. Those are exceptions of their own layers.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec


class Kind(StrEnum):
    """What sort of refusal a code is; the only thing that a transport needs to know."""

    INVALID = "invalid"
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not_found"
    CONFLICT = "conflict"
    LIMIT = "limit"
    UNAVAILABLE = "unavailable"
    INTERNAL = "internal"


class Code(msgspec.Struct, frozen=True):
    """One registered code: its kind, whether the same call can succeed later unchanged, its meaning."""

    kind: Kind
    meaning: str
    retryable: bool = False


_INVALID, _NOT_FOUND, _CONFLICT, _FORBIDDEN = Kind.INVALID, Kind.NOT_FOUND, Kind.CONFLICT, Kind.FORBIDDEN

CODES: Final[dict[str, Code]] = {
    # The door
    "invalid": Code(_INVALID, "The input does not fit the operation's schema or its limits."),
    "unknown_operation": Code(_NOT_FOUND, "No operation has this name."),
    "unauthenticated": Code(Kind.UNAUTHENTICATED, "The connection brought no valid token."),
    "forbidden": Code(_FORBIDDEN, "The role of this connection may not do this."),
    "passphrase_required": Code(_FORBIDDEN, "The operator lock is closed; the person's passphrase is needed."),
    "not_found": Code(_NOT_FOUND, "Nothing has this id or number."),
    "wrong_session": Code(_FORBIDDEN, "The object belongs to another session."),
    "session_required": Code(_INVALID, "The operation acts on a session and the call names none."),
    "idempotency_conflict": Code(_CONFLICT, "The key was already used with another payload."),
    "conflict": Code(_CONFLICT, "A different answer to the same question is already stored."),
    "limit": Code(Kind.LIMIT, "A named limit was passed; nothing was written."),
    "unavailable": Code(Kind.UNAVAILABLE, "The host cannot take the call now.", retryable=True),
    "storage_full": Code(Kind.UNAVAILABLE, "The disk is full; nothing was written.", retryable=True),
    "storage_failed": Code(Kind.UNAVAILABLE, "The store failed; the outcome was not acknowledged."),
    "internal": Code(Kind.INTERNAL, "A fault of the program; nothing was written."),
    # Sessions and turns
    "session_closed": Code(_CONFLICT, "The session was closed; it can be started again by its client."),
    "session_busy": Code(_CONFLICT, "A turn runs or an execution is live.", retryable=True),
    "no_active_turn": Code(_CONFLICT, "The session's client reports turns and none is active."),
    "entry_unknown": Code(_NOT_FOUND, "No entry of this session's tree has this id."),
    "workspace_required": Code(_INVALID, "The session has no workspace."),
    "workspace_missing": Code(_NOT_FOUND, "The workspace is not a directory on this machine."),
    # Plans
    "plan_mode_required": Code(_CONFLICT, "This client has its own plan mode and must enter it first."),
    "plan_already_pending": Code(_CONFLICT, "A plan of this session waits for its verdict."),
    "plan_alone_in_batch": Code(_CONFLICT, "A submission must be the only tool call of its batch."),
    "plan_ambiguous": Code(_CONFLICT, "Several projects have a plan with this number."),
    "invalid_action": Code(_CONFLICT, "The plan's state does not allow this."),
    "permission_mode_required": Code(_INVALID, "An approval names its permission mode."),
    "stale": Code(_CONFLICT, "The version or digest is not the one that is pending."),
    "artifact_hash_mismatch": Code(_CONFLICT, "The artifact on disk is not the proposal."),
    "artifact_path_unsafe": Code(_FORBIDDEN, "The artifact's path leaves the workspace or follows a link."),
    "artifact_write_failed": Code(Kind.UNAVAILABLE, "The artifact could not be written.", retryable=True),
    "artifact_limit": Code(Kind.LIMIT, "Too many artifacts carry this name in this second."),
    "PLAN_APPROVAL_TIMEOUT": Code(_CONFLICT, "The proposal expired before a verdict."),
    "PLAN_REQUIRES_INTERACTIVE_SESSION": Code(_FORBIDDEN, "A scheduled session cannot ask for a verdict."),
    # Mode gate
    "tool_denied_in_plan": Code(_FORBIDDEN, "Plan mode allows reading and planning only."),
    "todo_denied_in_plan": Code(_FORBIDDEN, "Plan mode allows no todo list; a checklist is not a proposal."),
    # Todos
    "todo_multiple_in_progress": Code(_CONFLICT, "Two items of one list are in progress at once."),
    "todo_unknown": Code(_NOT_FOUND, "The list has no item with this id, and no content was sent."),
    # Ticks
    "no_active_plan": Code(_CONFLICT, "The session has no approved plan to tick."),
    "plan_superseded": Code(_CONFLICT, "A newer approved plan took this one's place."),
    "plan_not_active": Code(_CONFLICT, "The task belongs to a plan that is not this session's tracker."),
    "task_unknown": Code(_NOT_FOUND, "No task of the plan has this id or exact title."),
    "task_ambiguous": Code(_CONFLICT, "Several tasks have this title; the id is required."),
    "task_uncertain": Code(_CONFLICT, "Its outcome is unknown; a person resolves it."),
    "out_of_order": Code(_CONFLICT, "Something that must come first is not done."),
    "begin_required": Code(_CONFLICT, "Work that cannot be undone is announced by a begin first."),
    "evidence_missing": Code(_CONFLICT, "The plan's evidence policy asks for more than was given."),
}


class Refusal(Exception):
    """An operation was refused; nothing was written.

    `code` is a key of `CODES` (anything else is a `KeyError` here, so that no code escapes the table),
    `message` one or two sentences for a person or a model, `details` plain JSON values.
    """

    def __init__(self, code: str, message: str, **details: object) -> None:
        super().__init__(message)
        self.spec = CODES[code]
        self.code = code
        self.message = message
        self.details = details

    @property
    def retryable(self) -> bool:
        """Whether the same call can succeed later unchanged."""
        return self.spec.retryable

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"
