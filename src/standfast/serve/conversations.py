"""Which session a connection's call belongs to, as the client's own hooks reported it.

A hook names the conversation and the call that is about to be made; the call itself comes over another
process that knows neither. The call's id joins the two; where a client sends none, or the host was restarted
in between, the client's process does, as long as it holds one conversation.

Nothing here is kept over a restart: every hook tells it again. Not here: what a hook means (`hooks`).
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, TypeVar

from standfast.serve.surface import CallContext

CALLS_KEPT: Final = 4_096
PROCESSES_KEPT: Final = 1_024
Key = TypeVar("Key")
_CALL_IDS: Final = ("claudecode/toolUseId",)


class Conversations:
    """Call ids and process ids, each with the session that it was reported for; the oldest are forgotten."""

    def __init__(self) -> None:
        self._calls: Final[OrderedDict[tuple[str, int | None], str]] = OrderedDict()
        self._processes: Final[OrderedDict[tuple[str, int], str]] = OrderedDict()

    def called(self, call: str, process: int | None, session: str) -> None:
        """A hook of this process announced this call. Models repeat call ids, so the process tells first."""
        for key in {(call, process), (call, None)}:
            _noted(self._calls, key, session, CALLS_KEPT)

    def speaks(self, client: str, process: int, session: str) -> None:
        """A hook of this client's process spoke for this session; a process speaks for one at a time.

        The system gives a process id to another program later: only calls of the same client are joined by it,
        and such a client's own first hook comes before its first call.
        """
        _noted(self._processes, (client, process), session, PROCESSES_KEPT)

    def of(self, context: CallContext) -> str | None:
        """The session of this call, or None where no hook has spoken of it."""
        for name in _CALL_IDS:
            call = context.meta.get(name)
            if isinstance(call, str):
                found = self._calls.get((call, context.parent_pid)) or self._calls.get((call, None))
                if found is not None:
                    return found
        if context.parent_pid is None or context.client_name is None:
            return None
        return self._processes.get((context.client_name, context.parent_pid))


def _noted(table: OrderedDict[Key, str], key: Key, session: str, most: int) -> None:
    table[key] = session
    table.move_to_end(key)
    if len(table) > most:
        table.popitem(last=False)
