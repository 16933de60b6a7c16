"""Logging in to the page: a one-time ticket becomes a bearer.

The ticket travels in the address's fragment, which no browser sends and no log keeps. The bearer lives in the
page's session storage: a cookie would go to every server on this machine, whatever its port. Only digests are
kept, and a lookup by digest tells nothing by its time.

Tickets are in memory; bearers are also in one file of the home (0600), so that a restart of the host logs no
page out and a logged-out bearer stays nothing.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

TICKET_SECONDS: Final = 300
BEARER_SECONDS: Final = 12 * 3_600
SAVED_SECONDS: Final = 600
"""A bearer's longer life is written down when it has grown by this much."""
MOST: Final = 64


class Tickets:
    """Open tickets and bearers with their times; the oldest give way past `MOST`.

    `clock` counts seconds since the epoch. `file` keeps the bearers' digests; None keeps them in memory only.
    """

    def __init__(self, clock: Callable[[], float] = time.time, file: Path | None = None) -> None:
        self._clock: Final = clock
        self._file: Final = file
        self._lock: Final = threading.Lock()
        self._tickets: Final[dict[str, float]] = {}
        self._bearers: Final[dict[str, float]] = _read(file)

    def issue(self) -> str:
        """A ticket that opens once, within `TICKET_SECONDS`."""
        with self._lock:
            return self._kept(self._tickets, TICKET_SECONDS)

    def redeem(self, ticket: str) -> str | None:
        """A bearer for a ticket, which is then used up; None when it is unknown, used or late."""
        with self._lock:
            if self._clock() >= self._tickets.pop(_digest(ticket), 0.0):
                return None
            bearer = self._kept(self._bearers, BEARER_SECONDS)
            self._save()
            return bearer

    def holds(self, bearer: str) -> bool:
        """Whether this is a page's bearer; using it keeps it open for `BEARER_SECONDS` more."""
        digest = _digest(bearer)
        with self._lock:
            until = self._bearers.get(digest, 0.0)
            if self._clock() >= until:
                self._bearers.pop(digest, None)
                return False
            longer = self._clock() + BEARER_SECONDS
            if longer - until >= SAVED_SECONDS:
                self._bearers[digest] = longer
                self._save()
            return True

    def revoke(self, bearer: str) -> None:
        """Ends a page's login."""
        with self._lock:
            self._bearers.pop(_digest(bearer), None)
            self._save()

    def _kept(self, table: dict[str, float], seconds: float) -> str:
        made = secrets.token_urlsafe(32)
        while len(table) >= MOST:
            table.pop(next(iter(table)))
        table[_digest(made)] = self._clock() + seconds
        return made

    def _save(self) -> None:
        """Writes the bearers anew, whole or not at all; a disk that refuses costs a login after a restart."""
        if self._file is None:
            return
        fresh = self._file.with_name(f"{self._file.name}.new")
        with contextlib.suppress(OSError):
            fresh.unlink(missing_ok=True)
            with open(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as stream:
                stream.write(msgspec.json.encode(self._bearers))
            fresh.replace(self._file)


def _read(file: Path | None) -> dict[str, float]:
    """The bearers of earlier boots; a file that cannot be read holds none."""
    if file is None:
        return {}
    try:
        return msgspec.json.decode(file.read_bytes(), type=dict[str, float])
    except (OSError, msgspec.DecodeError):
        return {}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
