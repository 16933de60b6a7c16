"""The policy: which role may call which operation. One table; `standfast doctor --policy` prints it.

Roles come from the connection's token, never from a payload. A model has the agent role and nothing more,
whatever token its transport holds: it cannot give a verdict, confirm a gate, leave plan mode, or change a
setting. What a role may do to *whose* object is decided by the loaders (`work`).
"""

from __future__ import annotations

from typing import Final

from standfast.domain.change import Actor
from standfast.domain.errors import Refusal

ROLES: Final = ("operator", "agent", "coordinator", "worker", "observer", "host")

_PERSON: Final = frozenset({"operator"})
_READERS: Final = frozenset({"operator", "agent", "coordinator", "worker", "observer"})
_WATCHERS: Final = frozenset({"operator", "observer"})
_AGENT: Final = frozenset({"operator", "agent"})
_MODEL: Final = frozenset({"agent"})
_CLIENT: Final = frozenset({"operator", "agent", "coordinator"})
_REPORTS: Final = frozenset({"operator", "coordinator"})

POLICY: Final[dict[str, frozenset[str]]] = {
    "session.start": _AGENT,
    "session.get": _READERS,
    "session.list": _WATCHERS,
    "session.overview": _WATCHERS,
    "session.configure": _PERSON,
    "session.close": _AGENT,
    "session.compacted": _CLIENT,
    "session.branch": _REPORTS,
    "session.fork": _REPORTS,
    "session.credential": _PERSON,
    "session.disconnect": _MODEL,
    "turn.start": _CLIENT,
    "turn.end": _CLIENT,
    "gate.check": _CLIENT,
    "plan.enter": _CLIENT,
    "plan.submit": _CLIENT,
    "plan.status": _READERS,
    "plan.read": _READERS,
    "plan.get": _READERS | {"host"},
    "plan.list": _READERS,
    "plan.compare": _WATCHERS,
    "plan.tasks": _READERS,
    "plan.ticks": _READERS,
    "plan.begin": _CLIENT,
    "plan.tick": _CLIENT,
    "plan.untick": _CLIENT,
    "plan.approve": _PERSON,
    "plan.reject": _PERSON,
    "plan.abort": _PERSON,
    "plan.reoffer": _PERSON,
    "plan.adopt": _PERSON,
    "plan.attach": _AGENT,
    "plan.abandon": _PERSON,
    "plan.abort_execution": _PERSON,
    "plan.confirm": _PERSON,
    "plan.resolve_task": _PERSON,
    "execution.claim": _REPORTS,
    "todo.write": _CLIENT,
    "todo.read": _READERS,
    "todo.capture": _REPORTS,
    "context.marker": _CLIENT,
    "context.resume": _READERS,
    "context.told": _REPORTS,
    "context.show": _READERS,
    "settings.get": _WATCHERS | {"host"},
    "settings.set": _PERSON,
    "events.list": _WATCHERS | {"host"},
    "audit.verify": _WATCHERS,
    "host.status": _READERS,
    "host.search": _WATCHERS,
    "host.policy": _WATCHERS,
    "host.backup": _PERSON,
    "operator.protect": _PERSON,
    "plans.expire": frozenset({"host"}),
    "receipts.prune": _PERSON | {"host"},
}

LOCKED: Final = frozenset(
    {
        "plan.approve",
        "plan.reject",
        "plan.abort",
        "plan.reoffer",
        "plan.adopt",
        "plan.attach",
        "plan.abandon",
        "plan.abort_execution",
        "plan.confirm",
        "plan.resolve_task",
        "plan.tick",
        "plan.untick",
        "session.configure",
        "settings.set",
        "operator.protect",
    }
)
"""What an operator does with a person's authority: with the operator lock closed it needs the passphrase."""


def authorise(actor: Actor, operation: str) -> None:
    """Refuses with `forbidden` what the table does not grant."""
    if actor.role not in POLICY.get(operation, frozenset()):
        granted = ", ".join(sorted(POLICY.get(operation, frozenset()))) or "nobody"
        raise Refusal(
            "forbidden",
            f"The {actor.role} role may not call {operation}; it is for: {granted}.",
            operation=operation,
            role=actor.role,
        )
