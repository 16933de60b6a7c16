"""A person's words on plans, as operations: approve, reject, abort, reoffer, adopt, abandon.

Only an operator reaches these (the policy table). Not here: `attach`, which an agent may reach too (`attaching`).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from standfast.domain import execution, message, tracker, verdict
from standfast.domain import plan as plans
from standfast.domain import session as sessions
from standfast.domain.change import Actor, Change, Event
from standfast.domain.errors import Refusal
from standfast.domain.evidence import POLICIES
from standfast.domain.message import Message
from standfast.domain.plan import LIVE_EXECUTION, MAX_NOTE, OPEN_TRACKER, Execution, Plan, Tracker
from standfast.domain.session import PERMISSION_MODES, Session
from standfast.domain.views import quoted
from standfast.host import artifacts
from standfast.host.contexts import NamePlan, older_plans
from standfast.host.operation import Input
from standfast.host.submission import Filed, Source, file_plan, read_file, refusal
from standfast.host.work import Work

if TYPE_CHECKING:
    from standfast.host.door import Host


class Found:
    """What the disk held when the operation began."""

    def __init__(self, artifact: str) -> None:
        self.artifact = artifact

    def settle(self, result: Mapping[str, Any] | None) -> None:
        """Nothing to undo."""


class ApprovePlan(Input, frozen=True):
    """A person's yes: the permission mode, and the version and digest that they saw.

    `evidence` may tighten the evidence policy; `carry` names the positions to carry over as done, where
    absent the preselected ones.
    """

    plan: str
    version: int
    sha256: str
    mode: str | None = None
    evidence: str = "none"
    carry: list[int] | None = None


def prepare_approve(host: Host, command: ApprovePlan, actor: Actor, key: str | None) -> Found:
    """Hashes the artifact; one that vanished is written again from the row."""
    plan, text = host.look(lambda work: ((found := work.plan(command.plan)), work.text(found.id)), actor)
    if plan.status != "pending":
        return Found("same")
    checkout = Path(plan.checkout)
    try:
        state = host.artifacts.state(checkout, plan.path, plan.sha256, plan.size)
        if state == "missing":
            host.artifacts.rewrite(checkout, plan.path, text.markdown)
            state = "same"
    except artifacts.ArtifactError as error:
        raise refusal(error) from error
    return Found(state)


def approve(work: Work, command: ApprovePlan) -> Change:
    """The approval, in one transaction."""
    plan = work.plan(command.plan)
    if command.evidence not in POLICIES:
        raise Refusal("invalid", f"evidence is one of {', '.join(POLICIES)}.", field="evidence")
    standing = _standing(work, plan, work.prepared.artifact)
    wish = verdict.Approval(
        version=command.version,
        sha256=command.sha256,
        mode=command.mode,
        evidence=command.evidence,
        carry=None if command.carry is None else tuple(command.carry),
    )
    return verdict.approve(plan, standing, wish, work.ctx)


def _standing(work: Work, plan: Plan, artifact: str) -> verdict.Standing:
    session = _session(work, plan)
    live = work.tx.first(Execution, "execution_live", session=session.id)
    return verdict.Standing(
        session=session,
        text=work.text(plan.id),
        artifact=artifact,
        older=older_plans(work, session, plan),
        live=() if live is None else (live,),
    )


def _session(work: Work, plan: Plan) -> Session:
    session = work.tx.get(Session, plan.session_id)
    assert session is not None, "a plan has a session"
    return session


class RejectPlan(Input, frozen=True):
    """A person's no, with an optional remark for the model (at most 2,000 characters)."""

    plan: str
    version: int | None = None
    note: str | None = None


def reject(work: Work, command: RejectPlan) -> Change:
    """The rejection; the remark reaches the model, quoted, with its next turn."""
    if command.note is not None and len(command.note) > MAX_NOTE:
        raise Refusal("limit", f"note has at most {MAX_NOTE} characters.", field="note", limit=MAX_NOTE)
    plan = work.plan(command.plan)
    change = verdict.reject(plan, command.version, command.note, work.ctx)
    return Change(change.result, (*change.events, *_told(work, plan, command.note))) if change.events else change


