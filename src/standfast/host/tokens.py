"""Session tokens: proof that a connection speaks for a session, without a table.

A token is the session's id and a keyed digest of it under the home's secret; a coordinator's credential is
the same under another purpose. Both are computed, never stored, and mean nothing in another home.
"""

from __future__ import annotations

import hashlib
import hmac


def _mac(secret: bytes, purpose: str, session: str) -> str:
    return hmac.new(secret, f"{purpose}:{session}".encode(), hashlib.sha256).hexdigest()[:32]


def session_token(secret: bytes, session: str) -> str:
    """The token that an agent's connection sends to speak for its session."""
    return f"{session}.{_mac(secret, 'session', session)}"


def coordinator_token(secret: bytes, session: str) -> str:
    """The bearer credential of one session's coordinator."""
    return f"co.{session}.{_mac(secret, 'coordinator', session)}"


def read_session(secret: bytes, token: str) -> str | None:
    """The session that a token proves, or None."""
    session, _, given = token.rpartition(".")
    return session if session and hmac.compare_digest(given, _mac(secret, "session", session)) else None


def read_coordinator(secret: bytes, token: str) -> str | None:
    """The session whose coordinator this bearer is, or None."""
    if not token.startswith("co."):
        return None
    session, _, given = token[3:].rpartition(".")
    return session if session and hmac.compare_digest(given, _mac(secret, "coordinator", session)) else None
