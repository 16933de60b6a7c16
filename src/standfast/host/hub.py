"""Wake-ups: who waits for something of a session to happen is told after the commit.

A wake-up carries no data: the one who is woken reads again. Lost or doubled wake-ups are therefore harmless.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Final

Listener = Callable[[int, frozenset[str]], object]


class Hub:
    """Listeners for committed events. `publish` runs in the thread that committed; listeners return at once."""

    def __init__(self) -> None:
        self._listeners: dict[int, Listener] = {}
        self._next = 0
        self._lock: Final = threading.Lock()

    def publish(self, last: int, sessions: frozenset[str]) -> None:
        """Tells every listener the newest sequence number and the sessions that something happened to."""
        with self._lock:
            listeners = tuple(self._listeners.values())
        for listener in listeners:
            listener(last, sessions)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Adds a listener; the result removes it again."""
        with self._lock:
            self._next += 1
            number = self._next
            self._listeners[number] = listener

        def forget() -> None:
            with self._lock:
                self._listeners.pop(number, None)

        return forget
