"""Configuration, read once: where the home is, which database, which port.

Environment: `STANDFAST_HOME` (default the XDG state directory), `STANDFAST_DATABASE_URL` (PostgreSQL instead
of the embedded SQLite), `STANDFAST_OFF`. Nothing else in the package reads the environment for settings.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

DEFAULT_PORT = 4747


class Config(msgspec.Struct, frozen=True):
    """What a host is started with. `port` is loopback TCP, the next free one is taken when it is in use."""

    home: Path
    database_url: str | None = None
    port: int = DEFAULT_PORT

    @property
    def database(self) -> Path:
        """The embedded database's file."""
        return self.home / "standfast.db"


def default_home(environment: Mapping[str, str] = os.environ) -> Path:
    """The home directory that the environment names, or the XDG default."""
    named = environment.get("STANDFAST_HOME")
    if named:
        return Path(named).expanduser().absolute()
    state = environment.get("XDG_STATE_HOME")
    base = Path(state) if state and state.startswith("/") else Path.home() / ".local" / "state"
    return base / "standfast"


def read_config(environment: Mapping[str, str] = os.environ, **given: object) -> Config:
    """The configuration: explicit values over the environment over defaults."""
    values: dict[str, object] = {
        "home": default_home(environment),
        "database_url": environment.get("STANDFAST_DATABASE_URL") or None,
        "port": DEFAULT_PORT,
    }
    values |= {name: value for name, value in given.items() if value is not None}
    return msgspec.convert(values, Config, dec_hook=lambda kind, value: kind(value))


def system_clock() -> int:
    """The wall clock, milliseconds since the epoch, UTC."""
    return time.time_ns() // 1_000_000
