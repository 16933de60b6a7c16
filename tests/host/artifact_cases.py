"""What the tests of artifacts share: one plan, and short ways to write and to look."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from standfast.host.artifacts import DIRECTORY, ArtifactError, Artifacts, Left, Wanted, Written
from standfast.host.files import Files

AT_MS = 1_700_000_000_123  # 2023-11-14 22:13:20 UTC
STAMP = "20231114-221320"
BYTES = b"# Plan\n\n- [ ] one\n"


def wanted(title: str = "Add login", data: bytes = BYTES, temp: str = "tmp_1") -> Wanted:
    return Wanted(title, AT_MS, data, temp)


def files_of(workspace: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(workspace)): path.read_bytes()
        for path in sorted(workspace.rglob("*"))
        if path.is_file() and not path.is_symlink() and path.name != ".gitignore"
    }


def left_of(workspace: Path, data: bytes = BYTES, temp: str = "tmp_1") -> Left:
    return Left(workspace, DIRECTORY, temp, hashlib.sha256(data).hexdigest(), len(data))


def written(workspace: Path, want: Wanted | None = None, files: Files | None = None) -> Written:
    """A file written and finished."""
    artifacts = Artifacts(files)
    result = artifacts.write(workspace, DIRECTORY, want or wanted())
    artifacts.finish(result)
    return result


def refused(call: Callable[[], object]) -> ArtifactError:
    with pytest.raises(ArtifactError) as caught:
        call()
    assert caught.value.clean
    return caught.value
