"""Submitting a plan: everything before its verdict that touches the disk.

The order keeps both sides honest. The submission is admitted on a snapshot first, so that a refusal touches
nothing; an intent (path, name, digest) is committed; the file is written without replacing anything; then one
transaction admits it again and stores plan, bytes and the kept intent. If that transaction refuses, or the
host dies anywhere, the intent alone says what to remove or to finish.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from standfast.domain import plan as plans
from standfast.domain import session as sessions
from standfast.domain import verdict
from standfast.domain.change import Actor, Change, Event, Put
from standfast.domain.checklist import Checklist, parse_checklist
from standfast.domain.errors import Refusal
from standfast.domain.markdown import TooLarge
from standfast.domain.plan import INTENT, Intent, Plan, PlanText, Proposal
from standfast.domain.session import Project, Session, Turn
from standfast.host import artifacts
from standfast.host.operation import Input
from standfast.host.turns import ensure_turn
from standfast.host.work import Work

if TYPE_CHECKING:
    from standfast.host.door import Host

HOST: Final = Actor(role="host", name="submission")
MAX_CALL: Final = 200


class EnterPlan(Input, frozen=True):
    """The agent goes into plan mode."""

    session: str | None = None


def enter(work: Work, command: EnterPlan) -> Change:
    """Plan mode for the session; entered twice it answers `already`."""
    session = work.open_session(command.session)
    _may_plan(work, session)
    if session.mode == "plan":
        return Change({"session": session.id, "mode": "plan", "already": True})
    _, event = sessions.changed(session, work.ctx, "session.plan_entered", {}, mode="plan", marker_due=True)
    return Change({"session": session.id, "mode": "plan", "already": False}, (event,))


def _may_plan(work: Work, session: Session) -> None:
    if session.kind == "scheduled":
        raise sessions.scheduled_refusal()
    if session.checkout is None:
        raise Refusal("workspace_required", "A plan needs a session with a workspace; start it with one.")
    pending = work.tx.first(Plan, "plan_pending", session=session.id)
    if pending is not None:
        raise Refusal(
            "plan_already_pending",
            f"{pending.ref} waits for a person's verdict. End your turn.",
            plan=pending.id,
            number=pending.ref,
        )


class SubmitPlan(Input, frozen=True):
    """A proposal: exactly `title`, `question` and `markdown`, or `path` to a file in the workspace instead.

    `tool_call_id` and `batch` (tool calls in the same batch) come from the transport, never from the model.
    """

    title: str
    question: str
    markdown: str | None = None
    path: str | None = None
    tool_call_id: str | None = None
    batch: int = 1
    session: str | None = None


class Filed:
    """A proposal whose file is written and announced, waiting for its transaction."""

    def __init__(
        self, host: Host, session: Session, proposal: Proposal, directory: str, headings: tuple[str, ...]
    ) -> None:
        self._host: Final = host
        self.proposal: Final = proposal
        self.sha256: Final = hashlib.sha256(proposal.markdown).hexdigest()
        self.checklist: Final[Checklist] = _parsed(proposal, headings)
        self.plan_id: Final = host.new_id("pln")
        self.intent: Intent = self._announce(session, directory)
        self.file: Final = self._write(session, directory)

    @property
    def text(self) -> PlanText:
        """The row of the exact bytes."""
        return PlanText(self.plan_id, self.proposal.markdown, self.checklist)

    def _announce(self, session: Session, directory: str) -> Intent:
        made: list[Intent] = []

        def decide(work: Work) -> Change:
            intent = Intent(
                id=work.ctx.new_id("int"),
                status=INTENT.initial,
                plan_id=self.plan_id,
                checkout=session.checkout or "",
                directory=directory,
                path="",
                temp_name=work.ctx.new_id("tmp"),
                sha256=self.sha256,
                size=len(self.proposal.markdown),
                created_at=work.ctx.now,
            )
            made[:] = [intent]
            data: dict[str, object] = {"intent": intent.id, "sha256": intent.sha256}
            chain = plans.aggregate(self.plan_id)
            return Change({}, (Event("artifact.intended", chain, session.id, data, (Put(None, intent),)),))

        self._host.write_change(decide, HOST)
        return made[0]

    def _write(self, session: Session, directory: str) -> artifacts.Written:
        try:
            return self._host.artifacts.write(
                Path(session.checkout or ""),
                directory,
                artifacts.Wanted(
                    self.proposal.title, self.intent.created_at, self.proposal.markdown, self.intent.temp_name
                ),
            )
        except artifacts.ArtifactError as error:
            self._close("drop")
            raise refusal(error) from error

    def settle(self, result: Mapping[str, Any] | None) -> None:
        """Finishes the file of a stored plan, removes that of one that was not."""
        if result is not None and result.get("plan") == self.plan_id:
            self._host.artifacts.finish(self.file)
            self._close("finish")
        else:
            self._host.artifacts.discard(self.file)
            self._close("drop")

    def _close(self, action: str) -> None:
        def decide(work: Work) -> Change:
            before = work.tx.get(Intent, self.intent.id)
            assert before is not None, "an announced intent is stored"
            return Change({}, (closed_intent(before, action),))

        self._host.write_change(decide, HOST)


def closed_intent(before: Intent, action: str) -> Event:
    """The intent's next state as an event of its plan's chain."""
    after = msgspec.structs.replace(before, status=INTENT.step(before.status, action, f"intent {before.id}"))
    data: dict[str, object] = {"intent": before.id}
    return Event(f"artifact.{after.status}", plans.aggregate(before.plan_id), None, data, (Put(before, after),))


def refusal(error: artifacts.ArtifactError) -> Refusal:
    """An artifact's fault as a refusal of the door."""
    return Refusal(error.code, str(error))


