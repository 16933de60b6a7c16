"""Builds the fault shim and makes the environment that arms it.

The shim (tests/faults/shim.c) counts file operations below Python and, at the n-th, kills the
process or makes the operation fail. What the variables mean is written there. Not here: what a test
expects after the fault.
"""

import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "faults" / "shim.c"
COMPILER = ("-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror")


def build_shim(folder: Path, left_out: Callable[[str], None]) -> Path | None:
    """Compile the shim into `folder`; None, with a word to `left_out`, where that cannot be done.

    A compiler that exists but rejects the source raises CalledProcessError: that is a fault of ours.
    """
    compiler = shutil.which("cc")
    if not sys.platform.startswith("linux") or compiler is None:
        left_out("file operations that fail or kill: the shim needs Linux and a C compiler")
        return None
    library = folder / "shim.so"
    subprocess.run([compiler, *COMPILER, "-o", str(library), str(SOURCE), "-ldl"], check=True)
    return library


@dataclass(frozen=True)
class Fault:
    """What to do at the `at`-th counted call; `at` 0 only counts.

    `path` is an absolute pattern (`*` also matches `/`), `calls` is empty for all kinds, `action` is
    kill, torn, eio or enospc, `during` names a file that must exist for a call to count, `report`
    gets the lines that `fired` and `counted` read.
    """

    library: Path
    path: str
    report: Path
    at: int = 0
    action: str = "kill"
    calls: tuple[str, ...] = ()
    sticky: bool = False
    during: Path | None = None

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """`base` with the variables that preload and arm the shim."""
        made = dict(base) | {
            "LD_PRELOAD": str(self.library),
            "SHIM_PATH": self.path,
            "SHIM_REPORT": str(self.report),
            "SHIM_AT": str(self.at),
            "SHIM_ACTION": self.action,
            "SHIM_STICKY": "1" if self.sticky else "0",
        }
        if self.calls:
            made["SHIM_CALLS"] = ",".join(self.calls)
        if self.during is not None:
            made["SHIM_WHILE"] = str(self.during)
        return made

    def fired(self) -> list[tuple[str, str]]:
        """Kind and path of each call that was acted on, in order."""
        return [(words[3], words[4]) for words in self._lines() if words[1] == "fired"]

    def counted(self) -> int:
        """Counted calls of the processes that ended normally, added up."""
        return sum(int(words[2]) for words in self._lines() if words[1] == "count")

    def _lines(self) -> Iterator[list[str]]:
        if self.report.exists():
            for line in self.report.read_text().splitlines():
                yield line.split(" ", 4)


def was_killed(status: int) -> bool:
    """Whether a subprocess return code means SIGKILL."""
    return status == -signal.SIGKILL
