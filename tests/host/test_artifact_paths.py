"""Paths, links and swapped directories: no byte leaves the workspace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from artifact_cases import BYTES, STAMP, files_of, left_of, refused, wanted, written

from standfast.host.artifacts import DIRECTORY, ArtifactError, Artifacts
from standfast.host.files import Files
from standfast.testing.files import LinklessFiles, NthFiles


@pytest.mark.parametrize(
    "directory", ["..", "../x", "a/../b", "/tmp/x", "", ".", "a\0b", "x" * 256, "a/" * 40, "\ud800"]
)
def test_a_directory_outside_the_workspace_is_refused_before_anything_is_made(tmp_path: Path, directory: str) -> None:
    error = refused(lambda: Artifacts().write(tmp_path, directory, wanted()))
    assert error.code == "artifact_path_unsafe"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("temp", ["", "a/b", "..", "a b", "x" * 129, "ä"])
def test_a_temp_name_that_is_no_plain_name_is_refused(tmp_path: Path, temp: str) -> None:
    error = refused(lambda: Artifacts().write(tmp_path, DIRECTORY, wanted(temp=temp)))
    assert error.code == "artifact_path_unsafe"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("step", [".standfast", ".standfast/plan"])
@pytest.mark.parametrize("kind", ["link", "dangling link", "file", "pipe"])
def test_a_step_that_is_no_directory_is_refused(tmp_path: Path, step: str, kind: str) -> None:
    outside, workspace = tmp_path / "outside", tmp_path / "workspace"
    outside.mkdir()
    spot = workspace / step
    spot.parent.mkdir(parents=True)
    match kind:
        case "link":
            spot.symlink_to(outside)
        case "dangling link":
            spot.symlink_to(tmp_path / "nowhere")
        case "file":
            spot.write_bytes(b"mine")
        case _:
            os.mkfifo(spot)
    error = refused(lambda: Artifacts().write(workspace, DIRECTORY, wanted()))
    assert error.code == "artifact_path_unsafe"
    assert list(outside.iterdir()) == []
    assert not (tmp_path / "nowhere").exists()
    assert Artifacts().state(workspace, f"{DIRECTORY}/x.md", "0" * 64, 1) == "unsafe"


def test_a_workspace_that_is_a_link_is_resolved_once(tmp_path: Path) -> None:
    real, other, link = tmp_path / "real", tmp_path / "other", tmp_path / "link"
    real.mkdir()
    other.mkdir()
    link.symlink_to(real)
    artifacts = Artifacts()
    result = artifacts.write(link, DIRECTORY, wanted())
    link.unlink()
    link.symlink_to(other)
    artifacts.finish(result)
    assert result.workspace == real
    assert files_of(real) == {result.path: BYTES}
    assert list(other.iterdir()) == []


@pytest.mark.parametrize("kind", ["missing", "file", "loop"])
def test_a_workspace_that_is_not_there_is_said(tmp_path: Path, kind: str) -> None:
    workspace = tmp_path / "workspace"
    if kind == "file":
        workspace.write_bytes(b"")
    elif kind == "loop":
        workspace.symlink_to(workspace)
    artifacts = Artifacts()
    for call in (
        lambda: artifacts.write(workspace, DIRECTORY, wanted()),
        lambda: artifacts.recover(left_of(workspace), kept=False),
        lambda: artifacts.state(workspace, "a.md", "0" * 64, 1),
        lambda: artifacts.rewrite(workspace, "a.md", b"x"),
        lambda: artifacts.read(workspace, "a.md", 10),
    ):
        assert refused(call).code == "workspace_missing"


@pytest.mark.parametrize("files", [Files(), LinklessFiles()])
@pytest.mark.parametrize("dangling", [False, True])
def test_a_link_at_the_final_name_is_stepped_over(tmp_path: Path, files: Files, dangling: bool) -> None:
    target = tmp_path / "target"
    if not dangling:
        target.write_bytes(b"theirs")
    folder = tmp_path / DIRECTORY
    folder.mkdir(parents=True)
    (folder / f"add-login-{STAMP}.md").symlink_to(target)
    result = written(tmp_path, files=files)
    assert result.path.endswith("-2.md")
    assert (target.read_bytes() if target.exists() else None) == (None if dangling else b"theirs")


def test_a_directory_swapped_for_a_link_at_any_step_leads_no_byte_outside(tmp_path: Path) -> None:
    codes = set()
    n, reached = 0, True
    while reached:
        n += 1
        outside, workspace = tmp_path / f"outside{n}", tmp_path / f"workspace{n}"
        outside.mkdir()
        (workspace / ".standfast" / "plan").mkdir(parents=True)

        def swap(_: str, workspace: Path = workspace, outside: Path = outside) -> None:
            (workspace / ".standfast" / "plan").rename(workspace / "moved")
            (workspace / ".standfast" / "plan").symlink_to(outside)

        files = NthFiles(n, swap)
        artifacts = Artifacts(files)
        code = "written"
        try:
            result = artifacts.write(workspace, DIRECTORY, wanted())
            code = artifacts.state(workspace, result.path, result.sha256, result.size)
        except ArtifactError as error:
            code = f"{error.code}, {error.clean}"
        codes.add(code)
        assert files_of(workspace) == {} or code in ("unsafe", "same")
        assert list(outside.iterdir()) == []
        reached = files.reached
    # "unsafe": the swap came after the last look, so it is the next look that finds it.
    assert codes == {"artifact_path_unsafe, True", "unsafe", "same"}
    assert n > 10


def test_a_workspace_swapped_after_the_write_is_not_settled_through_a_link(tmp_path: Path) -> None:
    artifacts = Artifacts()
    result = artifacts.write(tmp_path, DIRECTORY, wanted())
    (tmp_path / DIRECTORY).rename(tmp_path / "moved")
    (tmp_path / DIRECTORY).symlink_to(tmp_path / "moved")
    for call in (
        lambda: artifacts.finish(result),
        lambda: artifacts.discard(result),
        lambda: artifacts.recover(left_of(tmp_path), kept=False),
    ):
        assert refused(call).code == "artifact_path_unsafe"
    assert len(files_of(tmp_path)) == 2


@pytest.mark.parametrize("replaced", [False, True])
def test_a_directory_moved_while_the_file_is_written_is_noticed(tmp_path: Path, replaced: bool) -> None:
    folder = tmp_path / DIRECTORY

    class Moving(Files):
        def link(self, name: str, new: str, directory: int) -> None:
            super().link(name, new, directory)
            folder.rename(tmp_path / "moved")
            if replaced:
                folder.mkdir()

    error = refused(lambda: Artifacts(Moving()).write(tmp_path, DIRECTORY, wanted()))
    assert error.code == "artifact_path_unsafe"
    assert files_of(tmp_path) == {}
