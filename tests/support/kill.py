"""Kill at the n-th: runs a child once for every n, kills it at the n-th point, and checks what it left.

The child calls `point(kind)` wherever it may die (a statement, a commit, a file operation), with the
function that `points()` gives. `kill_at_each` runs it with n = 1, 2, ... in a fresh home, until a run ends
normally: then every point of that kind was a place of death once. Where Python has no hook, arm the shim
instead (`at_call`). A kind that is never reached, a child that fails, and a bound that is reached are
errors, so that a run cannot pass without having killed.

Not here: what the child does, and what must hold afterwards (`check`).
"""

import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.shim import Fault, was_killed

ARMED = "KILL_AT"
"""The variable that arms a child: KIND:N."""
REPOSITORY = Path(__file__).resolve().parent.parent.parent

Arm = Callable[[int, Path], Mapping[str, str]]
"""From n and the home to the variables that make a child die at its n-th point."""


@dataclass(frozen=True)
class Ended:
    """One run: its n, its home, what it wrote to stdout (its acknowledgements), whether it was killed."""

    at: int
    home: Path
    output: str
    killed: bool


def points(environment: Mapping[str, str]) -> Callable[[str], None]:
    """For the child: kills this process at the armed point; a function of no effect without KILL_AT."""
    kind, _, number = environment.get(ARMED, ":0").rpartition(":")
    wanted, reached = int(number), itertools.count(1)

    def point(at: str) -> None:
        if at == kind and next(reached) == wanted:
            os.kill(os.getpid(), signal.SIGKILL)

    return point


def at_point(kind: str) -> Arm:
    """Arm for a kind that the child's own `point` calls name."""
    return lambda at, _: {ARMED: f"{kind}:{at}"}


def at_call(shim: Path, *calls: str, action: str = "kill") -> Arm:
    """Arm for file operations under the home, counted by the shim; no names = every kind it knows."""

    def arm(at: int, home: Path) -> Mapping[str, str]:
        report = home.with_name(home.name + ".report")
        return Fault(shim, f"{home}/*", report, at, action, calls).environment({})

    return arm


def kill_at_each(
    arm: Arm,
    child: Sequence[str],
    folder: Path,
    check: Callable[[Ended], None],
    *,
    bound: int = 2000,
    step: int = 1,
) -> int:
    """How many runs were killed; the home of each is `folder`/N, the last argument of `child`.

    `child` are the arguments of this interpreter. `check` is called after every run, the normal one too,
    and raises when something is wrong. `step` visits only every step-th point, for a shorter form. Raises
    AssertionError as the module's text says.
    """
    for killed, at in enumerate(range(1, bound + 1, step)):
        ended = run(arm, child, folder / str(at), at)
        check(ended)
        if not ended.killed:
            assert killed > 0, "no point was reached, so nothing was killed"
            return killed
    raise AssertionError(f"after {bound} points the child still does not end normally")


def run(arm: Arm, child: Sequence[str], home: Path, at: int) -> Ended:
    """One run of the child in a new home. AssertionError if it ends by anything but 0 or SIGKILL."""
    home.mkdir(parents=True)
    paths = [str(REPOSITORY), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = dict(os.environ) | {"PYTHONPATH": os.pathsep.join(paths)} | dict(arm(at, home))
    ended = subprocess.run(
        [sys.executable, *child, str(home)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    killed = was_killed(ended.returncode)
    assert killed or ended.returncode == 0, f"run {at} ended with {ended.returncode}:\n{ended.stderr}"
    return Ended(at, home, ended.stdout, killed)
