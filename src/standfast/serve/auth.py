"""Who is calling: a bearer token becomes a role, a session header becomes a session. Nothing else does.

Four roles have a file in the home; a coordinator's credential is computed for one session. An agent speaks
for a session only with that session's token; people and observers name any session. On loopback TCP the
`Host` and `Origin` headers are checked, so that neither DNS rebinding nor another site reaches the host.

Not here: what a role may do (the host's policy).
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from standfast.domain.change import Actor
from standfast.domain.errors import Refusal
from standfast.host.tokens import read_coordinator, read_session
from standfast.serve.web.tickets import Tickets

LOCAL_NAMES: Final = frozenset({"localhost", "127.0.0.1", "::1"})
MAX_HEADER: Final = 400
PAGE: Final = "page"
"""The name of an operator who speaks through the page."""


class Keys:
    """The home's tokens and its secret, and the page's logins. `tokens` maps a role to its token.

    `pages` is the file that keeps the page's logins over a restart; without it they end with the host.
    """

    def __init__(self, tokens: Mapping[str, str], secret: bytes, pages: Path | None = None) -> None:
        self._tokens: Final = dict(tokens)
        self.pages: Final = Tickets(file=pages)
        self.secret: Final = secret

    def role(self, token: str) -> str | None:
        """The role whose token this is, compared in constant time."""
        found = None
        for role, own in self._tokens.items():
            if hmac.compare_digest(own.encode(), token.encode("utf-8", "surrogatepass")):
                found = role
        return found


def identify(headers: Mapping[str, str], keys: Keys) -> Actor:
    """The caller of a request; `unauthenticated` without a valid token, `forbidden` with a false session."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token:
        raise Refusal("unauthenticated", "Send a token of this home: `Authorization: Bearer …`.")
    named = headers.get("standfast-session") or None
    connection = headers.get("standfast-client-session", "")[:MAX_HEADER]
    session = read_coordinator(keys.secret, token)
    if session is not None:
        return Actor(role="coordinator", session=session, connection=connection)
    role = keys.role(token)
    if role is None and keys.pages.holds(token):
        return Actor(role="operator", session=named, name=PAGE, connection=connection)
    if role is None:
        raise Refusal("unauthenticated", "This token is not one of this home.")
    if role == "agent":
        return Actor(role=role, session=_proved(named, keys), name=connection or "agent", connection=connection)
    return Actor(role=role, session=named, name=role, connection=connection)


def _proved(token: str | None, keys: Keys) -> str | None:
    if token is None:
        return None
    session = read_session(keys.secret, token)
    if session is None:
        raise Refusal("forbidden", "The session token is not one of this home; start the session again.")
    return session


def local_request(headers: Mapping[str, str]) -> bool:
    """Whether `Host` names this machine and `Origin`, where sent, is exactly that host."""
    host = headers.get("host", "")
    if urlsplit(f"//{host}").hostname not in LOCAL_NAMES:
        return False
    origin = headers.get("origin")
    return origin is None or origin == f"http://{host}"
