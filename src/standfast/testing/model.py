"""A small reference model of plans, written from the specification and from nothing else.

Plain dictionaries and no code of the domain's, so that a mistake there is not repeated here. It answers every
step of a simulated history with the code of its refusal (None: accepted) and keeps what a person can see.
"""

from __future__ import annotations

from typing import Any, Final

EXPIRY: Final = 30 * 60_000
PLAIN: Final = "plain"
GATED: Final = "gated"
STRICT: Final = "strict"
BODIES: Final = {
    PLAIN: "- [ ] one\n- [ ] two\n- [ ] three\n",
    GATED: "- [ ] one\n- [ ] two\n  - **Gate:** human\n- [ ] three\n  - **After:** two\n",
    STRICT: "## Steps\n\nOrder: strict\n\n- [ ] one\n- [ ] two\n- [ ] three\n",
}
TASKS: Final = 3
LIVE: Final = ("queued", "running")
OPEN: Final = ("active", "complete")


class Model:
    """What there is: sessions by name, plans by number, and the clock."""

    def __init__(self, sessions: int) -> None:
        self.now = 0
        fresh = {"mode": "agent", "turn": None, "reports": False, "owed": 0, "numbers": 0}
        self.sessions: list[dict[str, Any]] = [{**fresh, "todos": []} for _ in range(sessions)]
        self.plans: list[dict[str, Any]] = []

    def step(self, name: str, **given: Any) -> str | None:
        """One step of a history; the code of its refusal."""
        if name not in ("passes", "restarts"):
            self._expire()
        code: str | None = getattr(self, name)(**given)
        return code

    def seen(self) -> list[tuple[Any, ...]]:
        """What a person sees of every plan, and the sessions' modes."""
        self._expire()
        plans: list[tuple[Any, ...]] = [
            (plan["status"], plan["execution"], plan["tracker"], tuple(plan["states"])) for plan in self.plans
        ]
        todos = tuple(tuple(session["todos"]) for session in self.sessions)
        return [*plans, tuple(session["mode"] for session in self.sessions), todos]

    def pending(self, session: int) -> dict[str, Any] | None:
        """The plan of a session that waits."""
        found = [plan for plan in self.plans if plan["session"] == session and plan["status"] == "pending"]
        return found[0] if found else None

    def tracked(self, session: int) -> dict[str, Any] | None:
        """The plan that a session works on."""
        found = [plan for plan in self.plans if plan["session"] == session and plan["tracker"] in OPEN]
        return found[0] if found else None

    def _expire(self) -> None:
        for plan in self.plans:
            if plan["status"] == "pending" and self.now >= plan["expires"]:
                plan["status"] = "expired"

    def passes(self, milliseconds: int) -> None:
        """Time goes by."""
        self.now += milliseconds

    def restarts(self) -> None:
        """A new boot interrupts what waited and what ran."""
        for plan in self.plans:
            if plan["status"] == "pending":
                plan["status"] = "interrupted" if self.now < plan["expires"] else plan["status"]
            if plan["execution"] in LIVE:
                plan["execution"] = "interrupted"
        self._expire()

    def submit(self, session: int, kind: str, text: str) -> str | None:
        """Proposes a plan."""
        waits = self.pending(session)
        if waits is not None and waits["text"] == text:
            return None
        if self._outside(session):
            return "no_active_turn"
        if waits is not None:
            return "plan_already_pending"
        self._opens_turn(session)
        self._add(session, kind, text)
        return None

    def _add(self, session: int, kind: str, text: str) -> None:
        self.sessions[session]["mode"] = "plan"
        plan = {"session": session, "kind": kind, "text": text, "expires": self.now + EXPIRY, "mode": None}
        self.plans.append(plan | {"status": "pending", "execution": None, "tracker": None, "states": [], "turn": None})

    def _settled(self, plan: dict[str, Any]) -> str | None:
        if plan["status"] == "interrupted":
            return "invalid_action"
        return "PLAN_APPROVAL_TIMEOUT" if plan["status"] == "expired" else None

    def approve(self, plan: int, mode: str | None, stale: bool) -> str | None:
        """A verdict."""
        found = self.plans[plan]
        code = self._settled(found)
        if code is not None:
            return code
        if mode is None:
            return "permission_mode_required"
        if found["status"] != "pending":
            return None if found["status"] == "approved" and found["mode"] == mode else "conflict"
        if stale:
            return "stale"
        older = self.tracked(found["session"])
        if older is not None:
            older["tracker"] = "superseded"
        for other in self.plans:
            if other["session"] == found["session"] and other["execution"] in LIVE:
                other["execution"] = "interrupted"
        self.sessions[found["session"]]["mode"] = "agent"
        found |= {"status": "approved", "mode": mode, "execution": "queued", "tracker": "active"}
        found["states"] = ["open"] * TASKS
        return None

    def reject(self, plan: int) -> str | None:
        """A verdict."""
        found = self.plans[plan]
        code = self._settled(found)
        if code is None and found["status"] == "approved":
            code = "conflict"
        if found["status"] == "pending":
            found["status"] = "rejected"
            self.sessions[found["session"]]["owed"] += 1
        return code

    def forbidden(self, plan: int) -> str | None:
        """An agent tries to give a verdict."""
        return "forbidden"

    def reoffer(self, plan: int) -> str | None:
        """Offers a lapsed plan again."""
        found = self.plans[plan]
        if found["status"] not in ("expired", "interrupted"):
            return "invalid_action"
        if self.pending(found["session"]) is not None:
            return "plan_already_pending"
        self._add(found["session"], found["kind"], found["text"])
        return None

    def tick(self, session: int, task: int) -> str | None:
        """Ticks a task of the tracked plan by its title."""
        plan = self.tracked(session)
        if plan is None:
            return "no_active_plan"
        if self.sessions[session]["mode"] == "plan":
            return "tool_denied_in_plan"
        state = plan["states"][task]
        if state != "open":
            return None
        if plan["kind"] == STRICT and "open" in plan["states"][:task]:
            return "out_of_order"
        if plan["kind"] == GATED and task == 2 and plan["states"][1] != "done":
            return "out_of_order"
        self._opens_turn(session)
        plan["states"][task] = "awaiting_confirmation" if plan["kind"] == GATED and task == 1 else "done"
        self._follows(plan)
        return None

    def untick(self, session: int, task: int) -> str | None:
        """A person takes a tick back."""
        plan = self.tracked(session)
        if plan is None:
            return "no_active_plan"
        plan["states"][task] = "open"
        self._follows(plan)
        return None

    def confirm(self, session: int) -> str | None:
        """A person confirms the gate of the tracked plan."""
        plan = self.tracked(session)
        if plan is None or plan["kind"] != GATED:
            return "skipped"
        if plan["states"][1] == "open":
            return "invalid_action"
        plan["states"][1] = "done"
        self._follows(plan)
        return None

    def _follows(self, plan: dict[str, Any]) -> None:
        plan["tracker"] = "complete" if all(state == "done" for state in plan["states"]) else "active"

    def todos(self, session: int, items: list[tuple[str, str]]) -> str | None:
        """Writes the whole todo list: names and statuses. An item that ended comes back as a new one."""
        place = self.sessions[session]
        if place["mode"] == "plan":
            return "todo_denied_in_plan"
        if [status for _, status in items].count("in_progress") > 1:
            return "todo_multiple_in_progress"
        ended = ("completed", "cancelled")
        over = all(status in ended for _, _, status in place["todos"])
        known = {} if over else {name: (number, status) for number, name, status in place["todos"]}
        numbers, found = place["numbers"], []
        for name, status in items:
            number, before = known.get(name, (0, "completed"))
            if not number or (before in ended and status not in ended):
                numbers += 1
                number = numbers
            found.append((number, name, status))
        if over or found != place["todos"]:
            place |= {"todos": found, "numbers": numbers}
            self._opens_turn(session)
        return None

    def _outside(self, session: int) -> bool:
        """Whether the session's client reports its turns and none is active."""
        return bool(self.sessions[session]["reports"]) and self.sessions[session]["turn"] is None

    def _opens_turn(self, session: int) -> None:
        if self.sessions[session]["turn"] is None:
            self.sessions[session]["turn"] = ["connection"]

    def asks(self, session: int) -> str | None:
        """The agent asks for the status of its newest plan, and is told what it is owed; either opens a turn."""
        own = [plan for plan in self.plans if plan["session"] == session]
        if not own:
            return "not_found"
        queued = own[-1]["status"] == "approved" and own[-1]["execution"] == "queued"
        if queued or self.sessions[session]["owed"]:
            self._opens_turn(session)
        if queued:
            self._claims(session)
        self.sessions[session]["owed"] = 0
        return None

    def _claims(self, session: int) -> None:
        for plan in self.plans:
            if plan["session"] == session and plan["execution"] == "queued":
                plan |= {"execution": "running", "turn": self.sessions[session]["turn"]}

    def turn_starts(self, session: int) -> str | None:
        """The client reports a new turn: another one is lost by it; a connection's own gives way as completed."""
        self._ends(session, "completed" if self.sessions[session]["turn"] == ["connection"] else "interrupted")
        self.sessions[session] |= {"turn": ["reported"], "reports": True, "owed": 0}
        self._claims(session)
        return None

    def turn_ends(self, session: int, reason: str) -> str | None:
        """The client reports the end of the active turn."""
        if self.sessions[session]["turn"] is None:
            return "not_found"
        self._ends(session, "completed" if reason == "completed" else "interrupted")
        return None

    def _ends(self, session: int, outcome: str) -> None:
        turn = self.sessions[session]["turn"]
        for plan in self.plans:
            if turn is not None and plan["turn"] is turn and plan["execution"] == "running":
                plan["execution"] = outcome
        self.sessions[session]["turn"] = None
