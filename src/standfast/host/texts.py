"""Plan texts in memory: immutable, so cached without invalidation, bounded by count and bytes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from standfast.domain.plan import PlanText

if TYPE_CHECKING:
    from standfast.store.tx import Tx

LIMIT_ENTRIES: Final = 64
LIMIT_BYTES: Final = 8_388_608


class Texts:
    """The newest plan texts, least recently used dropped first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, PlanText] = OrderedDict()
        self._bytes = 0
        self._lock: Final = threading.Lock()

    def get(self, tx: Tx, plan_id: str) -> PlanText:
        """The text of a plan that exists."""
        with self._lock:
            text = self._kept.get(plan_id)
            if text is not None:
                self._kept.move_to_end(plan_id)
                return text
        found = tx.get(PlanText, plan_id)
        assert found is not None, f"plan {plan_id} has a text"
        with self._lock:
            if plan_id not in self._kept:
                self._kept[plan_id] = found
                self._bytes += len(found.markdown)
            while len(self._kept) > 1 and (len(self._kept) > LIMIT_ENTRIES or self._bytes > LIMIT_BYTES):
                _, dropped = self._kept.popitem(last=False)
                self._bytes -= len(dropped.markdown)
        return found