def _parsed(proposal: Proposal, headings: tuple[str, ...]) -> Checklist:
    markdown = proposal.markdown.decode("utf-8")
    try:
        return parse_checklist(markdown, headings) if headings else parse_checklist(markdown)
    except TooLarge as error:
        raise Refusal("limit", f"{error}. Shorten the plan.", field="markdown", limit=error.most) from error


class Admission(msgspec.Struct, frozen=True):
    """What a submission meets: its session, the same proposal if it is already there."""

    session: Session
    same: Plan | None = None


def admit(work: Work, command: SubmitPlan, sha256: str) -> Admission:
    """Whether this session may propose now; the stored proposal when it is the same one again."""
    session = work.open_session(command.session)
    if session.kind == "scheduled":
        raise sessions.scheduled_refusal()
    turn = _submitting_turn(work, session)
    repeated = _repeated(work, session, turn, command, sha256)
    if repeated is not None:
        return Admission(session, repeated)
    if command.batch != 1:
        raise Refusal("plan_alone_in_batch", "Submit the plan as the only tool call, then end your turn.")
    _may_plan(work, session)
    if session.mode != "plan" and session.own_plan_mode:
        raise Refusal("plan_mode_required", "Enter plan mode first (plan_enter), then submit.")
    return Admission(session)


def _submitting_turn(work: Work, session: Session) -> Turn | None:
    active = work.active_turn(session.id)
    if active is None and session.reports_turns:
        raise Refusal("no_active_turn", "This session's client reports its turns, and none is active.")
    return active


def _repeated(work: Work, session: Session, turn: Turn | None, command: SubmitPlan, sha256: str) -> Plan | None:
    wanted = (command.title, command.question, sha256)
    if command.tool_call_id is not None and turn is not None:
        known = work.tx.first(Plan, "plan_by_call", session=session.id, turn=turn.id, call=command.tool_call_id)
        if known is not None:
            if (known.title, known.question, known.sha256) != wanted:
                raise Refusal(
                    "idempotency_conflict",
                    f"This tool call already submitted {known.ref} with another text.",
                    plan=known.id,
                )
            return known
    pending = work.tx.first(Plan, "plan_pending", session=session.id)
    if pending is not None and (pending.title, pending.question, pending.sha256) == wanted:
        return pending
    return None


class Again:
    """A submission that is already stored: nothing to write."""

    def __init__(self, sha256: str) -> None:
        self.sha256: Final = sha256

    def settle(self, result: Mapping[str, Any] | None) -> None:
        """Nothing to undo."""


def prepare_submit(host: Host, command: SubmitPlan, actor: Actor, key: str | None) -> Filed | Again:
    """Admits the submission on a snapshot, then announces and writes its file."""
    if (command.markdown is None) == (command.path is None):
        raise Refusal("invalid", "Send exactly one of `markdown` and `path`.", field="markdown")
    if command.tool_call_id is not None and not 0 < len(command.tool_call_id) <= MAX_CALL:
        raise Refusal("invalid", f"tool_call_id has 1 to {MAX_CALL} characters.", field="tool_call_id")
    markdown = _markdown(host, command, actor)
    proposal = plans.proposal(command.title, command.question, markdown)
    sha256 = hashlib.sha256(markdown).hexdigest()

    def look(work: Work) -> tuple[Admission, tuple[str, tuple[str, ...]]]:
        admission = admit(work, command, sha256)
        settings = work.settings(admission.session.project_id)
        return admission, (settings.text("plan.directory"), settings.texts("plan.headings"))

    admission, (directory, headings) = host.look(look, actor)
    if admission.same is not None:
        return Again(sha256)
    return Filed(host, admission.session, proposal, directory, headings)


