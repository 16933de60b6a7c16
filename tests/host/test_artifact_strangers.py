"""Files of somebody else: none is replaced, changed or removed."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from artifact_cases import BYTES, STAMP, files_of, left_of, refused, wanted

from standfast.host.artifacts import DIRECTORY, Artifacts
from standfast.host.files import Files
from standfast.host.folder import mark
from standfast.testing.files import LinklessFiles


@pytest.mark.parametrize("files", [Files(), LinklessFiles()])
@pytest.mark.parametrize("content", [b"", b"mine", BYTES])
def test_a_file_that_has_the_final_name_already_is_not_touched(tmp_path: Path, files: Files, content: bytes) -> None:
    folder = tmp_path / DIRECTORY
    folder.mkdir(parents=True)
    theirs = folder / f"add-login-{STAMP}.md"
    theirs.write_bytes(content)
    before = theirs.stat()
    artifacts = Artifacts(files)
    artifacts.discard(artifacts.write(tmp_path, DIRECTORY, wanted()))
    assert files_of(tmp_path) == {f"{DIRECTORY}/{theirs.name}": content}
    assert (theirs.stat().st_ino, theirs.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("content", [b"", b"m", b"mine", b"x" * len(BYTES), BYTES + b"\n" * 40, b"z" * 5_000])
def test_a_file_that_has_the_temp_name_already_is_not_touched(tmp_path: Path, content: bytes) -> None:
    folder = tmp_path / DIRECTORY
    folder.mkdir(parents=True)
    theirs = folder / ".tmp_1.tmp"
    theirs.write_bytes(content)
    artifacts = Artifacts()
    error = refused(lambda: artifacts.write(tmp_path, DIRECTORY, wanted()))
    assert error.code == "artifact_write_failed"
    assert files_of(tmp_path) == {f"{DIRECTORY}/.tmp_1.tmp": content}
    if content:  # an empty file shows nothing of its writer, and nothing can be lost with it
        assert artifacts.recover(left_of(tmp_path), kept=False) == "left"
        assert artifacts.recover(left_of(tmp_path), kept=True) == "left"
        assert files_of(tmp_path) == {f"{DIRECTORY}/.tmp_1.tmp": content}


@pytest.mark.parametrize("kind", ["link", "directory", "pipe"])
def test_what_is_no_file_at_the_temp_name_is_left(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / DIRECTORY
    folder.mkdir(parents=True)
    spot = folder / ".tmp_1.tmp"
    target = tmp_path / "target"
    target.write_bytes(BYTES)
    match kind:
        case "link":
            spot.symlink_to(target)
        case "directory":
            spot.mkdir()
        case _:
            os.mkfifo(spot)
    artifacts = Artifacts()
    assert refused(lambda: artifacts.write(tmp_path, DIRECTORY, wanted())).code == "artifact_write_failed"
    assert artifacts.recover(left_of(tmp_path), kept=False) == "left"
    assert target.read_bytes() == BYTES
    assert os.path.lexists(spot)


def test_a_file_that_replaced_the_artifact_is_neither_discarded_nor_recovered_away(tmp_path: Path) -> None:
    artifacts = Artifacts()
    result = artifacts.write(tmp_path, DIRECTORY, wanted())
    final = tmp_path / result.path
    final.unlink()
    final.write_bytes(BYTES)
    artifacts.discard(result)
    assert files_of(tmp_path) == {result.path: BYTES}


@pytest.mark.parametrize("kept", [False, True])
def test_an_artifact_edited_in_place_before_the_recovery_keeps_its_edit(tmp_path: Path, kept: bool) -> None:
    artifacts = Artifacts()
    result = artifacts.write(tmp_path, DIRECTORY, wanted())
    (tmp_path / result.path).write_bytes(b"a person's own words")
    outcome = artifacts.recover(left_of(tmp_path), kept=kept)
    assert outcome == ("complete" if kept else "left")
    assert files_of(tmp_path)[result.path] == b"a person's own words"
    assert (tmp_path / DIRECTORY / ".tmp_1.tmp").exists() is not kept


def test_with_two_further_names_of_the_witness_none_is_guessed(tmp_path: Path) -> None:
    artifacts = Artifacts()
    result = artifacts.write(tmp_path, DIRECTORY, wanted())
    os.link(tmp_path / result.path, tmp_path / DIRECTORY / f"copy-{STAMP}.md")
    assert artifacts.recover(left_of(tmp_path), kept=False) == "left"
    assert len(files_of(tmp_path)) == 3


def test_a_name_that_is_no_artifact_is_not_taken_for_the_final_one(tmp_path: Path) -> None:
    artifacts = Artifacts()
    result = artifacts.write(tmp_path, DIRECTORY, wanted())
    os.link(tmp_path / result.path, tmp_path / DIRECTORY / "notes.md")
    assert artifacts.recover(left_of(tmp_path), kept=False) == "clean"
    assert files_of(tmp_path) == {f"{DIRECTORY}/notes.md": BYTES}


@pytest.mark.parametrize("note", ["../../victim.md", "victim.md", f"victim-{STAMP}.md"])
def test_a_forged_note_leads_to_no_other_file(tmp_path: Path, note: str) -> None:
    folder = tmp_path / DIRECTORY
    folder.mkdir(parents=True)
    digest = hashlib.sha256(BYTES).hexdigest()
    (folder / ".tmp_1.tmp").write_bytes(BYTES + mark(digest) + note.encode() + b"\n")
    victims = [tmp_path / "victim.md", folder / "victim.md", folder / f"victim-{STAMP}.md"]
    for victim in victims:
        victim.write_bytes(b"precious")
    assert Artifacts().recover(left_of(tmp_path), kept=False) == "clean"
    assert [victim.read_bytes() for victim in victims] == [b"precious"] * 3


@pytest.mark.parametrize("torn", [1, 31])
def test_a_mark_torn_in_its_own_write_is_still_the_hosts(tmp_path: Path, torn: int) -> None:
    folder = tmp_path / DIRECTORY
    folder.mkdir(parents=True)
    digest = hashlib.sha256(BYTES).hexdigest()
    (folder / ".tmp_1.tmp").write_bytes(b"\0" * len(BYTES) + mark(digest)[:torn])
    assert Artifacts().recover(left_of(tmp_path), kept=False) == "clean"
    assert files_of(tmp_path) == {}


def test_a_name_taken_at_the_last_moment_is_not_taken_over(tmp_path: Path) -> None:
    """Without hard links: somebody makes the file between the look and the `O_EXCL`."""
    theirs = tmp_path / DIRECTORY / f"add-login-{STAMP}.md"

    class Raced(LinklessFiles):
        def create(self, name: str, directory: int) -> int:
            if name == theirs.name:
                theirs.write_bytes(b"mine")
            return super().create(name, directory)

    artifacts = Artifacts(Raced())
    result = artifacts.write(tmp_path, DIRECTORY, wanted())
    artifacts.discard(result)
    assert result.path.endswith("-2.md")
    assert files_of(tmp_path) == {f"{DIRECTORY}/{theirs.name}": b"mine"}
