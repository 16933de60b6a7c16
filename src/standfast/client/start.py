"""Starting a host on demand: at most one of many clients starts it, all of them find it.

Theory of operation
-------------------
A client that finds no host takes `start.lock` (flock). Who gets it starts the host through a shell that
leaves it in the background, so that the host is nobody's child and outlives its starter; who does not get it
waits for the socket. `Starter.step()` never blocks, so that a client with other work (the pipe) can start a
host beside it; `ensure_host` loops over it.

Invariants
- A running host is never asked for its papers: if the socket answers, there is nothing to start.
- A host that was put down on purpose (`down` in the home) is not started.
- The host's environment is a short list of harmless names, not the client's: an agent's keys, Python settings
  and `STANDFAST_` variables do not get in.
- The lock is held until the host answers, dies or the time is up; it is released by the kernel if its holder
  dies.

Not here: what `standfast up` does, the exchange of versions.
"""

import fcntl
import os
import socket
import sys
import time
from collections.abc import Mapping, Sequence

from standfast.client.home import DOWN_MARKER, HOST_LOG, SOCKET, START_LOCK

READY_SECONDS = 10.0
_STEP_SECONDS = 0.02
_KEPT = (
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "HOME",
    "LANG",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TMPDIR",
    "TZ",
    "USER",
)
_KEPT_PREFIXES = ("LC_", "XDG_", "WAYLAND_")
_IN_BACKGROUND = 'umask 077; cd "$1" || exit 1; log=$2; shift 2; "$@" </dev/null >>"$log" 2>&1 & echo $!'


class HostUnavailable(Exception):
    """No host answers and none could be started. The text says why and what to do."""


class HostDown(HostUnavailable):
    """The host was put down on purpose; only `standfast up` brings it back."""


def host_command(home: str) -> list[str]:
    """The command that runs a host of this installation in the foreground."""
    return [sys.executable, "-P", "-m", "standfast", "up", "--foreground", "--home", home]


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What a host may inherit from whoever happened to start it."""
    return {name: value for name, value in environ.items() if name in _KEPT or name.startswith(_KEPT_PREFIXES)}


def answers(home: str) -> bool:
    """Whether somebody listens on the home's socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(os.path.join(home, SOCKET))
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True


def ensure_host(home: str, command: Sequence[str] | None = None) -> None:
    """Return when a host answers, starting one if needed. Raises `HostDown` and `HostUnavailable`."""
    starter = Starter(home, command)
    try:
        while not starter.step():
            time.sleep(_STEP_SECONDS)
    finally:
        starter.close()


class Starter:
    """One client's attempt to get a host, in steps that do not block, for at most `READY_SECONDS`."""

    def __init__(self, home: str, command: Sequence[str] | None = None) -> None:
        self._home = home
        self._command = list(command) if command is not None else host_command(home)
        self._deadline = time.monotonic() + READY_SECONDS
        self._lock: int | None = None
        self._pid: int | None = None

    def step(self) -> bool:
        """True when a host answers; call again until then. Raises `HostDown` and `HostUnavailable`."""
        if answers(self._home):
            return self._end(True)
        if os.path.exists(os.path.join(self._home, DOWN_MARKER)):
            self._end(False)
            raise HostDown("The Standfast host was put down on purpose. Run `standfast up` to start it again.")
        if self._pid is None:
            if self._take_lock() and not answers(self._home):
                self._pid = self._spawn()
        elif not _alive(self._pid) and not answers(self._home):
            self._end(False)
            raise HostUnavailable(f"The Standfast host ended while it started: {self._last_words()} {self._advice()}")
        if time.monotonic() > self._deadline:
            self._end(False)
            raise HostUnavailable(f"The Standfast host did not answer in {READY_SECONDS:.0f} s. {self._advice()}")
        return False

    def close(self) -> None:
        """Give the lock back. Idempotent."""
        self._end(False)

    def _end(self, ready: bool) -> bool:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
        return ready

    def _take_lock(self) -> bool:
        if self._lock is not None:
            return True
        try:
            os.makedirs(self._home, mode=0o700, exist_ok=True)
            handle = os.open(os.path.join(self._home, START_LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as problem:
            raise HostUnavailable(f"The Standfast home cannot be used: {problem}.") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return False
        self._lock = handle
        return True

    def _spawn(self) -> int:
        """Start the host in a session of its own, as nobody's child; its process id."""
        reading, writing = os.pipe()
        try:
            shell = os.posix_spawn(
                "/bin/sh",
                ["sh", "-c", _IN_BACKGROUND, "sh", self._home, HOST_LOG, *self._command],
                clean_environment(os.environ),
                file_actions=[(os.POSIX_SPAWN_DUP2, writing, 1)],
                setsid=True,
            )
            os.close(writing)
            writing = -1
            printed = os.read(reading, 32)
            os.waitpid(shell, 0)
            return int(printed)
        except (OSError, ValueError) as problem:
            self._end(False)
            raise HostUnavailable(f"The Standfast host cannot be started: {problem}. {self._advice()}") from None
        finally:
            os.close(reading)
            if writing >= 0:
                os.close(writing)

    def _advice(self) -> str:
        return f"Run `standfast up`, or read {os.path.join(self._home, HOST_LOG)}."

    def _last_words(self) -> str:
        try:
            with open(os.path.join(self._home, HOST_LOG), "rb") as log:
                log.seek(0, os.SEEK_END)
                log.seek(max(0, log.tell() - 4_000))
                lines = log.read().decode("utf-8", "replace").strip().splitlines()
        except OSError:
            return ""
        return lines[-1][:1_000] if lines else ""


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
