"""Comparing, reading and writing again."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from artifact_cases import BYTES, files_of, refused, written

from standfast.host.artifacts import DIRECTORY, Artifacts
from standfast.host.files import Files


def piped(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda path: None, "same"),
        (lambda path: path.unlink(), "missing"),
        (lambda path: path.write_bytes(b""), "missing"),
        (lambda path: path.write_bytes(BYTES.replace(b"one", b"two")), "differs"),
        (lambda path: path.write_bytes(BYTES + b"\n"), "differs"),
        (lambda path: path.write_bytes(b"x" * 3_000_000), "differs"),
        (lambda path: path.chmod(0o600), "same"),
        (lambda path: (path.rename(path.with_name("m")), path.symlink_to("m")), "unsafe"),
        (lambda path: (path.unlink(), path.mkdir()), "unsafe"),
        (piped, "unsafe"),
    ],
)
def test_the_state_of_an_artifact(tmp_path: Path, change: Callable[[Path], object], expected: str) -> None:
    result = written(tmp_path)
    change(tmp_path / result.path)
    assert Artifacts().state(tmp_path, result.path, result.sha256, result.size) == expected


def test_a_path_that_leaves_the_workspace_is_unsafe_and_a_missing_directory_is_missing(
    tmp_path: Path,
) -> None:
    artifacts = Artifacts()
    assert artifacts.state(tmp_path, "../x.md", "0" * 64, 1) == "unsafe"
    assert artifacts.state(tmp_path, "a/b/x.md", "0" * 64, 1) == "missing"


def test_a_state_reads_no_more_than_the_artifact_could_have(tmp_path: Path) -> None:
    class Measured(Files):
        taken = 0

        def read(self, descriptor: int, size: int, offset: int) -> bytes:
            data = super().read(descriptor, size, offset)
            self.taken += len(data)
            return data

    result = written(tmp_path)
    with (tmp_path / result.path).open("ab") as stream:
        stream.truncate(1 << 40)
    files = Measured()
    assert Artifacts(files).state(tmp_path, result.path, result.sha256, result.size) == "differs"
    assert files.taken == 0


def test_a_vanished_artifact_is_written_again_under_its_own_name(tmp_path: Path) -> None:
    result = written(tmp_path)
    for path in sorted((tmp_path / DIRECTORY).iterdir()):
        path.unlink()
    (tmp_path / DIRECTORY).rmdir()
    artifacts = Artifacts()
    artifacts.rewrite(tmp_path, result.path, BYTES)
    artifacts.rewrite(tmp_path, result.path, BYTES)
    assert files_of(tmp_path) == {result.path: BYTES}
    assert artifacts.state(tmp_path, result.path, result.sha256, result.size) == "same"


@pytest.mark.parametrize("kind", ["file", "link", "directory"])
def test_writing_again_replaces_nothing(tmp_path: Path, kind: str) -> None:
    result = written(tmp_path)
    final = tmp_path / result.path
    final.unlink()
    target = tmp_path / "target"
    target.write_bytes(b"")
    match kind:
        case "file":
            final.write_bytes(b"mine")
        case "link":
            final.symlink_to(target)
        case _:
            final.mkdir()
    error = refused(lambda: Artifacts().rewrite(tmp_path, result.path, BYTES))
    assert error.code == ("artifact_hash_mismatch" if kind == "file" else "artifact_path_unsafe")
    assert target.read_bytes() == b""
    assert kind != "file" or final.read_bytes() == b"mine"


def test_a_plan_is_read_from_a_file_of_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "plan.md").write_bytes(b"a\r\n")
    artifacts = Artifacts()
    assert artifacts.read(tmp_path, "docs/plan.md", 3) == b"a\r\n"
    assert artifacts.read(tmp_path, str(tmp_path / "docs" / "plan.md"), 3) == b"a\r\n"
    assert refused(lambda: artifacts.read(tmp_path, "docs/plan.md", 2)).code == "limit"
    assert refused(lambda: artifacts.read(tmp_path, "docs/none.md", 9)).code == "not_found"
    assert refused(lambda: artifacts.read(tmp_path, "none/plan.md", 9)).code == "not_found"


@pytest.mark.parametrize("path", ["../secret", "/etc/hostname", "link.md", "away/secret", "docs", "pipe", "", "."])
def test_reading_never_leaves_the_workspace(tmp_path: Path, path: str) -> None:
    workspace = tmp_path / "workspace"
    (workspace / "docs").mkdir(parents=True)
    (tmp_path / "secret").write_bytes(b"secret")
    (workspace / "link.md").symlink_to(tmp_path / "secret")
    (workspace / "away").symlink_to(tmp_path)
    os.mkfifo(workspace / "pipe")
    assert refused(lambda: Artifacts().read(workspace, path, 100)).code == "artifact_path_unsafe"
