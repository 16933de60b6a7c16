"""One artifact's life cut at any file operation: what is done, and how it is judged afterwards.

Each scenario prepares a workspace with real files, then does one thing through the `Files` it is given. Two
files of somebody else and an older artifact with the same bytes are always there.

Run as a script it kills its children: for n = 1, 2, ... it forks one that does the scenario in `ROOT/n` and
sends itself SIGKILL at its n-th file operation, until one comes through. It prints how many were killed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from standfast.host.artifacts import DIRECTORY, ArtifactError, Artifacts, Left, Wanted, Written, artifact_name
from standfast.host.files import Files
from standfast.host.folder import identity_of
from standfast.testing.files import LinklessFiles, LinklessNthFiles, NthFiles

AT_MS: Final = 1_700_000_000_000
BYTES: Final = b"# Plan\r\n\r\n- [ ] one\n" * 500
TEMP: Final = "tmp_9"
REWRITTEN: Final = f"{DIRECTORY}/vanished-20231114-221320.md"
STRANGERS: Final = {
    "README.md": b"ours",
    f"{DIRECTORY}/{artifact_name('Add login', AT_MS, 1)}": BYTES,
    f"{DIRECTORY}/{artifact_name('Add login', AT_MS, 2)}": b"",
    f"{DIRECTORY}/.other.tmp": b"",
}

Act = Callable[[Artifacts, Path], object]


class Scenario:
    """What is there before (`prepare`), what is done under the fault (`act`), on which filesystem."""

    def __init__(self, act: Act, *, written: bool = False, fresh: bool = False, links: bool = True) -> None:
        self._act: Final = act
        self._written: Final = written
        self.strangers: Final = {} if fresh else STRANGERS
        self._links: Final = links

    def prepare(self, workspace: Path) -> None:
        """Makes the workspace as it is before."""
        workspace.mkdir()
        for path, data in self.strangers.items():
            (workspace / path).parent.mkdir(parents=True, exist_ok=True)
            (workspace / path).write_bytes(data)
        if self._written:
            write(Artifacts(Files() if self._links else LinklessFiles()), workspace)

    def act(self, files: Files, workspace: Path) -> None:
        """Does the one thing. Raises what it raises."""
        self._act(Artifacts(files), workspace)

    def files(self, n: int, fault: Callable[[str], None], *, after: bool = False) -> NthFiles:
        """The scenario's filesystem with a fault at the n-th operation."""
        return (NthFiles if self._links else LinklessNthFiles)(n, fault, after=after)


def write(artifacts: Artifacts, workspace: Path) -> Written:
    """Writes the artifact of every scenario."""
    return artifacts.write(workspace, DIRECTORY, Wanted("Add login", AT_MS, BYTES, TEMP))


def left(workspace: Path) -> Left:
    """Its intent."""
    return Left(workspace, DIRECTORY, TEMP, hashlib.sha256(BYTES).hexdigest(), len(BYTES))


def written_record(workspace: Path) -> Written:
    """What `write` gave for a file that is there, read off the disk."""
    path = f"{DIRECTORY}/{artifact_name('Add login', AT_MS, 3)}"
    temp = workspace / DIRECTORY / f".{TEMP}.tmp"
    found = (identity_of((workspace / path).lstat()), identity_of(temp.lstat()))
    return Written(workspace, path, TEMP, *found, left(workspace).sha256, len(BYTES))


def _finish(artifacts: Artifacts, workspace: Path) -> None:
    artifacts.finish(written_record(workspace))


def _discard(artifacts: Artifacts, workspace: Path) -> None:
    artifacts.discard(written_record(workspace))


def _drop(artifacts: Artifacts, workspace: Path) -> None:
    artifacts.recover(left(workspace), kept=False)


def _keep(artifacts: Artifacts, workspace: Path) -> None:
    artifacts.recover(left(workspace), kept=True)


def _rewrite(artifacts: Artifacts, workspace: Path) -> None:
    artifacts.rewrite(workspace, REWRITTEN, BYTES)


SCENARIOS: Final = {
    "write": Scenario(write),
    "write into a fresh workspace": Scenario(write, fresh=True),
    "write without hard links": Scenario(write, links=False),
    "write without hard links into a fresh workspace": Scenario(write, links=False, fresh=True),
    "finish": Scenario(_finish, written=True),
    "finish without hard links": Scenario(_finish, written=True, links=False),
    "discard": Scenario(_discard, written=True),
    "discard without hard links": Scenario(_discard, written=True, links=False),
    "recover, not kept": Scenario(_drop, written=True),
    "recover, not kept, without hard links": Scenario(_drop, written=True, links=False),
    "recover, kept": Scenario(_keep, written=True),
    "rewrite": Scenario(_rewrite),
    "rewrite into a fresh workspace": Scenario(_rewrite, fresh=True),
}


def tree(workspace: Path) -> dict[str, bytes]:
    """All files but the directory's ignore file, with their bytes."""
    paths = sorted(path for path in workspace.rglob("*") if path.is_file() and path.name != ".gitignore")
    return {str(path.relative_to(workspace)): path.read_bytes() for path in paths}


def killed_at(scenario: Scenario, workspace: Path, n: int) -> bool:
    """Does the scenario in a child that is killed at its n-th operation; whether it was."""
    scenario.prepare(workspace)
    child = os.fork()
    if child == 0:
        with contextlib.suppress(ArtifactError):
            scenario.act(scenario.files(n, lambda _: os.kill(os.getpid(), signal.SIGKILL)), workspace)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


if __name__ == "__main__":
    killed = 0
    while killed_at(SCENARIOS[sys.argv[1]], Path(sys.argv[2]) / str(killed + 1), killed + 1):
        killed += 1
    print(killed)
