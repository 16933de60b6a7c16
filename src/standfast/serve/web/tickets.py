"""Logging in to the page: a one-time ticket becomes a bearer, both in the host's memory only.

The ticket travels in the address's fragment, which no browser sends and no log keeps. The bearer lives in the
page's session storage: a cookie would go to every server on this machine, whatever its port. Only digests are
kept, and a lookup by digest tells nothing by its time.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable
from typing import Final

TICKET_SECONDS: Final = 300
BEARER_SECONDS: Final = 12 * 3_600
MOST: Final = 64


class Tickets:
    """Open tickets and bearers with their times; the oldest give way past `MOST`. `clock` counts seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._tickets: dict[str, float] = {}
        self._bearers: dict[str, float] = {}

    def issue(self) -> str:
        """A ticket that opens once, within `TICKET_SECONDS`."""
        return self._kept(self._tickets, TICKET_SECONDS)

    def redeem(self, ticket: str) -> str | None:
        """A bearer for a ticket, which is then used up; None when it is unknown, used or late."""
        with self._lock:
            until = self._tickets.pop(_digest(ticket), 0.0)
        return self._kept(self._bearers, BEARER_SECONDS) if self._clock() < until else None

    def holds(self, bearer: str) -> bool:
        """Whether this is a page's bearer; using it keeps it open for `BEARER_SECONDS` more."""
        digest = _digest(bearer)
        with self._lock:
            if self._clock() >= self._bearers.get(digest, 0.0):
                self._bearers.pop(digest, None)
                return False
            self._bearers[digest] = self._clock() + BEARER_SECONDS
            return True

    def revoke(self, bearer: str) -> None:
        """Ends a page's login."""
        with self._lock:
            self._bearers.pop(_digest(bearer), None)

    def _kept(self, table: dict[str, float], seconds: float) -> str:
        made = secrets.token_urlsafe(32)
        with self._lock:
            while len(table) >= MOST:
                table.pop(next(iter(table)))
            table[_digest(made)] = self._clock() + seconds
        return made


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
