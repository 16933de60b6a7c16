"""Processes and waiting, for tests: started, bounded, and stopped by their own process id.

Invariants: a process started here is gone when its `with` block ends, whatever happened inside; it is only
ever signalled by the id that its start returned, while it is still our child (so the id cannot have been
reused); every wait has a deadline and says what it waited for. Nothing here sleeps for a guessed time: a wait
looks at a predicate again and again until it holds or the deadline passes.

Not here: servers with a protocol of their own (see `postgres`) and in-process hosts (`standfast.testing`).
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

T = TypeVar("T")

POLL_SECONDS = 0.005
"""How long a wait rests between two looks. It bounds load, never correctness."""


class NotInTime(AssertionError):
    """What was waited for did not happen before the deadline."""


def wait_until(predicate: Callable[[], T], what: str, seconds: float = 10.0) -> T:
    """Looks at `predicate` until it returns something true, and returns that.

    `what` completes the sentence "waited for …". Raises `NotInTime` after `seconds`; the predicate is looked
    at once more after the deadline, so that a slow machine is not blamed for its own pause.
    """
    deadline = time.monotonic() + seconds
    while True:
        late = time.monotonic() >= deadline
        if found := predicate():
            return found
        if late:
            raise NotInTime(f"waited {seconds:g} s for {what}")
        time.sleep(POLL_SECONDS)


@dataclass(frozen=True)
class Process:
    """One running program of a test. `output()` is what it wrote so far, both streams in order."""

    child: subprocess.Popen[bytes]
    log: Path

    @property
    def pid(self) -> int:
        """The process id, valid as long as the `with` block runs."""
        return self.child.pid

    @property
    def stdin(self) -> IO[bytes]:
        """The pipe into the program."""
        assert self.child.stdin is not None
        return self.child.stdin

    def output(self) -> str:
        """Everything that the program has written until now."""
        return self.log.read_text(errors="replace")

    def running(self) -> bool:
        """Whether the program still runs; collects it when it has ended."""
        return self.child.poll() is None

    def kill(self) -> int:
        """SIGKILL, as a crash would; returns when the process is gone, with its return code (-9)."""
        return self.signal(signal.SIGKILL)

    def signal(self, number: int, seconds: float = 10.0) -> int:
        """Sends a signal and waits for the end; `NotInTime` where the program does not end of it."""
        if self.running():
            self.child.send_signal(number)
        return self.ended(seconds)

    def ended(self, seconds: float = 10.0) -> int:
        """Waits for the program to end by itself and returns its return code."""
        try:
            return self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            raise NotInTime(f"waited {seconds:g} s for process {self.pid} to end\n{self.output()}") from None

    def said(self, text: str, seconds: float = 10.0) -> str:
        """Waits until the output contains `text`; fails at once when the program has ended without it."""
        wait_until(lambda: text in self.output() or not self.running(), f"the output {text!r}", seconds)
        if text not in (output := self.output()):
            raise NotInTime(f"process {self.pid} ended ({self.child.returncode}) without {text!r}:\n{output}")
        return output


@contextlib.contextmanager
def running(
    command: Sequence[str | os.PathLike[str]],
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    stop_seconds: float = 10.0,
) -> Iterator[Process]:
    """Runs `command` for the length of the block. `env` replaces the environment where it is given.

    At the end of the block a program that still runs gets SIGTERM, and SIGKILL after `stop_seconds`. It has a
    process group of its own, so that a terminal's interrupt of the tests reaches it through this block only.
    """
    with tempfile.TemporaryDirectory(prefix="standfast-process-") as folder:
        log = Path(folder) / "output"
        with log.open("wb") as sink:
            child = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=sink,
                stderr=subprocess.STDOUT,
                env=env if env is None else dict(env),
                cwd=cwd,
                start_new_session=True,
            )
        process = Process(child, log)
        try:
            yield process
        finally:
            end(process, stop_seconds)


def end(process: Process, stop_seconds: float) -> None:
    """Ends a process that may have ended already, and closes the pipe into it."""
    if process.child.stdin is not None:
        with contextlib.suppress(BrokenPipeError):
            process.child.stdin.close()
    try:
        process.signal(signal.SIGTERM, stop_seconds)
    except NotInTime:
        process.kill()
