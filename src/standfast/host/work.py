"""What a handler works with: its transaction, its context, and loaders that say what is missing.

A handler loads rows, asks the domain, and returns the change; it writes nothing by itself. The loaders here
are the one place where "which session", "which plan" and "not yours" are decided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from standfast.domain.change import Actor, Context
from standfast.domain.errors import Refusal
from standfast.domain.plan import Plan, PlanText, parse_ref
from standfast.domain.session import Session, Turn
from standfast.domain.settings import Setting, Settings

if TYPE_CHECKING:
    from standfast.host.door import Host
    from standfast.store.tx import Tx

SESSION_ROLES: Final = frozenset({"agent", "coordinator"})


class Work:
    """One run of one operation inside a transaction."""

    def __init__(self, host: Host, tx: Tx, ctx: Context, prepared: Any = None) -> None:
        self.host: Final = host
        self.tx: Final = tx
        self.ctx: Final = ctx
        self.prepared: Final = prepared

    @property
    def actor(self) -> Actor:
        """Who calls."""
        return self.ctx.actor

    def session(self, named: str | None = None) -> Session:
        """The session that the call acts on: the caller's own, or the one that an operator names.

        Refusals: `session_required`, `wrong_session`, `not_found`.
        """
        bound = self.actor.session
        if self.actor.role in SESSION_ROLES:
            if bound is None:
                raise Refusal("session_required", "This connection speaks for no session; start one first.")
            if named is not None and named != bound:
                raise Refusal("wrong_session", f"This connection speaks for {bound}, not for {named}.")
        wanted = named or bound
        if wanted is None:
            raise Refusal("session_required", "Name the session that this is about.")
        found = self.tx.get(Session, wanted)
        if found is None:
            raise Refusal("not_found", f"There is no session {wanted}.", session=wanted)
        return found

    def open_session(self, named: str | None = None) -> Session:
        """As `session`, and it is open."""
        session = self.session(named)
        if session.status != "open":
            raise Refusal("session_closed", f"Session {session.id} is closed; its client can start it again.")
        return session

    def plan(self, ref: str, *, own: bool = True) -> Plan:
        """The plan with this id or number. With `own`, a session-bound caller gets its session's plans only.

        A number resolves in the caller's project; without one it resolves where only one project has it.
        """
        plan = self._by_number(ref) if parse_ref(ref) else self.tx.get(Plan, ref)
        if plan is None:
            raise Refusal("not_found", f"There is no plan {ref}.", plan=ref)
        if own and self.actor.role in SESSION_ROLES and plan.session_id != self.actor.session:
            raise Refusal("wrong_session", f"{ref} belongs to another session.", plan=ref)
        return plan

    def _by_number(self, ref: str) -> Plan | None:
        number, position = parse_ref(ref) or (0, None)
        if position is not None:
            raise Refusal("invalid", f"{ref} names a task; a plan is named P-{number}.", field="plan")
        session = self.tx.get(Session, self.actor.session) if self.actor.session else None
        if session is not None and session.project_id is not None:
            return self.tx.first(Plan, "plan_by_number_in_project", project=session.project_id, number=number)
        found = self.tx.find(Plan, "plans_by_number", number=number)
        if len(found) > 1:
            candidates = [{"plan": plan.id, "title": plan.title, "checkout": plan.checkout} for plan in found]
            raise Refusal(
                "plan_ambiguous",
                f"Several projects have a {ref}; use one of the ids: {', '.join(plan.id for plan in found)}.",
                candidates=candidates,
            )
        return found[0] if found else None

    def text(self, plan_id: str) -> PlanText:
        """A plan's bytes and checklist (immutable, cached)."""
        return self.host.texts.get(self.tx, plan_id)

    def active_turn(self, session_id: str) -> Turn | None:
        """The session's active turn."""
        return self.tx.first(Turn, "turn_active", session=session_id)

    def settings(self, project_id: str | None) -> Settings:
        """The values that hold for a project."""
        rows = self.tx.find(Setting, "settings_of", scope=project_id or "")
        return Settings({row.key: msgspec.json.decode(row.value) for row in rows})
