"""The operator lock: with a passphrase, holding the operator's token is not enough to speak with a person's authority.

An agent with a shell under the person's account can read token files; it cannot read what the person knows. The
home keeps a scrypt verifier (0600), never the passphrase. It is read once, at the start: taking the file away
opens nothing until the host is restarted, and a file that cannot be read keeps the lock closed.

What it cannot do is said in the threat model: whoever can stop the host, change the home and start the host
again is the person as far as this machine can tell.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from standfast.domain.change import Actor, Change, Event
from standfast.domain.errors import Refusal
from standfast.host.operation import Input
from standfast.host.policy import LOCKED

if TYPE_CHECKING:
    from standfast.host.door import Host
    from standfast.host.work import Work

SHORTEST: Final = 8
LONGEST: Final = 1_000
LOG_N, R, P = 15, 8, 1
"""scrypt's cost: 32 MiB and about a tenth of a second."""
_LOG_NS: Final = range(14, 19)
_MEMORY: Final = 512 * 1_048_576
FREE_TRIES: Final = 5
LONGEST_PAUSE_SECONDS: Final = 60.0


def make_verifier(passphrase: str) -> str:
    """What is kept of a passphrase: `scrypt$15$8$1$salt$digest`, salt and digest in hexadecimal."""
    if not SHORTEST <= len(passphrase) <= LONGEST:
        raise Refusal("invalid", f"A passphrase has {SHORTEST} to {LONGEST} characters.", field="passphrase")
    salt = secrets.token_bytes(16)
    return f"scrypt${LOG_N}${R}${P}${salt.hex()}${_scrypt(passphrase, salt, LOG_N, R, P).hex()}"


def _scrypt(passphrase: str, salt: bytes, log_n: int, r: int, p: int) -> bytes:
    secret = passphrase.encode("utf-8", "surrogatepass")
    return hashlib.scrypt(secret, salt=salt, n=1 << log_n, r=r, p=p, maxmem=_MEMORY, dklen=32)


def _parsed(verifier: str) -> tuple[int, int, int, bytes, bytes] | None:
    """The parts of a verifier within their bounds, or None."""
    try:
        name, log_n, r, p, salt, digest = verifier.strip().split("$")
        parts = int(log_n), int(r), int(p), bytes.fromhex(salt), bytes.fromhex(digest)
    except ValueError:
        return None
    sound = name == "scrypt" and parts[0] in _LOG_NS and parts[1:3] == (8, 1) and len(parts[3]) >= 16
    return parts if sound and len(parts[4]) == 32 else None


class OperatorLock:
    """The lock of one home. `file` keeps it over restarts; None keeps it in memory. `clock` counts seconds."""

    def __init__(self, file: Path | None, clock: Callable[[], float] = time.monotonic) -> None:
        self._file: Final = file
        self._clock: Final = clock
        self._guard: Final = threading.Lock()
        self._verifier = _read(file)
        self._wrong = 0
        self._until = 0.0

    @property
    def closed(self) -> bool:
        """Whether a passphrase is asked for."""
        return self._verifier is not None

    def demand(self, actor: Actor, operation: str) -> None:
        """Refuses with `passphrase_required` what an operator may do only with the passphrase."""
        if self.closed and operation in LOCKED and actor.role == "operator" and not actor.confirmed:
            raise Refusal("passphrase_required", "The operator lock is closed: give its passphrase.")

    def check(self, passphrase: str) -> None:
        """Returns for the right passphrase. One at a time; after some wrong ones there is a growing pause.

        Takes a tenth of a second: not for an event loop.
        """
        with self._guard:
            left = self._until - self._clock()
            if left > 0:
                raise Refusal("unavailable", f"Too many wrong passphrases; try again in {left:.0f} s.")
            parts = _parsed(self._verifier or "")
            if parts is not None:
                log_n, r, p, salt, digest = parts
                if hmac.compare_digest(_scrypt(passphrase[:LONGEST], salt, log_n, r, p), digest):
                    self._wrong = 0
                    return
            self._wrong += 1
            if self._wrong >= FREE_TRIES:
                self._until = self._clock() + min(LONGEST_PAUSE_SECONDS, 2.0 ** (self._wrong - FREE_TRIES))
        damaged = "" if parts is not None else " (the home's operator-lock file is damaged)"
        raise Refusal("passphrase_required", f"That was not the passphrase{damaged}.")

    def prepare(self, verifier: str | None) -> Changing:
        """A change of the lock, on the disk but not in force; `invalid` for what is no verifier."""
        if verifier is not None and _parsed(verifier) is None:
            raise Refusal("invalid", "verifier is what `standfast operator protect` makes of a passphrase.")
        return Changing(self, verifier)

    def put(self, verifier: str | None, fresh: Path | None) -> None:
        """Puts a prepared change in force."""
        if self._file is not None and fresh is not None:
            fresh.replace(self._file)
        elif self._file is not None:
            self._file.unlink(missing_ok=True)
        self._verifier = verifier

    def written(self, verifier: str | None) -> Path | None:
        """The new file beside the old one, on the disk; None where there is none to write."""
        if self._file is None or verifier is None:
            return None
        fresh = self._file.with_name(f"{self._file.name}.new")
        fresh.unlink(missing_ok=True)
        with open(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as stream:
            stream.write(f"{verifier}\n")
            stream.flush()
            os.fsync(stream.fileno())
        return fresh


def _read(file: Path | None) -> str | None:
    """The verifier of an earlier boot; text that is none keeps the lock closed."""
    if file is None:
        return None
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
    except OSError:
        return ""


class Changing:
    """A change of the lock until its event is committed."""

    def __init__(self, lock: OperatorLock, verifier: str | None) -> None:
        self._lock: Final = lock
        self._verifier: Final = verifier
        try:
            self._fresh: Final = lock.written(verifier)
        except OSError as error:
            raise Refusal("unavailable", f"The lock cannot be written: {error.strerror}.") from error

    def settle(self, result: Mapping[str, object] | None) -> None:
        """In force after the commit, or gone."""
        if result is not None:
            self._lock.put(self._verifier, self._fresh)
        elif self._fresh is not None:
            self._fresh.unlink(missing_ok=True)


class Protect(Input, frozen=True):
    """A new verifier, made of a passphrase where it was typed; None takes the lock away."""

    verifier: str | None = None


def prepare_protect(host: Host, command: Protect, actor: Actor, key: str | None) -> Changing:
    """Writes the verifier beside the one that is in force."""
    return host.lock.prepare(command.verifier)


def protect(work: Work, command: Protect) -> Change:
    """Notes in the journal that the lock was changed, and nothing of what is kept."""
    word = "protected" if command.verifier is not None else "unprotected"
    return Change({"locked": command.verifier is not None}, (Event(f"operator.{word}", "host:operator", None, {}),))
