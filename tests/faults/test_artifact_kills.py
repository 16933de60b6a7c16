"""An artifact's write, settling and recovery, killed or failed at every single file operation."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import artifact_scenarios
import pytest
from artifact_scenarios import BYTES, REWRITTEN, SCENARIOS, left, tree

from standfast.host.artifacts import DIRECTORY, ArtifactError, Artifacts

FINAL = {f"{DIRECTORY}/add-login-20231114-221320{suffix}.md": BYTES for suffix in ("", "-3")}
WRITES = [name for name in SCENARIOS if name.startswith("write")]
REWRITES = [name for name in SCENARIOS if name.startswith("rewrite")]
SETTLED = [name for name in SCENARIOS if name not in (*WRITES, *REWRITES)]
NUMBERS = [errno.EIO, errno.ENOSPC, errno.EACCES]


def own_files(name: str, workspace: Path) -> dict[str, bytes]:
    """What is there beside the files of somebody else, which are all as they were."""
    files, theirs = tree(workspace), SCENARIOS[name].strangers
    assert theirs.items() <= files.items()
    return {path: data for path, data in files.items() if path not in theirs}


def killed(name: str, root: Path) -> list[Path]:
    """The workspaces where a scenario was killed at its 1st, 2nd, ... operation, and one where it was not."""
    command = [sys.executable, artifact_scenarios.__file__, name, str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    workspaces = [root / str(n) for n in range(1, int(done.stdout) + 2)]
    assert len(workspaces) > 3, "a scenario has several file operations"
    return workspaces


def whole_or_gone(files: dict[str, bytes]) -> bool:
    """At most the one artifact, with all its bytes."""
    return not files or (len(files) == 1 and files.items() <= FINAL.items())


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("name", WRITES)
def test_a_write_killed_anywhere_is_clean_or_complete_after_recovery(tmp_path: Path, name: str, kept: bool) -> None:
    complete = 0
    for workspace in killed(name, tmp_path):
        artifacts = Artifacts()
        for _ in range(2):
            assert artifacts.recover(left(workspace), kept=kept) == ("complete" if kept else "clean")
            files = own_files(name, workspace)
            assert whole_or_gone(files) if kept else not files
        complete += len(files)
    assert bool(complete) is kept


@pytest.mark.parametrize("name", SETTLED)
def test_settling_killed_anywhere_is_ended_by_the_recovery(tmp_path: Path, name: str) -> None:
    kept = keeps(name)
    for workspace in killed(name, tmp_path):
        Artifacts().recover(left(workspace), kept=kept)
        assert len(own_files(name, workspace)) == kept
        assert whole_or_gone(own_files(name, workspace))


@pytest.mark.parametrize("name", REWRITES)
def test_writing_again_killed_anywhere_can_be_repeated(tmp_path: Path, name: str) -> None:
    states = set()
    for workspace in killed(name, tmp_path):
        states.add(repeated(name, workspace))
    assert states == {"missing", "same"}


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("name", WRITES)
def test_a_write_that_fails_anywhere_leaves_nothing(tmp_path: Path, name: str, number: int, after: bool) -> None:
    failures, unclean = 0, 0
    for workspace, error in failed(name, tmp_path, number, after=after):
        failures += 1
        unclean += not error.clean
        if not error.clean:
            Artifacts().recover(left(workspace), kept=False)
        elif "fresh" in name and not after:
            assert os.listdir(workspace) == []
        assert own_files(name, workspace) == {}
    assert failures > 15
    assert unclean <= 4, "only where the answer about one of the two new files is lost"


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("name", SETTLED)
def test_settling_that_fails_anywhere_is_ended_by_the_recovery(
    tmp_path: Path, name: str, number: int, after: bool
) -> None:
    kept = keeps(name)
    for workspace, _ in failed(name, tmp_path, number, after=after):
        Artifacts().recover(left(workspace), kept=kept)
        assert len(own_files(name, workspace)) == kept
        assert whole_or_gone(own_files(name, workspace))


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("name", REWRITES)
def test_writing_again_that_fails_anywhere_can_be_repeated(tmp_path: Path, name: str, number: int, after: bool) -> None:
    for workspace, _ in failed(name, tmp_path, number, after=after):
        files = own_files(name, workspace)
        state = repeated(name, workspace)
        assert after or files == ({REWRITTEN: BYTES} if state == "same" else {})


def keeps(name: str) -> bool:
    """Whether the scenario's plan was stored."""
    return name.startswith("finish") or name == "recover, kept"


def repeated(name: str, workspace: Path) -> str:
    """Writes the vanished artifact again; gives its state before, checks it after."""
    artifacts, intent = Artifacts(), left(workspace)
    before = artifacts.state(workspace, REWRITTEN, intent.sha256, intent.size)
    artifacts.rewrite(workspace, REWRITTEN, BYTES)
    assert artifacts.state(workspace, REWRITTEN, intent.sha256, intent.size) == "same"
    assert own_files(name, workspace) == {REWRITTEN: BYTES}
    return before


def failed(name: str, root: Path, number: int, *, after: bool) -> Iterator[tuple[Path, ArtifactError]]:
    """The scenario failed at its n-th operation, for n = 1, 2, ... until none fails."""

    def fault(_: str) -> None:
        raise OSError(number, os.strerror(number))

    scenario, n, reached = SCENARIOS[name], 0, True
    while reached:
        n += 1
        workspace = root / str(n)
        scenario.prepare(workspace)
        files = scenario.files(n, fault, after=after)
        try:
            scenario.act(files, workspace)
        except ArtifactError as error:
            yield workspace, error
        reached = files.reached
    assert n > 3, "a scenario has several file operations"
