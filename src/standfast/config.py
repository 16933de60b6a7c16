"""Configuration, read once: where the home is, which database, which port.

Environment: `STANDFAST_HOME` (default the XDG state directory), `STANDFAST_DATABASE_URL` (PostgreSQL instead
of the embedded SQLite; the word `sqlite` goes back), `STANDFAST_OFF`. Nothing else in the package reads the
environment for settings.

A home remembers its database in the file `database-url`: a host that a client starts on demand does not see
the person's environment, and must not open another database than the one that holds the plans.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

DEFAULT_PORT = 4747
DATABASE_URL = "database-url"
EMBEDDED = "sqlite"


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
    """The configuration: explicit values over the environment over what the home remembers over defaults."""
    values: dict[str, object] = {"home": default_home(environment), "port": DEFAULT_PORT}
    values |= {name: value for name, value in given.items() if value is not None}
    named = given.get("database_url") or environment.get("STANDFAST_DATABASE_URL")
    url = named or remembered_database(values["home"])
    values["database_url"] = None if url == EMBEDDED else url
    return msgspec.convert(values, Config, dec_hook=lambda kind, value: kind(value))


def remembered_database(home: object) -> str | None:
    """The database URL that this home was last started with, or None for the embedded database."""
    try:
        return Path(str(home), DATABASE_URL).read_text(encoding="utf-8").strip() or None
    except FileNotFoundError:
        return None


def remember_database(home: Path, url: str | None) -> None:
    """Writes the URL for later starts (0600), whole or not at all; None or `sqlite` forgets it."""
    file = home / DATABASE_URL
    if url in (None, EMBEDDED):
        file.unlink(missing_ok=True)
        return
    fresh = home / f"{DATABASE_URL}.new"
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(f"{url}\n")
    fresh.replace(file)


def system_clock() -> int:
    """The wall clock, milliseconds since the epoch, UTC."""
    return time.time_ns() // 1_000_000
