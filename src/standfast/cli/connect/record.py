"""What was written into which file, kept in the home as `connections.json`.

It tells an older form of ours from one that a person altered (by digests, no content), and knows what was
made for us (a file, folders, containers, backups) and so may go with us. Without it everything works but
that: what differs counts as altered, and an emptied container stays.

Written before the files that it speaks of: after a crash in between it says too much, never too little.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from standfast.client.call import Refused

NAME: Final = "connections.json"


@dataclass
class Written:
    """One file: was it made for us, with which folders; containers that were made; digests by entry key.

    `left` is the digest of all of its bytes as they were left; `backups` are copies of what others had written.
    """

    made: bool = False
    folders: list[str] = field(default_factory=list)
    containers: list[list[str]] = field(default_factory=list)
    entries: dict[str, str] = field(default_factory=dict)
    left: str = ""
    backups: list[str] = field(default_factory=list)


class Record:
    """The home's record, read. Changed only inside `changing`."""

    def __init__(self, home: Path) -> None:
        self._path: Final = home / NAME
        self._files = self._read()

    def of(self, path: Path) -> Written:
        """What was written to a file; nothing, where nothing was."""
        return self._files.get(str(path)) or Written()

    @contextlib.contextmanager
    def changing(self) -> Iterator[None]:
        """Holds the record's lock; another `connect` waits. Raises `Refused` for a home that cannot be written."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            message = f"The home {self._path.parent} cannot be written: {error.strerror}."
            raise Refused({"code": "invalid", "message": message}) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            self._files = self._read()
            yield
        finally:
            os.close(descriptor)

    def keep(self, path: Path, written: Written | None) -> None:
        """Remembers what is written to a file, or forgets it."""
        if written is None:
            self._files.pop(str(path), None)
        else:
            self._files[str(path)] = written
        fresh = self._path.with_suffix(".new")
        fresh.unlink(missing_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            files = {name: asdict(each) for name, each in self._files.items()}
            json.dump({"version": 1, "files": files}, stream, indent=1)
            stream.flush()
            os.fsync(descriptor)
        fresh.replace(self._path)

    def _read(self) -> dict[str, Written]:
        """The record; an unreadable one is as none, because it only says more than the files themselves."""
        try:
            files: dict[str, Any] = json.loads(self._path.read_text(encoding="utf-8"))["files"]
            return {name: Written(**each) for name, each in files.items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}
