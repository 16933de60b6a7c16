"""The helper that starts processes for tests: bounded, and gone afterwards whatever happens."""

from __future__ import annotations

import itertools
import os
import signal
import sys

import pytest

from tests.support.processes import NotInTime, running, wait_until

POLITE = "import sys; print('up', flush=True); sys.stdin.read()"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {POLITE}"


def gone(pid: int) -> bool:
    """Whether no process of ours has this id."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_wait_returns_what_the_predicate_found() -> None:
    answers = itertools.chain([None, 0, ""], itertools.repeat("found"))
    assert wait_until(lambda: next(answers), "an answer") == "found"


def test_a_wait_ends_at_its_deadline_and_says_what_for() -> None:
    with pytest.raises(NotInTime, match=r"waited 0\.02 s for the impossible"):
        wait_until(lambda: False, "the impossible", seconds=0.02)


def test_a_process_is_gone_after_its_block_even_when_the_block_fails() -> None:
    pids = []

    def fail_inside() -> None:
        with running([sys.executable, "-c", POLITE]) as process:
            pids.append(process.pid)
            process.said("up")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_inside()
    assert gone(pids[0])


def test_a_process_that_ignores_the_end_is_killed() -> None:
    # The stubborn one holds on even when its input is at an end: it never reads to the end in time.
    program = STUBBORN.replace("sys.stdin.read()", "signal.pause()\nwhile True: signal.pause()")
    with running([sys.executable, "-c", program], stop_seconds=0.1) as process:
        process.said("up")
    assert process.child.returncode == -signal.SIGKILL


def test_a_kill_is_a_kill() -> None:
    with running([sys.executable, "-c", STUBBORN]) as process:
        process.said("up")
        assert process.kill() == -signal.SIGKILL
        assert not process.running()


def test_waiting_for_words_fails_at_once_when_the_process_has_ended() -> None:
    with running([sys.executable, "-c", "print('other words'); raise SystemExit(3)"]) as process:
        with pytest.raises(NotInTime, match=r"ended \(3\) without 'up'"):
            process.said("up", seconds=60)
        assert "other words" in process.output()


def test_the_environment_is_exactly_what_was_given() -> None:
    program = "import os; print(sorted(os.environ), 'done', flush=True)"
    with running([sys.executable, "-S", "-c", program], env={"ONLY": "this"}) as process:
        assert "'ONLY'" in (said := process.said("done"))
        assert "'PATH'" not in said
