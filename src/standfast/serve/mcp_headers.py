"""How a caller's facts travel on an MCP request, and how they become a `CallContext`.

Theory of operation
-------------------
The pipe adds a few headers of its own to every request; a client that speaks HTTP itself has none of them and
gets what the protocol offers (its transport session, the client info of its envelope or handshake, a profile
in the URL's query). One table of names, one function, so that both kinds of caller end in the same value.

Invariants
- A header is a claim, not a proof: nothing here grants anything. The role is fixed by `CallContext`.
- Text is percent-encoded UTF-8 on the wire, bounded here, and free of control characters afterwards; a value
  that breaks this is treated as absent.

Not here: the bearer token (checked in front of the endpoint), the choice of the session (the host's table).
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import parse_qs, unquote

from standfast.serve.surface import CallContext

CLIENT_SESSION = "standfast-client-session"
WORKSPACE = "standfast-workspace"
CLIENT = "standfast-client"
PARENT_PID = "standfast-parent-pid"
PROFILE = "standfast-profile"
IDEMPOTENCY_KEY = "idempotency-key"
TRANSPORT_SESSION = "mcp-session-id"

LIMIT_CHARACTERS = 4096


def text_of(value: str | None) -> str | None:
    """The decoded text; None when absent, empty, too long, not UTF-8 or with control characters."""
    if not value or len(value) > 3 * LIMIT_CHARACTERS:
        return None
    try:
        text = unquote(value, errors="strict")
    except UnicodeDecodeError:
        return None
    return text if text.isprintable() and len(text) <= LIMIT_CHARACTERS else None


def profile_of(headers: Mapping[str, str], query: str) -> str:
    """The tool profile: the pipe's header, else `?profile=` of the URL, else empty (the default tools)."""
    named = text_of(headers.get(PROFILE))
    if named is None:
        named = text_of(parse_qs(query).get("profile", [""])[0])
    return named or ""


def _pid_of(value: str | None) -> int | None:
    return int(value) if value and value.isascii() and value.isdecimal() and len(value) < 11 else None


def context_of(
    headers: Mapping[str, str],
    query: str,
    *,
    client_name: str | None,
    protocol_version: str,
    meta: Mapping[str, object],
) -> CallContext:
    """The context of one request. `client_name` comes from the protocol and yields to the header."""
    transport = text_of(headers.get(TRANSPORT_SESSION))
    return CallContext(
        client_session=text_of(headers.get(CLIENT_SESSION)) or transport,
        transport_session=transport,
        workspace=text_of(headers.get(WORKSPACE)),
        client_name=text_of(headers.get(CLIENT)) or client_name,
        idempotency_key=text_of(headers.get(IDEMPOTENCY_KEY)),
        parent_pid=_pid_of(headers.get(PARENT_PID)),
        profile=profile_of(headers, query),
        protocol_version=protocol_version,
        meta=meta,
    )
