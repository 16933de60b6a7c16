"""Giving bytes a free name in one folder, and judging later what a crash left of that.

Purpose: the two halves of one protocol. `Attempt` fills a file under the announced temp name and links it to
the first free name. `settle` finds both again by the temp name and the digest.

Where the filesystem has no hard links the final file is made by `O_EXCL` and filled in place. So that the
temp file still leads to it, it first gets the name as a note; the note is written before the file is made,
and only for a name that was free.

Invariants: the temp name is the last to go, so that whatever exists is found by it. `settle` can be repeated
and may itself be killed anywhere.

Not here: workspaces, errors' codes (`artifacts`); how a file proves its writer (`folder`).
"""

from __future__ import annotations

import errno
import hashlib
from typing import Final, Literal

import msgspec

from standfast.host.artifact_errors import NOT_A_PLAIN_PATH, ArtifactError
from standfast.host.artifact_names import MAX_SAME_NAME, artifact_name, is_artifact_name
from standfast.host.folder import Folder, Identity, Kind, Proof, identity_of

IGNORE_NAME: Final = ".gitignore"
IGNORE_BYTES: Final = b"*\n"
Outcome = Literal["complete", "clean", "left"]

_OWN: Final[tuple[Kind, ...]] = ("whole", "unfinished")
_NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})


class Wanted(msgspec.Struct, frozen=True):
    """A file to be: the plan's title, the time in its name (ms), the exact bytes, the announced temp name."""

    title: str
    at_ms: int
    data: bytes
    temp_name: str


class Published(msgspec.Struct, frozen=True):
    """The two names of a written file and what they lead to; the same file where hard links work."""

    name: str
    file: Identity
    temp: Identity


class Attempt:
    """One try to publish; `withdraw` takes back whatever it has done so far."""

    def __init__(self, folder: Folder, temp: str, wanted: Wanted) -> None:
        self._folder: Final = folder
        self._temp_name: Final = temp
        self._wanted: Final = wanted
        self._sha256: Final = hashlib.sha256(wanted.data).hexdigest()
        self._temp: Identity | None = None
        self._name: str | None = None
        self._file: Identity | None = None
        self._copying = False
        self._unsure = False
        self._taken = False

    def run(self) -> Published:
        """Fills and names the file; all of it is on the disk when this returns."""
        files = self._folder.files
        self._folder.own(IGNORE_NAME, IGNORE_BYTES)
        descriptor = self._create()
        try:
            self._temp = identity_of(files.describe(descriptor))
            self._folder.fill(descriptor, self._wanted.data, self._sha256)
            published = self._publish(descriptor, self._temp)
        finally:
            files.close(descriptor)
        self._folder.sync()
        return published

    def _create(self) -> int:
        try:
            return self._folder.files.create(self._temp_name, self._folder.descriptor)
        except FileExistsError as error:
            self._taken = True
            message = f"{self._temp_name} is already there and not the host's. Remove it, then try again."
            raise ArtifactError("artifact_write_failed", message) from error

    def _publish(self, descriptor: int, temp: Identity) -> Published:
        for n in range(1, MAX_SAME_NAME + 1):
            self._name = artifact_name(self._wanted.title, self._wanted.at_ms, n)
            file = self._claim(descriptor, self._name, temp)
            if file is not None:
                return Published(self._name, file, temp)
        raise ArtifactError(
            "artifact_limit",
            f"{MAX_SAME_NAME} files carry this title and second. Submit again later, or with another title.",
        )

    def _claim(self, descriptor: int, name: str, temp: Identity) -> Identity | None:
        if not self._copying:
            try:
                self._folder.files.link(self._temp_name, name, self._folder.descriptor)
            except OSError as error:
                # A network filesystem can have made the link and lost the answer.
                if self._folder.identity(name) == temp:
                    return temp
                if error.errno == errno.EEXIST:
                    return None
                if error.errno not in _NO_LINKS:
                    raise
                self._copying = True
            else:
                return temp
        return self._copy(descriptor, name)

    def _copy(self, descriptor: int, name: str) -> Identity | None:
        folder, data = self._folder, self._wanted.data
        if folder.identity(name) is not None:
            return None
        folder.note(descriptor, data, self._sha256, name)
        self._unsure = True
        try:
            file = folder.files.create(name, folder.descriptor)
        except FileExistsError:
            self._unsure = False
            return None
        try:
            self._file = identity_of(folder.files.describe(file))
            self._unsure = False
            folder.fill(file, data, self._sha256)
        finally:
            folder.files.close(file)
        return self._file

    def withdraw(self) -> bool:
        """Removes what this attempt made; whether nothing of it is left."""
        folder = self._folder
        try:
            if self._unsure and self._name is not None and folder.identity(self._name) is not None:
                return False
            file = self._file or self._temp
            if self._name is not None and file is not None:
                folder.remove(self._name, file)
            if self._temp is not None:
                folder.remove(self._temp_name, self._temp)
            elif not self._taken and folder.identity(self._temp_name) is not None:
                return False
        except OSError:
            return False
        folder.undo()
        return True


def settle(folder: Folder, temp: str, sha256: str, size: int, *, kept: bool) -> Outcome:
    """Ends what a crash left: with the file if `kept`, else without it.

    `left` says that something is there which the host cannot prove to be its own; it was not touched.
    """
    proof = _look(folder, temp, sha256, size)
    if proof is not None:
        if not (_may_go(folder, proof) if kept else _drop(folder, proof)):
            return "left"
        _drop_copy(folder, proof.note, sha256, size, ("unfinished",) if kept else _OWN)
        folder.remove(temp, proof.identity)
        folder.sync()
    return "complete" if kept else "clean"


def _look(folder: Folder, name: str, sha256: str, size: int) -> Proof | None:
    try:
        descriptor = folder.files.open_file(name, folder.descriptor)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno not in NOT_A_PLAIN_PATH:
            raise
        return Proof("special", identity_of(folder.files.status(name, folder.descriptor)), 1)
    try:
        return folder.judge(descriptor, sha256, size)
    finally:
        folder.files.close(descriptor)


def _may_go(folder: Folder, proof: Proof) -> bool:
    """Whether only the temp name may go: it is the host's, or its file has an artifact's name too.

    The second holds for a file that somebody edited in place, which no longer proves itself.
    """
    return proof.kind in _OWN or bool(_twins(folder, proof))


def _twins(folder: Folder, proof: Proof) -> list[str]:
    if proof.names < 2:
        return []
    names = filter(is_artifact_name, folder.files.names(folder.descriptor))
    return [name for name in names if folder.identity(name) == proof.identity]


def _drop(folder: Folder, proof: Proof) -> bool:
    """Removes the final name that is the same file as the temp name; whether the temp name may go now."""
    twins = _twins(folder, proof)
    if proof.kind not in _OWN or len(twins) > 1:
        return False
    if twins:
        folder.remove(twins[0], proof.identity)
        folder.sync()
    return True


def _drop_copy(folder: Folder, name: str, sha256: str, size: int, kinds: tuple[Kind, ...]) -> None:
    """Removes the final file that the temp file's note names, if it is of these kinds."""
    copy = _look(folder, name, sha256, size) if is_artifact_name(name) else None
    if copy is not None and copy.kind in kinds:
        folder.remove(name, copy.identity)
        folder.sync()
