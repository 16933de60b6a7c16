"""Plan artifacts: the files with a plan's exact bytes that people and agents open.

Purpose: write such a file around a database transaction, so that after a refusal, an error or a crash there
is either the whole file or none. The order, with the caller's transactions in capitals:

    INTENT   directory, temp name, digest, size
    write    the temp file is filled and synced, linked to the first free name, the directory synced
    PLAN     or a refusal
    finish   the temp name goes          discard   the final name goes, then the temp name

While the temp name is there it is the witness: `recover` finds the final name by it and needs nothing but
the intent. When it is gone, nothing is left to do. `publishing` holds that protocol, `folder` the proof of
who wrote a file. The row holds the bytes, so a file that vanished can be written again (`rewrite`).

Invariants: no file is replaced; a file that the host did not write is not touched; below the workspace no
link is followed; a name is removed only while it leads to the file that was meant.

Not here: rows and transactions, which are the caller's; names (`artifact_names`); codes (`artifact_errors`).
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, assert_never

import msgspec

from standfast.host.artifact_errors import NOT_A_PLAIN_PATH, ArtifactError, explained, failure
from standfast.host.artifact_names import UnsafePathError, artifact_name, path_parts, temp_file
from standfast.host.files import Files
from standfast.host.folder import Folder, Identity, WorkspaceGoneError, open_folder
from standfast.host.publishing import IGNORE_BYTES, IGNORE_NAME, Attempt, Outcome, Published, Wanted, settle

__all__ = ["DIRECTORY", "ArtifactError", "Artifacts", "Left", "Wanted", "Written", "artifact_name"]

DIRECTORY: Final = ".standfast/plan"

State = Literal["same", "missing", "differs", "unsafe"]


class Written(msgspec.Struct, frozen=True):
    """A written file, waiting for `finish` or `discard`. `path` is relative to the (resolved) workspace."""

    workspace: Path
    path: str
    temp_name: str
    file: Identity
    temp: Identity
    sha256: str
    size: int


class Left(msgspec.Struct, frozen=True):
    """An intent, as far as `recover` needs it; sha256 hexadecimal, size in bytes."""

    workspace: Path
    directory: str
    temp_name: str
    sha256: str
    size: int


class Artifacts:
    """Writes, settles, checks and repairs artifacts. Holds nothing between calls; threads may share it.

    Every method raises `ArtifactError` and nothing else for what the disk or a path does.
    """

    def __init__(self, files: Files | None = None) -> None:
        self._files: Final = files or Files()

    def write(self, workspace: Path, directory: str, wanted: Wanted) -> Written:
        """Writes the bytes under a free name; they are on the disk when this returns.

        The workspace may be a link. Nothing is left of a failure, unless the error's `clean` is false.
        """
        with explained("write"):
            parts, temp = path_parts(directory), temp_file(wanted.temp_name)
            resolved = Path(os.path.realpath(workspace))
            with open_folder(self._files, resolved, parts, create=True) as folder:
                published = self._publish(folder, Attempt(folder, temp, wanted), resolved, parts)
        return Written(
            workspace=resolved,
            path="/".join((*parts, published.name)),
            temp_name=wanted.temp_name,
            file=published.file,
            temp=published.temp,
            sha256=hashlib.sha256(wanted.data).hexdigest(),
            size=len(wanted.data),
        )

    def _publish(self, folder: Folder, attempt: Attempt, workspace: Path, parts: tuple[str, ...]) -> Published:
        try:
            published = attempt.run()
            self._confirm(workspace, parts, published)
        except OSError as error:
            raise failure(error, "write", clean=attempt.withdraw()) from error
        except ArtifactError as error:
            raise ArtifactError(error.code, str(error), clean=attempt.withdraw()) from error
        except BaseException:
            attempt.withdraw()
            raise
        return published

    def _confirm(self, workspace: Path, parts: tuple[str, ...], published: Published) -> None:
        """The path that the row will hold leads to the file: nobody swapped a directory meanwhile."""
        try:
            with open_folder(self._files, workspace, parts) as folder:
                found = folder.identity(published.name)
        except FileNotFoundError:
            found = None
        if found != published.file:
            raise OSError(errno.ENOTDIR, "the directory was moved while the file was written")

    def finish(self, written: Written) -> None:
        """After the commit: takes the temp name away. Repeating it does nothing."""
        with explained("write"), self._existing(written) as folder:
            if folder is not None and folder.remove(temp_file(written.temp_name), written.temp):
                folder.sync()

    def discard(self, written: Written) -> None:
        """After a refusal: takes the file away, then its temp name. Repeating it does nothing."""
        with explained("write"), self._existing(written) as folder:
            if folder is None:
                return
            for name, identity in (
                (written.path.rpartition("/")[2], written.file),
                (temp_file(written.temp_name), written.temp),
            ):
                if folder.remove(name, identity):
                    folder.sync()

    @contextlib.contextmanager
    def _existing(self, written: Written) -> Iterator[Folder | None]:
        with contextlib.ExitStack() as stack:
            folder: Folder | None = None
            with contextlib.suppress(FileNotFoundError):
                parts = path_parts(written.path)[:-1]
                folder = stack.enter_context(open_folder(self._files, written.workspace, parts))
            yield folder

    def recover(self, left: Left, *, kept: bool) -> Outcome:
        """After a crash: ends the write of this intent, with the file if it was kept, else without it.

        Idempotent. `left` means that the temp name leads to something that is not provably the host's.
        """
        with explained("write"):
            parts, temp = path_parts(left.directory), temp_file(left.temp_name)
            try:
                with open_folder(self._files, left.workspace, parts) as folder:
                    return settle(folder, temp, left.sha256, left.size, kept=kept)
            except FileNotFoundError:
                return "complete" if kept else "clean"

    def state(self, workspace: Path, path: str, sha256: str, size: int) -> State:
        """What is at the path now, compared with the row's digest and size; reads `size` bytes and a little.

        A file that a crash left unfinished, or that is empty, counts as missing: `rewrite` completes it.
        """
        with explained("read"):
            try:
                parts = path_parts(path)
                with open_folder(self._files, workspace, parts[:-1]) as folder:
                    return self._state(folder, parts[-1], sha256, size)
            except FileNotFoundError:
                return "missing"
            except UnsafePathError:
                return "unsafe"
            except WorkspaceGoneError:
                raise
            except OSError as error:
                if error.errno in NOT_A_PLAIN_PATH:
                    return "unsafe"
                raise

    def _state(self, folder: Folder, name: str, sha256: str, size: int) -> State:
        descriptor = self._files.open_file(name, folder.descriptor)
        try:
            kind = folder.judge(descriptor, sha256, size).kind
        finally:
            self._files.close(descriptor)
        match kind:
            case "whole":
                return "same"
            case "unfinished":
                return "missing"
            case "foreign":
                return "differs"
            case "special":
                return "unsafe"
            case _:
                assert_never(kind)

    def read(self, workspace: Path, path: str, limit: int) -> bytes:
        """A plain file of the workspace, at most `limit` bytes, read without following a link.

        An absolute path is taken if it lies below the workspace as that is written.
        """
        with explained("read"):
            if os.path.isabs(path):
                with contextlib.suppress(ValueError):
                    path = str(Path(path).relative_to(workspace))
            parts = path_parts(path)
            with open_folder(self._files, workspace, parts[:-1]) as folder:
                descriptor = self._files.open_file(parts[-1], folder.descriptor)
                try:
                    if not stat.S_ISREG(self._files.describe(descriptor).st_mode):
                        raise OSError(errno.EISDIR, "not a plain file")
                    data = folder.read(descriptor, limit + 1)
                finally:
                    self._files.close(descriptor)
        if len(data) > limit:
            raise ArtifactError("limit", f"{path} has more than {limit} bytes. Shorten it.")
        return data

    def rewrite(self, workspace: Path, path: str, data: bytes) -> None:
        """Writes a vanished artifact again under its own name; a file that took the name is not replaced.

        Does nothing where the same bytes are there already.
        """
        with explained("write"):
            parts = path_parts(path)
            with open_folder(self._files, workspace, parts[:-1], create=True) as folder:
                try:
                    folder.own(IGNORE_NAME, IGNORE_BYTES)
                    self._refill(folder, parts[-1], data)
                except (OSError, ArtifactError):
                    folder.undo()
                    raise

    def _refill(self, folder: Folder, name: str, data: bytes) -> None:
        sha256 = hashlib.sha256(data).hexdigest()
        try:
            descriptor = self._files.create(name, folder.descriptor)
        except FileExistsError:
            descriptor = self._files.open_file(name, folder.descriptor, write=True)
        try:
            if not self._needs_bytes(folder, name, descriptor, data, sha256):
                return
            folder.fill(descriptor, data, sha256)
        except OSError:
            with contextlib.suppress(OSError):
                self._remove_unfinished(folder, name, descriptor, sha256, len(data))
            raise
        finally:
            self._files.close(descriptor)
        folder.sync()

    def _needs_bytes(self, folder: Folder, name: str, descriptor: int, data: bytes, sha256: str) -> bool:
        kind = folder.judge(descriptor, sha256, len(data)).kind
        if kind in ("foreign", "special"):
            message = f"Another file is now called {name}. Move it away, or adopt it as a plan of its own."
            raise ArtifactError("artifact_hash_mismatch", message)
        return kind == "unfinished"

    def _remove_unfinished(self, folder: Folder, name: str, descriptor: int, sha256: str, size: int) -> None:
        proof = folder.judge(descriptor, sha256, size)
        if proof.kind == "unfinished":
            folder.remove(name, proof.identity)
