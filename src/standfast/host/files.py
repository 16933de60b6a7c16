"""The few file operations that writing into a workspace needs, one method per system call.

Purpose: all of the host's work on workspace files goes through one object, so that a test can count the
calls, fail the n-th one or kill the process at it, and so that the flags that keep links out are written
once.

Invariants: below the workspace nothing follows a link (`O_NOFOLLOW`, `follow_symlinks=False`) and every name
is relative to an open directory; nothing here can replace a file (`O_EXCL`, `link`).

Not here: what the calls are for (`folder`, `artifacts`), and any handling of their errors: each method raises
the plain `OSError`.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

DIRECTORY_MODE: Final = 0o755
FILE_MODE: Final = 0o644
_NO_DIRECTORY_SYNC: Final = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})


class Files:
    """File operations over `os` with directory descriptors. Sizes and offsets are bytes."""

    def open_workspace(self, path: Path) -> int:
        """A descriptor of the workspace; the only place where links are followed."""
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY)

    def open_directory(self, name: str, parent: int) -> int:
        """A descriptor of the directory `name`; a link or a file is `ENOTDIR` or `ELOOP`."""
        return os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)

    def make_directory(self, name: str, parent: int) -> None:
        """Makes the directory `name`, mode 0755 less the umask."""
        os.mkdir(name, DIRECTORY_MODE, dir_fd=parent)

    def remove_directory(self, name: str, parent: int) -> None:
        """Removes the directory `name`, which must be empty."""
        os.rmdir(name, dir_fd=parent)

    def create(self, name: str, directory: int) -> int:
        """A new file, mode 0644 less the umask, to read and write; `EEXIST` if the name is taken."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        return os.open(name, flags, FILE_MODE, dir_fd=directory)

    def open_file(self, name: str, directory: int, *, write: bool = False) -> int:
        """An existing file; a pipe or device does not block, a link is `ELOOP`."""
        access = os.O_RDWR if write else os.O_RDONLY
        return os.open(name, access | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY, dir_fd=directory)

    def read(self, descriptor: int, size: int, offset: int) -> bytes:
        """At most `size` bytes at `offset`; empty at the end."""
        return os.pread(descriptor, size, offset)

    def write(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        """Writes at `offset` and gives how many bytes were taken, which may be fewer."""
        return os.pwrite(descriptor, data, offset)

    def truncate(self, descriptor: int, size: int) -> None:
        """Cuts the file to `size`."""
        os.ftruncate(descriptor, size)

    def sync(self, descriptor: int) -> None:
        """Returns when the file's bytes and size are on the disk."""
        os.fsync(descriptor)

    def sync_directory(self, directory: int) -> None:
        """Returns when the directory's names are on the disk, where the filesystem can say so."""
        try:
            os.fsync(directory)
        except OSError as error:
            if error.errno not in _NO_DIRECTORY_SYNC:
                raise

    def link(self, name: str, new: str, directory: int) -> None:
        """A second name for the file in the same directory; `EEXIST` if that name is taken."""
        os.link(name, new, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)

    def unlink(self, name: str, directory: int) -> None:
        """Removes a name."""
        os.unlink(name, dir_fd=directory)

    def status(self, name: str, directory: int) -> os.stat_result:
        """What `name` is, of a link the link itself."""
        return os.stat(name, dir_fd=directory, follow_symlinks=False)

    def describe(self, descriptor: int) -> os.stat_result:
        """What an open file is."""
        return os.fstat(descriptor)

    def names(self, directory: int) -> list[str]:
        """All names in the directory, in no order."""
        return os.listdir(directory)

    def is_empty(self, directory: int) -> bool:
        """Whether the directory holds no name at all; looks at one."""
        with os.scandir(directory) as entries:
            return next(entries, None) is None

    def close(self, descriptor: int) -> None:
        """Gives the descriptor back. What matters was synced before."""
        os.close(descriptor)
