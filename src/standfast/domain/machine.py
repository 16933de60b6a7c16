"""State machines as data.

Every status in Standfast moves only along a row of a transition table. The documentation's diagrams are
drawn from these tables, the database's CHECK constraints repeat their words, and a test compares the three.

Not here: why a transition happens. That is decided in the noun's own module.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from standfast.domain.errors import Refusal


class Machine:
    """A named table `(state, event) -> state`.

    A pair that is not in the table is refused as `invalid_action`, with the events that are legal there.
    """

    def __init__(self, name: str, initial: str, table: Mapping[tuple[str, str], str]) -> None:
        self.name: Final = name
        self.initial: Final = initial
        self.table: Final = dict(table)
        self.states: Final = tuple(dict.fromkeys([initial, *(s for s, _ in table), *table.values()]))

    def legal(self, state: str) -> tuple[str, ...]:
        """The events that the table allows in `state`, in the table's order."""
        return tuple(event for (source, event) in self.table if source == state)

    def final(self, state: str) -> bool:
        """Whether nothing leads out of `state`."""
        return not self.legal(state)

    def step(self, state: str, event: str, what: str) -> str:
        """The state after `event`; `what` names the object in the refusal."""
        target = self.table.get((state, event))
        if target is None:
            legal = ", ".join(self.legal(state)) or "nothing"
            raise Refusal(
                "invalid_action",
                f"{what} is {state}: {event} is not possible there; possible: {legal}.",
                state=state,
                action=event,
            )
        return target

    def mermaid(self) -> str:
        """The machine as a Mermaid state diagram, for the generated reference."""
        lines = ["stateDiagram-v2", f"    [*] --> {self.initial}"]
        lines += [f"    {source} --> {target}: {event}" for (source, event), target in self.table.items()]
        lines += [f"    {state} --> [*]" for state in self.states if self.final(state)]
        return "\n".join(lines)
