"""A disk that is full, refuses or breaks."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from artifact_cases import BYTES, files_of, refused, wanted, written

from standfast.host.artifacts import DIRECTORY, Artifacts, Wanted
from standfast.host.files import Files
from standfast.testing.files import ShortFiles


def fill(disk: Path, pages: int) -> None:
    """Fills the disk but for some pages of 4096 bytes."""
    with (disk / "filler").open("wb", buffering=0) as stream:
        with contextlib.suppress(OSError):
            while True:
                stream.write(b"x" * 4_096)
        stream.truncate(max(0, stream.tell() - 4_096 * pages))


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(tmp_path)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a small tmpfs needs root; the file-size limit is tested instead")
    yield tmp_path
    subprocess.run(["umount", str(tmp_path)], check=True)


@pytest.mark.parametrize("pages", range(6))
def test_a_full_disk_leaves_nothing(small_disk: Path, pages: int) -> None:
    fill(small_disk, pages)
    error = refused(lambda: Artifacts().write(small_disk, DIRECTORY, wanted(data=b"y" * 20_000)))
    assert error.code == "artifact_write_failed"
    assert "Free some space" in str(error)
    assert [path.name for path in small_disk.iterdir()] == ["filler"]


def test_a_disk_with_just_enough_room_takes_the_file(small_disk: Path) -> None:
    fill(small_disk, 8)
    result = written(small_disk, wanted(data=b"y" * 20_000))
    assert (small_disk / result.path).read_bytes() == b"y" * 20_000


_LIMITED = """
import resource, sys
from pathlib import Path
from standfast.host.artifacts import DIRECTORY, ArtifactError, Artifacts, Wanted, Wanted
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
try:
    Artifacts().write(Path(sys.argv[1]), DIRECTORY, Wanted("A", 0, b"x" * 10_000, "t"))
except ArtifactError as error:
    print(error.code, error.clean)
else:
    print("written")
"""


@pytest.mark.parametrize(("limit", "said"), [(1, False), (5_000, False), (10_001, False), (10_032, True)])
def test_a_file_size_limit_leaves_nothing(tmp_path: Path, limit: int, said: bool) -> None:
    child = subprocess.run(
        [sys.executable, "-c", _LIMITED, str(tmp_path), str(limit)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert child.stdout.strip() == ("written" if said else "artifact_write_failed True")
    assert bool(list(tmp_path.iterdir())) is said


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (errno.ENOSPC, "Free some space"),
        (errno.EDQUOT, "Free some space"),
        (errno.EACCES, "Give it the right"),
        (errno.EROFS, "Give it the right"),
        (errno.EIO, "Look at the disk"),
    ],
)
def test_a_write_error_says_what_to_do(tmp_path: Path, number: int, hint: str) -> None:
    class Broken(Files):
        def sync(self, descriptor: int) -> None:
            raise OSError(number, os.strerror(number))

    error = refused(lambda: Artifacts(Broken()).write(tmp_path, DIRECTORY, wanted()))
    assert error.code == "artifact_write_failed"
    assert hint in str(error)
    assert list(tmp_path.iterdir()) == []


def test_a_directory_that_cannot_be_synced_is_no_error(tmp_path: Path) -> None:
    """Some network filesystems refuse fsync of a directory; there is nothing else that could be done."""

    class NoDirectorySync(Files):
        def sync_directory(self, directory: int) -> None:
            read_only, write_only = os.pipe()
            try:
                super().sync_directory(write_only)  # a pipe answers EINVAL, as those filesystems do
            finally:
                os.close(read_only)
                os.close(write_only)

    assert files_of(tmp_path) == {}
    result = written(tmp_path, files=NoDirectorySync())
    assert files_of(tmp_path) == {result.path: BYTES}


def test_a_file_that_cannot_be_read_is_said_and_may_be_tried_again(tmp_path: Path) -> None:
    class Broken(Files):
        def read(self, descriptor: int, size: int, offset: int) -> bytes:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    result = written(tmp_path)
    artifacts = Artifacts(Broken())
    for call in (
        lambda: artifacts.state(tmp_path, result.path, result.sha256, result.size),
        lambda: artifacts.read(tmp_path, result.path, 100),
    ):
        assert refused(call).code == "unavailable"


def test_a_file_that_takes_no_bytes_is_an_error_and_no_endless_loop(tmp_path: Path) -> None:
    error = refused(lambda: Artifacts(ShortFiles(0)).write(tmp_path, DIRECTORY, wanted()))
    assert error.code == "artifact_write_failed"
    assert list(tmp_path.iterdir()) == []


def test_a_directory_sync_that_really_fails_is_an_error(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    os.close(descriptor)
    with pytest.raises(OSError, match="Bad file descriptor"):
        Files().sync_directory(descriptor)


def test_an_interrupted_write_takes_its_files_back(tmp_path: Path) -> None:
    class Interrupted(Files):
        def link(self, name: str, new: str, directory: int) -> None:
            super().link(name, new, directory)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Artifacts(Interrupted()).write(tmp_path, DIRECTORY, wanted())
    assert list(tmp_path.iterdir()) == []


def test_the_bytes_are_on_the_disk_before_they_have_a_name_and_the_name_before_the_answer(
    tmp_path: Path,
) -> None:
    written(tmp_path, wanted(temp="before"))  # the directory exists from here on
    done: list[str] = []

    class Noted(Files):
        def truncate(self, descriptor: int, size: int) -> None:
            super().truncate(descriptor, size)
            done.append("cut")

        def sync(self, descriptor: int) -> None:
            super().sync(descriptor)
            done.append("sync")

        def sync_directory(self, directory: int) -> None:
            super().sync_directory(directory)
            done.append("sync directory")

        def link(self, name: str, new: str, directory: int) -> None:
            super().link(name, new, directory)
            done.append("link")

        def unlink(self, name: str, directory: int) -> None:
            super().unlink(name, directory)
            done.append("unlink")

    artifacts = Artifacts(Noted())
    result = artifacts.write(tmp_path, DIRECTORY, Wanted("Other", 0, b"x", "temp"))
    assert done == ["cut", "sync", "link", "sync directory"]
    artifacts.discard(result)
    assert done[4:] == ["unlink", "sync directory"] * 2
