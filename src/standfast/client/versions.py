"""The exchange of versions: a newer client takes an older host over, an older client is told what to do.

Taking over is graceful: the host ends as on SIGTERM (what it acknowledged is stored, pipes wait and ask
again), and the newer one starts on the same home. Versions are compared by their first three numbers.
"""

import fcntl
import json
import os
import signal
import time
from collections.abc import Callable, Mapping
from typing import Any

import standfast
from standfast.client.start import HostUnavailable

STOP_SECONDS = 10.0
_STEP_SECONDS = 0.02


def version_of(facts: Mapping[str, Any]) -> tuple[int, ...]:
    """The version in an announcement; the lowest one where it says none."""
    text = str(facts.get("version", "0"))
    return tuple(int(part) for part in text.split(".")[:3] if part.isdigit())


def settle(home: str, running: Callable[[], Mapping[str, Any]]) -> bool:
    """Whether an older host was ended, so that a new one must be started. Raises `HostUnavailable`.

    `running` asks the host that answers for its facts.
    """
    own = {"version": standfast.__version__}
    announced = _announced(home)
    if not announced or version_of(announced) == version_of(own):
        return False
    facts = running()
    if version_of(facts) > version_of(own):
        raise HostUnavailable(
            f"The host is Standfast {facts['version']} and this is the older {standfast.__version__}. "
            "Use the newer `standfast`, or update this installation."
        )
    if version_of(facts) == version_of(own):
        return False
    end(home, int(facts["pid"]))
    return True


def _announced(home: str) -> Mapping[str, Any]:
    """What the host wrote of itself; nothing while it is not there."""
    try:
        with open(os.path.join(home, "host.json"), "rb") as file:
            facts: Mapping[str, Any] = json.loads(file.read())
            return facts
    except (OSError, ValueError):
        return {}


def end(home: str, pid: int) -> None:
    """Ends a host by its process id and waits until it has given the home back. Raises `HostUnavailable`."""
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_SECONDS
    while _holds(home, pid):
        if time.monotonic() > deadline:
            raise HostUnavailable(f"The host (pid {pid}) did not end in {STOP_SECONDS:.0f} s.")
        time.sleep(_STEP_SECONDS)


def _holds(home: str, pid: int) -> bool:
    """Whether this host still has the home. Its lock says so, which the kernel takes from the dead at once."""
    try:
        with open(os.path.join(home, "host.lock"), "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return False
    except FileNotFoundError:
        return False
    except OSError:
        return bool(_announced(home).get("pid", pid) == pid)
