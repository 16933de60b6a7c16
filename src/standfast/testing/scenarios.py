"""One scenario for every operation that writes: what comes before it, and the call itself.

The catalogue drives them: a test fails on a writing operation without a scenario, so that a new operation is
killed at every point from its first day.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from standfast.testing.play import Call, Play

Scenario = Callable[[Play], Call]
IRREVERSIBLE: Final = "- [ ] drop\n  - **Effect:** irreversible\n- [ ] rest\n"
VERIFIER: Final = f"scrypt$15$8$1${'00' * 16}${'00' * 32}"
GATED: Final = "- [ ] release\n  - **Gate:** human\n"


def _person(operation: str, **payload: Any) -> Call:
    return Call("operator", None, operation, payload)


def _start(play: Play) -> Call:
    place = play.folder / "project"
    place.mkdir()
    return Call("agent", None, "session.start", {"client": "kit", "client_session_id": "new", "workspace": str(place)})


def _on_session(role: str, operation: str, **payload: Any) -> Scenario:
    return lambda play: Call(role, play.session(), operation, payload)


def _on_plan(prepare: str, role: str, operation: str, markdown: str | None = None, **payload: Any) -> Scenario:
    """A call on a plan that is pending or approved; an operator's names the plan, a verdict what was seen."""

    def scenario(play: Play) -> Call:
        session = play.session()
        seen = getattr(play, prepare)(session, *([markdown] if markdown else []))
        if role != "operator":
            return Call(role, session, operation, payload)
        named = seen if operation == "plan.approve" else {"plan": seen["plan"]}
        return _person(operation, **named, **payload)

    return scenario


def _configure(play: Play) -> Call:
    return _person("session.configure", session=play.session(), permission_mode="auto")


def _close(play: Play) -> Call:
    session = play.session()
    play.pending(session)
    return _person("session.close", session=session)


def _fork(play: Play) -> Call:
    session = play.session()
    play.approved(session)
    play.agent(session, "plan.tick", title="one")
    return Call("coordinator", session, "session.fork", {"client_session_id": "fork"})


def _branch(play: Play) -> Call:
    session = play.session()
    play.approved(session)
    play.agent(session, "plan.tick", title="one")
    entries = [{"id": "a", "parent": None}, {"id": "b", "parent": "a"}]
    return Call("coordinator", session, "session.branch", {"leaf": "b", "entries": entries})


def _turn_end(play: Play) -> Call:
    session = play.session()
    play.approved(session)
    return Call("coordinator", session, "turn.end", {"stop_reason": "completed"})


def _status(play: Play) -> Call:
    session = play.session()
    play.person("plan.approve", **play.pending(session), mode="ask")
    return Call("agent", session, "plan.status", {})


def _claim(play: Play) -> Call:
    session = play.session()
    play.person("plan.approve", **play.pending(session), mode="ask")
    return Call("coordinator", session, "execution.claim", {})


def _untick(play: Play) -> Call:
    session = play.session()
    play.approved(session)
    play.agent(session, "plan.tick", title="one")
    return Call("agent", session, "plan.untick", {"id": "P-1.1", "reason": "It was wrong."})


def _reoffer(play: Play) -> Call:
    seen = play.pending(play.session())
    play.person("plan.abort", plan=seen["plan"])
    return _person("plan.reoffer", plan=seen["plan"])


def _adopt(play: Play) -> Call:
    session = play.session()
    play.pending(session)
    return _person("plan.adopt", session=session, mode="auto", title="Mine", markdown="- [ ] mine\n")


def _attach(play: Play) -> Call:
    seen = play.approved(play.session())
    return _person("plan.attach", plan=seen["plan"], session=play.session("two"))


def _confirm(play: Play) -> Call:
    session = play.session()
    play.approved(session, GATED)
    play.agent(session, "plan.tick", title="release")
    return _person("plan.confirm", id="P-1.1")


def _resolve(play: Play) -> Call:
    session = play.session()
    play.approved(session, IRREVERSIBLE)
    play.agent(session, "plan.begin", title="drop")
    play.call(Call("coordinator", session, "turn.end", {"stop_reason": "lost"}))
    return _person("plan.resolve_task", id="P-1.1", outcome="done")


def _backup(play: Play) -> Call:
    play.session()
    return _person("host.backup", path=str(play.folder / "backup.db"))


TODOS: Final = [{"content": "look"}, {"content": "mend", "status": "in_progress"}]


def _todos(play: Play) -> Call:
    session = play.session()
    play.agent(session, "todo.write", todos=TODOS)
    return Call("agent", session, "todo.write", {"todos": [{"id": "T-2", "status": "completed"}], "merge": True})


def _expire(play: Play) -> Call:
    play.session()
    return Call("host", None, "plans.expire", {})


TELLS_OF_ITS_FILE: Final = frozenset({"host.backup"})
"""Where a complete file may be there although nothing was acknowledged: asked again, it says that it exists."""

SCENARIOS: Final[dict[str, Scenario]] = {
    "session.start": _start,
    "session.configure": _configure,
    "session.close": _close,
    "session.compacted": _on_session("coordinator", "session.compacted"),
    "session.branch": _branch,
    "session.fork": _fork,
    "session.disconnect": _on_plan("approved", "agent", "session.disconnect"),
    "turn.start": _on_session("coordinator", "turn.start", turn="t1"),
    "turn.end": _turn_end,
    "plan.enter": _on_session("agent", "plan.enter"),
    "plan.submit": _on_session("agent", "plan.submit", title="Plan", question="Go?", markdown="- [ ] one\n- [ ] two\n"),
    "plan.status": _status,
    "plan.begin": _on_plan("approved", "agent", "plan.begin", title="one"),
    "plan.tick": _on_plan("approved", "agent", "plan.tick", title="one"),
    "plan.untick": _untick,
    "plan.approve": _on_plan("pending", "operator", "plan.approve", mode="ask"),
    "plan.reject": _on_plan("pending", "operator", "plan.reject", note="No."),
    "plan.abort": _on_plan("pending", "operator", "plan.abort"),
    "plan.reoffer": _reoffer,
    "plan.adopt": _adopt,
    "plan.attach": _attach,
    "plan.abandon": _on_plan("approved", "operator", "plan.abandon"),
    "plan.abort_execution": _on_plan("approved", "operator", "plan.abort_execution"),
    "plan.confirm": _confirm,
    "plan.resolve_task": _resolve,
    "execution.claim": _claim,
    "todo.write": _todos,
    "todo.capture": _on_session("coordinator", "todo.capture", source="kit", todos=TODOS),
    "context.marker": _on_plan("approved", "coordinator", "context.marker"),
    "context.told": _on_session("coordinator", "context.told", digest="0" * 64),
    "settings.set": lambda play: _person("settings.set", key="plan.shell", value="deny"),
    "host.backup": _backup,
    "operator.protect": lambda play: _person("operator.protect", verifier=VERIFIER),
    "plans.expire": _expire,
    "receipts.prune": lambda play: _person("receipts.prune"),
}
