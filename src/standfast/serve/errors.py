"""Refusals on HTTP: one mapping table, by kind."""

from __future__ import annotations

from typing import Any, Final

from standfast.domain.errors import Kind, Refusal

STATUS: Final[dict[Kind, int]] = {
    Kind.INVALID: 400,
    Kind.UNAUTHENTICATED: 401,
    Kind.FORBIDDEN: 403,
    Kind.NOT_FOUND: 404,
    Kind.CONFLICT: 409,
    Kind.LIMIT: 413,
    Kind.UNAVAILABLE: 503,
    Kind.INTERNAL: 500,
}


def body(refusal: Refusal) -> dict[str, Any]:
    """A refusal as the JSON that every HTTP surface answers with."""
    return {
        "error": {
            "code": refusal.code,
            "message": refusal.message,
            "retryable": refusal.retryable,
            "details": refusal.details,
        }
    }
