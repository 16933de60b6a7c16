"""Whether the model has a resume view already: each is told once, however the hooks fire and whoever dies.

A view that a start has told is in the client's own history as soon as the model has answered after it, or a
compaction has made it part of its result: that is noted with the host (`context.told`) and outlives it. Until then
only this module knows, with the process that was told. The same process is not told again before its next prompt:
some clients report a compaction right after a resume and keep both texts. Any other compaction takes every older
view away.

A client drops the prompt that it died in, and what came with it, unless the model had answered: a start that finds
such a turn tells again.
"""

from __future__ import annotations

from typing import Final, TypeVar

KEPT: Final = 1_024
_NOBODY: Final = -1
Value = TypeVar("Value")


class Telling:
    """What was told to which process and is not answered yet, and whose models have answered, per session."""

    def __init__(self) -> None:
        self._fresh: Final[dict[str, tuple[int | None, str]]] = {}
        self._answered: Final[dict[str, bool]] = {}

    def holds(self, session: str, process: int | None, digest: str) -> bool:
        """Whether this process was told this view and has had no prompt since."""
        return self._fresh.get(session) == (process, digest)

    def died(self, session: str, lost_turn: bool) -> bool:
        """Whether the client died in a prompt that the model had not answered, as far as is known here."""
        return lost_turn and not self._answered.get(session, False)

    def told(self, session: str, process: int | None, digest: str) -> None:
        """A start told the view to this process."""
        _keep(self._fresh, session, (process, digest))

    def prompted(self, session: str) -> None:
        """A prompt came; the model has not answered it."""
        _keep(self._answered, session, False)
        if session in self._fresh:
            self._fresh[session] = (_NOBODY, self._fresh[session][1])

    def answered(self, session: str) -> str | None:
        """The model has answered; the digest of the view that is thereby in the client's history, if any."""
        _keep(self._answered, session, True)
        found = self._fresh.pop(session, None)
        return found[1] if found else None


def _keep(table: dict[str, Value], session: str, value: Value) -> None:
    table.pop(session, None)
    if len(table) >= KEPT:
        table.pop(next(iter(table)))
    table[session] = value
