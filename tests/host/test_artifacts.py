"""Artifacts on real files: bytes, names in one second, modes, settling, the ignore file."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path

import pytest
from artifact_cases import AT_MS, BYTES, STAMP, files_of, left_of, refused, wanted, written

from standfast.host.artifacts import DIRECTORY, Artifacts, artifact_name
from standfast.host.files import Files
from standfast.testing.files import LinklessFiles, ShortFiles


@pytest.mark.parametrize("files", [Files(), LinklessFiles(), LinklessFiles(errno.ENOTSUP), ShortFiles(7)])
@pytest.mark.parametrize(
    "data",
    [b"x", BYTES, b"a\r\nb\r\n\r\n \t\x0c\xc2\xa0", b"no newline", b"\xef\xbb\xbfbom\n\n\n", b"y" * 524_288],
)
def test_the_bytes_are_kept_exactly(tmp_path: Path, files: Files, data: bytes) -> None:
    if isinstance(files, ShortFiles) and len(data) > 1_000:
        files = ShortFiles(9_999)
    result = written(tmp_path, wanted(data=data), files)
    assert files_of(tmp_path) == {f"{DIRECTORY}/add-login-{STAMP}.md": data}
    assert (result.size, result.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    assert Artifacts().state(tmp_path, result.path, result.sha256, result.size) == "same"


@pytest.mark.parametrize("files", [Files(), LinklessFiles()])
def test_the_same_title_in_the_same_second_makes_two_files(tmp_path: Path, files: Files) -> None:
    first = written(tmp_path, wanted(data=b"one", temp="t1"), files)
    second = written(tmp_path, wanted(data=b"two", temp="t2"), files)
    third = written(tmp_path, wanted(data=b"one", temp="t3"), files)
    assert [Path(item.path).name for item in (first, second, third)] == [
        f"add-login-{STAMP}.md",
        f"add-login-{STAMP}-2.md",
        f"add-login-{STAMP}-3.md",
    ]
    assert list(files_of(tmp_path).values()) == [b"two", b"one", b"one"]


def test_a_thousand_files_of_one_second_are_the_limit(tmp_path: Path) -> None:
    folder = tmp_path / DIRECTORY
    folder.mkdir(parents=True)
    for n in range(1, 1_001):
        (folder / artifact_name("Add login", AT_MS, n)).touch()
    error = refused(lambda: Artifacts().write(tmp_path, DIRECTORY, wanted()))
    assert error.code == "artifact_limit"
    assert len(list(folder.iterdir())) == 1_000


def test_the_modes_are_those_of_ordinary_project_files(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        result = written(tmp_path)
        os.umask(0o077)
        private = tmp_path / "private"
        private.mkdir()
        hidden = written(private)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / result.path).stat().st_mode) == 0o644
    assert stat.S_IMODE((tmp_path / DIRECTORY).stat().st_mode) == 0o755
    assert stat.S_IMODE((private / hidden.path).stat().st_mode) == 0o600
    assert stat.S_IMODE((private / DIRECTORY).stat().st_mode) == 0o700


def test_another_directory_can_be_set(tmp_path: Path) -> None:
    result = Artifacts().write(tmp_path, ".pi/plan/", wanted())
    assert result.path == f".pi/plan/add-login-{STAMP}.md"
    assert (tmp_path / result.path).read_bytes() == BYTES


def test_the_final_name_and_the_temp_name_are_one_file_until_it_is_finished(tmp_path: Path) -> None:
    artifacts = Artifacts()
    result = artifacts.write(tmp_path, DIRECTORY, wanted())
    temp = tmp_path / DIRECTORY / ".tmp_1.tmp"
    assert temp.samefile(tmp_path / result.path)
    artifacts.finish(result)
    artifacts.finish(result)
    assert not temp.exists()
    assert (tmp_path / result.path).read_bytes() == BYTES


@pytest.mark.parametrize("files", [Files(), LinklessFiles()])
def test_a_discarded_file_is_gone_with_its_temp_name(tmp_path: Path, files: Files) -> None:
    artifacts = Artifacts(files)
    result = artifacts.write(tmp_path, DIRECTORY, wanted())
    artifacts.discard(result)
    artifacts.discard(result)
    assert files_of(tmp_path) == {}


def test_settling_in_a_directory_that_was_removed_does_nothing(tmp_path: Path) -> None:
    artifacts = Artifacts()
    result = artifacts.write(tmp_path, DIRECTORY, wanted())
    (tmp_path / ".standfast").rename(tmp_path.parent / f"{tmp_path.name}-moved")
    artifacts.finish(result)
    artifacts.discard(result)
    assert artifacts.recover(left_of(tmp_path), kept=False) == "clean"
    assert artifacts.recover(left_of(tmp_path), kept=True) == "complete"


def test_a_link_whose_answer_was_lost_counts_as_made(tmp_path: Path) -> None:
    class Lossy(Files):
        def link(self, name: str, new: str, directory: int) -> None:
            super().link(name, new, directory)
            raise FileExistsError(errno.EEXIST, "sent again by the network")

    result = written(tmp_path, files=Lossy())
    assert files_of(tmp_path) == {result.path: BYTES}
    assert result.path.endswith(f"add-login-{STAMP}.md")


def test_a_new_directory_is_ignored_by_git(tmp_path: Path) -> None:
    written(tmp_path)
    ignore = tmp_path / DIRECTORY / ".gitignore"
    assert ignore.read_bytes() == b"*\n"
    assert sorted(path.name for path in (tmp_path / ".standfast").iterdir()) == ["plan"]


@pytest.mark.parametrize("change", ["removed", "changed"])
def test_an_ignore_file_that_the_project_removed_or_changed_stays_so(tmp_path: Path, change: str) -> None:
    written(tmp_path, wanted(temp="t1"))
    ignore = tmp_path / DIRECTORY / ".gitignore"
    if change == "removed":
        ignore.unlink()
    else:
        ignore.write_bytes(b"")
    written(tmp_path, wanted(temp="t2"))
    assert (ignore.read_bytes() if ignore.exists() else None) == (None if change == "removed" else b"")


def test_a_directory_that_holds_something_gets_no_ignore_file(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "readme.md").write_text("ours")
    Artifacts().write(tmp_path, "docs", wanted())
    assert not (tmp_path / "docs" / ".gitignore").exists()


class _Overtaken(Files):
    """Another writer is quicker between a look at the empty directory and what follows from it."""

    def __init__(self, workspace: Path) -> None:
        self.other = lambda: written(workspace, wanted(temp="other"))

    def is_empty(self, directory: int) -> bool:
        empty = super().is_empty(directory)
        self.other()
        return empty


def test_two_first_files_of_a_directory_at_once_are_both_written(tmp_path: Path) -> None:
    written(tmp_path, wanted(temp="mine"), _Overtaken(tmp_path))
    assert len(files_of(tmp_path)) == 2
    assert (tmp_path / DIRECTORY / ".gitignore").read_bytes() == b"*\n"


def test_a_first_file_that_fails_leaves_the_ignore_file_to_the_one_beside_it(tmp_path: Path) -> None:
    class Failing(Files):
        def link(self, name: str, new: str, directory: int) -> None:
            written(tmp_path, wanted(temp="other"))
            raise OSError(errno.EIO, "the disk")

    refused(lambda: Artifacts(Failing()).write(tmp_path, DIRECTORY, wanted(temp="mine")))
    assert len(files_of(tmp_path)) == 1
    assert (tmp_path / DIRECTORY / ".gitignore").read_bytes() == b"*\n"