def _told(work: Work, plan: Plan, note: str | None) -> tuple[Event, ...]:
    text = f"{plan.ref} {quoted(plan.title)} was rejected by a person; do not execute it."
    if note:
        text += f" Their remark: {quoted(note, MAX_NOTE)}"
    return (message.owed(plan.session_id, "verdict", plan.id, text, work.ctx),)


def abort(work: Work, command: NamePlan) -> Change:
    """Takes a pending proposal off the table: interrupted, to be reoffered."""
    plan = work.plan(command.plan)
    return verdict.interrupt(plan, "aborted", work.ctx)


class PlanOfSession(Input, frozen=True):
    """A plan, and where it is tracked in several sessions, which one."""

    plan: str
    session: str | None = None


def abandon(work: Work, command: PlanOfSession) -> Change:
    """Ends a tracker for good; its live execution is interrupted, its undelivered messages are cancelled."""
    plan = work.plan(command.plan)
    tracks = [
        track
        for track in work.tx.find(Tracker, "trackers_of_plan", plan=plan.id)
        if command.session in (None, track.session_id)
    ]
    if not tracks:
        raise Refusal("no_active_plan", f"{plan.ref} is not tracked.")
    live = [track for track in tracks if track.status in OPEN_TRACKER]
    if not live:
        if any(track.status == "abandoned" for track in tracks):
            return Change({"plan": plan.id, "number": plan.ref, "tracker": "abandoned"})
        raise Refusal("invalid_action", f"{plan.ref} is {tracks[0].status}; there is nothing to abandon.")
    events: tuple[Event, ...] = ()
    for track in live:
        events += (
            tracker.closed(track, "abandon", work.ctx),
            *_stopped(work, plan, track.session_id, "abandoned"),
        )
        owed = work.tx.find(Message, "messages_pending", session=track.session_id)
        events += tuple(message.settled(item, "cancel", work.ctx) for item in owed if item.plan_id == plan.id)
    return Change({"plan": plan.id, "number": plan.ref, "tracker": "abandoned"}, events)


def _stopped(work: Work, plan: Plan, session_id: str, why: str) -> tuple[Event, ...]:
    live = work.tx.first(Execution, "execution_live", session=session_id)
    if live is None or live.plan_id != plan.id:
        return ()
    return execution.interrupted(live, why, work.ctx)


def abort_execution(work: Work, command: NamePlan) -> Change:
    """Interrupts a live execution; the session stays in agent mode and keeps its tracker."""
    plan = work.plan(command.plan)
    latest = work.tx.first(Execution, "execution_latest", plan=plan.id)
    if latest is None:
        raise Refusal("invalid_action", f"{plan.ref} has no execution.")
    answer = {"plan": plan.id, "number": plan.ref, "execution": "interrupted"}
    if latest.status == "interrupted":
        return Change(answer)
    if latest.status not in LIVE_EXECUTION:
        raise Refusal("invalid_action", f"The execution of {plan.ref} is {latest.status}.")
    return Change(answer, execution.interrupted(latest, "aborted", work.ctx))


def prepare_reoffer(host: Host, command: NamePlan, actor: Actor, key: str | None) -> Filed:
    """Writes the same bytes as a new file."""

    def look(work: Work) -> tuple[Session, plans.Proposal, str, tuple[str, ...]]:
        plan = _reofferable(work, command)
        session = _session(work, plan)
        settings = work.settings(session.project_id)
        text = work.text(plan.id)
        proposal = plans.Proposal(title=plan.title, question=plan.question, markdown=text.markdown)
        return session, proposal, settings.text("plan.directory"), settings.texts("plan.headings")

    return Filed(host, *host.look(look, actor))


def _reofferable(work: Work, command: NamePlan) -> Plan:
    plan = work.plan(command.plan)
    expired = plan.status == "pending" and work.ctx.now >= plan.expires_at
    if plan.status not in ("expired", "interrupted") and not expired:
        raise Refusal(
            "invalid_action", f"{plan.ref} is {plan.status}; only an expired or interrupted one is reoffered."
        )
    pending = work.tx.first(Plan, "plan_pending", session=plan.session_id)
    if pending is not None and pending.id != plan.id:
        raise Refusal("plan_already_pending", f"{pending.ref} waits for its verdict.", plan=pending.id)
    return plan


