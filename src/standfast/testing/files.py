"""File operations with a fault at the n-th one, for tests that go on "until none fails".

Purpose: `NthFiles` counts the operations of `Files` (all but `close`) and calls a fault at one of them: it
may raise an `OSError`, kill the process, or change the disk under the caller's feet. `ShortFiles` takes few
bytes a write, `LinklessFiles` is a filesystem without hard links.

Not here: any change of what an operation does otherwise; all of them work on real files.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import Final

from standfast.host.files import Files

OPERATIONS: Final = frozenset(
    name for name in vars(Files) if not name.startswith("_") and name != "close"
)  # a close that fails has nothing to say: what matters was synced before


class NthFiles(Files):
    """Real files; `fault(operation)` is called at the n-th operation (from 1), before it or after it."""

    def __init__(self, n: int, fault: Callable[[str], None], *, after: bool = False) -> None:
        self.n: Final = n
        self.fault: Final = fault
        self.after: Final = after
        self.count = 0

    @property
    def reached(self) -> bool:
        """Whether there were n operations; when not, no fault happened and the loop is over."""
        return self.count >= self.n

    def __getattribute__(self, name: str) -> object:
        value: object = super().__getattribute__(name)
        if name not in OPERATIONS:
            return value
        assert callable(value)
        operation: Callable[..., object] = value

        def counted(*args: object, **options: object) -> object:
            self.count += 1
            hit = self.count == self.n
            if hit and not self.after:
                self.fault(name)
            result = operation(*args, **options)
            if hit and self.after:
                self.fault(name)
            return result

        return counted


class ShortFiles(Files):
    """Each write takes at most `most` bytes."""

    def __init__(self, most: int) -> None:
        self.most: Final = most

    def write(self, descriptor: int, data: bytes | memoryview, offset: int) -> int:
        """Writes the first bytes only."""
        return super().write(descriptor, data[: self.most], offset)


class LinklessFiles(Files):
    """A filesystem that answers every `link` with this error."""

    def __init__(self, number: int = errno.EPERM) -> None:
        self.number: Final = number

    def link(self, name: str, new: str, directory: int) -> None:
        """Refuses."""
        raise OSError(self.number, os.strerror(self.number))


class LinklessNthFiles(LinklessFiles, NthFiles):
    """Both: no hard links, and a fault at the n-th operation."""

    def __init__(self, n: int, fault: Callable[[str], None], *, after: bool = False) -> None:
        NthFiles.__init__(self, n, fault, after=after)
        LinklessFiles.__init__(self)
