"""Gate files: one small file per session in plan mode, for hooks that cannot reach the host.

Written after each commit that changes a mode. A hook that finds the host silent looks for its session's file,
which holds the client and the client's own id of the session, a line each: while it is there, plan mode's
gate stays closed. Losing one to a crash between commit and file is repaired at the next start, when all of
them are written anew from the rows.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from standfast.domain.change import Change
from standfast.domain.session import Session


class GateFiles:
    """The files under `directory`; with None (an embedded host without a home) nothing is written."""

    def __init__(self, directory: Path | None) -> None:
        self._directory: Final = directory

    def follow(self, change: Change) -> None:
        """Writes or removes the files of sessions whose mode the change touched."""
        if self._directory is None:
            return
        for event in change.events:
            for put in event.puts:
                if isinstance(put.after, Session):
                    before = put.before.mode if isinstance(put.before, Session) else "agent"
                    if put.after.mode != before:
                        self._write(put.after)

    def rewrite(self, in_plan_mode: Iterable[Session]) -> None:
        """All files anew: those of the sessions in plan mode, and no others."""
        if self._directory is None:
            return
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        for old in self._directory.iterdir():
            old.unlink(missing_ok=True)
        for session in in_plan_mode:
            self._write(session)

    def _write(self, session: Session) -> None:
        assert self._directory is not None, "checked by the callers"
        path = self._directory / session.id
        if session.mode != "plan":
            path.unlink(missing_ok=True)
            return
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        with suppress(FileExistsError), open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.write(f"{session.client}\n{session.client_session_id}\n")