def _markdown(host: Host, command: SubmitPlan, actor: Actor) -> bytes:
    if command.markdown is not None:
        try:
            return command.markdown.encode("utf-8")
        except UnicodeEncodeError as error:
            raise Refusal("invalid", "markdown holds a lone surrogate.", field="markdown") from error
    session = host.look(lambda work: work.open_session(command.session), actor)
    if session.checkout is None:
        raise Refusal("workspace_required", "A path needs a session with a workspace.")
    return read_file(host, Path(session.checkout), command.path or "")


def read_file(host: Host, checkout: Path, path: str) -> bytes:
    """A file in the workspace, at most the size of a plan, read without following links."""
    try:
        return host.artifacts.read(checkout, path, plans.MAX_MARKDOWN_BYTES)
    except artifacts.ArtifactError as error:
        raise refusal(error) from error


def submit(work: Work, command: SubmitPlan) -> Change:
    """Stores the proposal; from agent mode it enters plan mode in the same transaction."""
    prepared: Filed | Again = work.prepared
    admission = admit(work, command, prepared.sha256)
    if admission.same is not None:
        return Change(submitted(work, admission.same, work.text(admission.same.id), already=True))
    if isinstance(prepared, Again):
        raise Refusal("unavailable", "The pending proposal was settled meanwhile; submit again.", retry_after=0)
    session = admission.session
    turn, opened = ensure_turn(work, session)
    filing = Source("submitted", turn.id if turn else None, command.tool_call_id)
    plan, events = file_plan(work, session, prepared, filing)
    events = (*opened, *events)
    if session.mode != "plan":
        _, entered = sessions.changed(session, work.ctx, "session.plan_entered", {}, mode="plan", marker_due=True)
        events = (*events, entered)
    return Change(submitted(work, plan, prepared.text, already=False), events)


class Source(msgspec.Struct, frozen=True):
    """Where a new plan comes from."""

    origin: str
    turn_id: str | None = None
    tool_call_id: str | None = None
    replaces: str | None = None


def file_plan(work: Work, session: Session, filed: Filed, source: Source) -> tuple[Plan, tuple[Event, ...]]:
    """The pending plan of a written file, numbered in its project, and its intent kept."""
    assert session.project_id is not None, "admitted with a workspace"
    project = work.tx.get(Project, session.project_id)
    assert project is not None, "a session's project exists"
    counted = msgspec.structs.replace(project, plan_seq=project.plan_seq + 1)
    expiry = work.settings(project.id).number("plan.expiry_ms")
    filing = verdict.Filing(
        plan_id=filed.plan_id,
        number=counted.plan_seq,
        origin=source.origin,
        path=filed.file.path,
        expires_at=work.ctx.now + expiry,
        turn_id=source.turn_id,
        tool_call_id=source.tool_call_id,
        replaces=source.replaces,
    )
    plan, event = verdict.file_proposal(session, filed.proposal, filed.text, filed.sha256, filing, work.ctx)
    before = filed.intent
    kept = msgspec.structs.replace(
        before, status=INTENT.step(before.status, "keep", "the intent"), path=filed.file.path
    )
    puts = (*event.puts, Put(project, counted), Put(before, kept))
    return plan, (msgspec.structs.replace(event, puts=puts),)


def submitted(work: Work, plan: Plan, text: PlanText, *, already: bool) -> dict[str, object]:
    """The answer of a submission: what was understood, and what to do now."""
    return {
        "plan": plan.id,
        "number": plan.ref,
        "status": plan.status,
        "version": plan.version,
        "sha256": plan.sha256,
        "path": plan.path,
        "tasks": len(text.checklist.tasks),
        "warnings": [item.message for item in text.checklist.warnings],
        "expires_at": plan.expires_at,
        "already": already,
    }


def submitted_text(result: Mapping[str, Any]) -> str:
    """What a model reads after submitting."""
    lines = [f"{result['number']} {result['status']}: {result['tasks']} tasks, {result['path']}."]
    lines += [f"Warning: {message}" for message in result["warnings"][:10]]
    if result["status"] == "pending":
        lines.append("A person decides. End your turn now; do not start the work, do not poll.")
    return "\n".join(lines)