def reoffer(work: Work, command: NamePlan) -> Change:
    """A new pending plan with the same bytes; the session is in plan mode until its verdict."""
    old = _reofferable(work, command)
    session = _session(work, old)
    if session.status != "open":
        raise Refusal("session_closed", f"Session {session.id} is closed.")
    plan, events = file_plan(work, session, work.prepared, Source("reoffered", replaces=old.id))
    if session.mode != "plan":
        _, entered = sessions.changed(session, work.ctx, "session.plan_entered", {}, mode="plan", marker_due=True)
        events = (*events, entered)
    return Change(verdict.answer(plan) | {"sha256": plan.sha256, "expires_at": plan.expires_at}, events)


class AdoptPlan(Input, frozen=True):
    """A person's own plan, approved at once: `markdown`, or `path` of a file in the session's workspace.

    `replaces` names the pending plan that it is an edited version of, whose title and question it then has where
    it has none of its own; where that plan has its verdict already, `stale`.
    """

    session: str
    mode: str
    title: str | None = None
    replaces: str | None = None
    question: str | None = None
    markdown: str | None = None
    path: str | None = None
    evidence: str = "none"
    carry: list[int] | None = None


def prepare_adopt(host: Host, command: AdoptPlan, actor: Actor, key: str | None) -> Filed:
    """Writes the adopted bytes as an artifact."""
    if (command.markdown is None) == (command.path is None):
        raise Refusal("invalid", "Send exactly one of `markdown` and `path`.", field="markdown")
    if command.mode not in PERMISSION_MODES:
        raise Refusal("permission_mode_required", f"mode is one of {', '.join(PERMISSION_MODES)}.")

    def look(work: Work) -> tuple[Session, str, str, str, tuple[str, ...]]:
        session = work.open_session(command.session)
        if session.checkout is None:
            raise Refusal("workspace_required", "A plan needs a session with a workspace.")
        edited = None if command.replaces is None else work.plan(command.replaces)
        title = command.title or (edited.title if edited else "")
        question = command.question or (edited.question if edited else "Adopted by a person.")
        settings = work.settings(session.project_id)
        return session, title, question, settings.text("plan.directory"), settings.texts("plan.headings")

    session, title, question, directory, headings = host.look(look, actor)
    if command.path is not None:
        markdown = read_file(host, Path(session.checkout or ""), command.path)
    else:
        markdown = (command.markdown or "").encode("utf-8", "surrogatepass")
    return Filed(host, session, plans.proposal(title, question, markdown), directory, headings)


def adopt(work: Work, command: AdoptPlan) -> Change:
    """Approves the person's plan; a pending one is rejected in its favour."""
    session = work.open_session(command.session)
    if command.evidence not in POLICIES:
        raise Refusal("invalid", f"evidence is one of {', '.join(POLICIES)}.", field="evidence")
    pending = work.tx.first(Plan, "plan_pending", session=session.id)
    if command.replaces is not None and (pending is None or command.replaces not in (pending.id, pending.ref)):
        raise Refusal("stale", f"{command.replaces} does not wait for a verdict any more; look again, then decide.")
    events: tuple[Event, ...] = ()
    if pending is not None:
        events = verdict.reject(pending, None, "replaced by a person's own plan", work.ctx).events
    source = Source("adopted", replaces=pending.id if pending else None)
    plan, filed = file_plan(work, session, work.prepared, source)
    live = work.tx.first(Execution, "execution_live", session=session.id)
    standing = verdict.Standing(
        session=session,
        text=work.prepared.text,
        older=older_plans(work, session, plan),
        live=() if live is None else (live,),
    )
    wish = verdict.Approval(
        version=plan.version,
        sha256=plan.sha256,
        mode=command.mode,
        evidence=command.evidence,
        carry=None if command.carry is None else tuple(command.carry),
    )
    approved = verdict.approve(plan, standing, wish, work.ctx)
    return Change(approved.result, (*events, *filed, *approved.events))
