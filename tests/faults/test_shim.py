"""The shim itself: it counts, it kills at the exact call, it fails calls, and it leaves others alone."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.shim import Fault, was_killed

WRITER = Path(__file__).parent / "acknowledging_writer.py"
SYNCS = ("fsync", "fdatasync")
BOUND = 200


def run(fault: Fault, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-S", *command],
        env=fault.environment(os.environ),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def stored(database: Path) -> list[int]:
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
        if connection.execute("select 1 from sqlite_master").fetchone() is None:
            return []
        return [number for (number,) in connection.execute("select id from row order by id")]


@pytest.mark.parametrize(("action", "calls"), [("kill", SYNCS), ("kill", ()), ("torn", ("write", "pwrite"))], ids=str)
def test_what_a_writer_acknowledged_is_there_after_a_kill_at_any_call(
    tmp_path: Path, shim: Path, action: str, calls: tuple[str, ...]
) -> None:
    for at in range(1, BOUND):
        home = tmp_path / str(at)
        home.mkdir()
        fault = Fault(shim, f"{home}/db*", tmp_path / f"report{at}", at, action, calls)
        ended = run(fault, str(WRITER), str(home / "db"))
        acknowledged = [int(word) for word in ended.stdout.split()]
        kept = stored(home / "db")
        assert kept[: len(acknowledged)] == acknowledged
        assert kept == list(range(1, len(kept) + 1))
        assert len(kept) - len(acknowledged) in (0, 1)
        if not was_killed(ended.returncode):
            break
        assert len(fault.fired()) == 1
    assert (ended.returncode, ended.stderr, acknowledged) == (0, "", [1, 2, 3, 4, 5])
    assert fault.fired() == []
    assert fault.counted() == at - 1 > 5


@pytest.mark.parametrize(("action", "error"), [("eio", "EIO"), ("enospc", "ENOSPC")])
def test_a_failed_call_has_the_errno_and_no_effect(tmp_path: Path, shim: Path, action: str, error: str) -> None:
    operations = {
        "open": "os.open(path + 'new', os.O_CREAT | os.O_RDWR)",
        "write": "os.write(file, b'abc')",
        "pwrite": "os.pwrite(file, b'abc', 0)",
        "fsync": "os.fsync(file)",
        "fdatasync": "os.fdatasync(file)",
        "ftruncate": "os.ftruncate(file, 9)",
        "rename": "os.rename(path, path + 'new')",
        "link": "os.link(path, path + 'new')",
        "unlink": "os.unlink(path)",
        "mkdir": "os.mkdir(path + 'new')",
    }
    for kind, operation in operations.items():
        path = tmp_path / "home" / kind / "f"
        path.parent.mkdir(parents=True)
        path.write_bytes(b"")
        script = (
            f"import os, errno\npath = {str(path)!r}\nfile = os.open(path, os.O_RDWR)\n"
            f"try:\n    {operation}\nexcept OSError as e:\n    print(errno.errorcode[e.errno])\n{operation}\n"
        )
        fault = Fault(shim, f"{tmp_path}/home/*", tmp_path / f"{kind}.report", 1, action, (kind,))
        ended = run(fault, "-c", script)
        assert (ended.stdout, ended.stderr, kind) == (f"{error}\n", "", kind)
        assert [fired for fired, _ in fault.fired()] == [kind]
        assert fault.counted() == 2


def test_a_sticky_fault_lasts_while_the_switch_file_exists(tmp_path: Path, shim: Path) -> None:
    switch = tmp_path / "switch"
    script = (
        "import os\n"
        f"file = os.open({str(tmp_path / 'home')!r}, os.O_CREAT | os.O_RDWR)\n"
        "def attempt():\n"
        "    try:\n        return os.write(file, b'abc')\n    except OSError as e:\n        return -1\n"
        f"seen = [attempt()]\nopen({str(switch)!r}, 'w').close()\n"
        f"seen += [attempt(), attempt(), attempt()]\nos.unlink({str(switch)!r})\n"
        "print(*seen, attempt())\n"
    )
    fault = Fault(
        shim, str(tmp_path / "home"), tmp_path / "report", 2, "enospc", ("write",), sticky=True, during=switch
    )
    ended = run(fault, "-c", script)
    assert (ended.stdout, ended.stderr) == ("3 3 -1 -1 3\n", "")
    assert fault.counted() == 3


def test_paths_outside_the_pattern_are_never_counted(tmp_path: Path, shim: Path) -> None:
    fault = Fault(shim, str(tmp_path / "elsewhere*"), tmp_path / "report", 1)
    ended = run(fault, str(WRITER), str(tmp_path / "db"))
    assert (ended.returncode, fault.fired(), fault.counted()) == (0, [], 0)
    assert stored(tmp_path / "db") == [1, 2, 3, 4, 5]
