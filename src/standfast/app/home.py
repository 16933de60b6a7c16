"""The home directory: its lock, its secret, its tokens, and the files by which clients find the host.

Everything is made for its owner alone (directories 0700, files 0600). The lock is held for the life of the
host, so a second one on the same home cannot start a second writer; the kernel releases it when the host
dies. Nothing in a home is ever taken from the environment of a client.
"""

from __future__ import annotations

import fcntl
import os
import secrets
from pathlib import Path
from typing import Any, Final

import msgspec

from standfast.client.home import DOWN_MARKER, SOCKET

ROLES: Final = ("operator", "agent", "observer", "worker")
SOCKET_PATH_LIMIT: Final = 100


class HomeRefused(Exception):
    """The home cannot be used; the message says why and what to do."""


class Home:
    """An opened and locked home. Close it to give the lock back."""

    def __init__(self, path: Path) -> None:
        self.path: Final = path
        self.socket: Final = path / SOCKET
        if len(os.fsencode(self.socket)) > SOCKET_PATH_LIMIT:
            raise HomeRefused(
                f"{self.socket} is longer than {SOCKET_PATH_LIMIT} bytes; choose a shorter STANDFAST_HOME."
            )
        _directory(path)
        self._lock = _locked(path / "host.lock")
        self.secret: Final = bytes.fromhex(_kept(path / "secret"))
        _directory(path / "tokens")
        self.tokens: Final = {role: _kept(path / "tokens" / role) for role in ROLES}

    @property
    def gates(self) -> Path:
        """Where the gate files are."""
        return self.path / "gate"

    @property
    def pages(self) -> Path:
        """Where the page's logins are kept."""
        return self.path / "pages.json"

    @property
    def lock(self) -> Path:
        """Where the operator lock's verifier is kept."""
        return self.path / "operator-lock"

    def announce(self, facts: dict[str, Any]) -> None:
        """Writes `host.json` whole or not at all, and takes the mark of a deliberate `down` away."""
        (self.path / DOWN_MARKER).unlink(missing_ok=True)
        fresh = self.path / "host.json.new"
        fresh.unlink(missing_ok=True)
        descriptor = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(msgspec.json.encode(facts))
        fresh.replace(self.path / "host.json")

    def close(self) -> None:
        """Takes the announcement away and gives the lock back."""
        for name in ("host.json", SOCKET):
            (self.path / name).unlink(missing_ok=True)
        os.close(self._lock)


def _directory(path: Path) -> None:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.chmod(0o700)
    except OSError as error:
        raise HomeRefused(f"The home {path} cannot be used: {error.strerror}.") from error


def _locked(path: Path) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(descriptor)
        raise HomeRefused(f"Another host holds {path.parent}; see `standfast status`.") from error
    return descriptor


def _kept(path: Path) -> str:
    """The secret text of a file, made once: 32 random bytes in hexadecimal."""
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        text = path.read_text(encoding="ascii").strip()
        if len(text) != 64:
            raise HomeRefused(f"{path} is damaged; remove it and start again to make a new one.") from None
        path.chmod(0o600)
        return text
    text = secrets.token_hex(32)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    return text
