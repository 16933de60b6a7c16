"""Which session a connection's call belongs to, as the client's own hooks reported it.

A hook names the conversation and the call that is about to be made; the call itself comes over another
process that knows neither. The call's id joins the two; where a client sends none, or the host was restarted
in between, the client's process does, as long as it holds one conversation.

Nothing here is kept over a restart: every hook tells it again. Not here: what a hook means (`hooks`).
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from standfast.serve.surface import CallContext

CALLS_KEPT: Final = 4_096
PROCESSES_KEPT: Final = 1_024
_CALL_IDS: Final = ("claudecode/toolUseId",)


class Conversations:
    """Call ids and process ids, each with the session that it was reported for; the oldest are forgotten."""

    def __init__(self) -> None:
        self._calls: Final[OrderedDict[str, str]] = OrderedDict()
        self._processes: Final[OrderedDict[int, str]] = OrderedDict()

    def called(self, call: str, session: str) -> None:
        """A hook announced this call of this session."""
        self._calls[call] = session
        self._calls.move_to_end(call)
        if len(self._calls) > CALLS_KEPT:
            self._calls.popitem(last=False)

    def speaks(self, process: int, session: str) -> None:
        """A hook of this client process spoke for this session; a process speaks for one at a time."""
        self._processes[process] = session
        self._processes.move_to_end(process)
        if len(self._processes) > PROCESSES_KEPT:
            self._processes.popitem(last=False)

    def of(self, context: CallContext) -> str | None:
        """The session of this call, or None where no hook has spoken of it."""
        for name in _CALL_IDS:
            call = context.meta.get(name)
            if isinstance(call, str) and call in self._calls:
                return self._calls[call]
        return None if context.parent_pid is None else self._processes.get(context.parent_pid)
