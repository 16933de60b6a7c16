"""The catalogue: every operation, once. HTTP, MCP, CLI, OpenAPI and the reference are derived from it."""

from __future__ import annotations

from typing import Final

from standfast.host import branches, contexts, sessions, submission, ticks, turns, upkeep, verdicts
from standfast.host.operation import Operation, Tool

_TICK_TEXT: Final = "text"

_OPERATIONS: Final = (
    Operation(
        name="session.start",
        summary="Start or take up a client's session.",
        input=sessions.StartSession,
        handler=sessions.start,
        prepare=sessions.prepare_start,
        reveal=sessions.reveal_token,
    ),
    Operation(
        name="session.get", summary="Show one session.", input=sessions.NameSession, handler=sessions.get, effect="read"
    ),
    Operation(
        name="session.list", summary="List the newest sessions.", input=sessions.ListSessions,
        handler=sessions.list_all, effect="read",
    ),
    Operation(
        name="session.configure", summary="Change a session's configuration.", input=sessions.Configure,
        handler=sessions.configure,
    ),
    Operation(
        name="session.close", summary="Close a session and interrupt what it left pending.",
        input=sessions.NameSession, handler=sessions.close,
    ),
    Operation(
        name="session.compacted", summary="Report that the client compacted its context.",
        input=sessions.NameSession, handler=sessions.compacted,
    ),
    Operation(
        name="session.branch", summary="Report history entries and select a branch.",
        input=branches.SelectBranch, handler=branches.select,
    ),
    Operation(
        name="session.fork", summary="Start a session forked from another.", input=branches.Fork,
        handler=branches.fork, reveal=sessions.reveal_token,
    ),
    Operation(
        name="session.credential", summary="Issue a coordinator's credential for a session.",
        input=upkeep.NameCredential, handler=upkeep.credential, effect="read", reveal=upkeep.reveal_credential,
    ),
    Operation(
        name="session.disconnect", summary="Report that a session's connection ended.",
        input=turns.CloseConnection, handler=turns.close_connection,
    ),
    Operation(name="turn.start", summary="Begin a turn.", input=turns.StartTurn, handler=turns.start_turn),
    Operation(name="turn.end", summary="End a turn.", input=turns.EndTurn, handler=turns.end_turn),
    Operation(
        name="gate.check", summary="May this tool run now?", input=sessions.Gate, handler=sessions.check_gate,
        effect="read",
    ),
    Operation(
        name="plan.enter",
        summary="Enter plan mode.",
        input=submission.EnterPlan,
        handler=submission.enter,
        tool=Tool(
            name="plan_enter",
            description="Enter plan mode: read and plan, change nothing until a person approves.",
            text=lambda result: "Plan mode. Read, plan, then plan_submit.",
            hidden=("session",),
            read_only=True,
        ),
    ),
    Operation(
        name="plan.submit",
        summary="Propose a plan for a person's verdict.",
        input=submission.SubmitPlan,
        handler=submission.submit,
        prepare=submission.prepare_submit,
        tool=Tool(
            name="plan_submit",
            description="Propose a plan (Markdown with `- [ ]` tasks) to a person. Call it alone, then end your turn.",
            text=submission.submitted_text,
            hidden=("session", "tool_call_id", "batch"),
            read_only=True,
        ),
    ),
    Operation(
        name="plan.status",
        summary="Show a verdict; hand an approval to its agent once.",
        input=contexts.PlanStatus,
        handler=contexts.status,
        waiting=contexts.waits,
        tool=Tool(
            name="plan_status",
            description="The verdict on your plan; once approved, its instruction. Do not poll.",
            text=contexts.status_text,
            hidden=("session", "wait_seconds", "plan"),
            read_only=True,
        ),
    ),
    Operation(
        name="plan.read",
        summary="Read a page of a plan's exact text.",
        input=contexts.ReadPlan,
        handler=contexts.read,
        effect="read",
        tool=Tool(
            name="plan_read",
            description="Read a plan's text by page.",
            text=contexts.read_text,
            hidden=("session",),
            read_only=True,
        ),
    ),
    Operation(
        name="plan.get", summary="Show a plan's whole card.", input=contexts.NamePlan, handler=contexts.get,
        effect="read",
    ),
    Operation(
        name="plan.list", summary="List plans.", input=contexts.ListPlans, handler=contexts.list_all, effect="read"
    ),
    Operation(
        name="plan.begin",
        summary="Announce a task before its work.",
        input=ticks.TaskName,
        handler=ticks.begin,
        tool=Tool(
            name="plan_begin",
            description="Say which task you start; required before work that cannot be undone.",
            text=lambda result: str(result[_TICK_TEXT]),
            hidden=("session",),
        ),
    ),
    Operation(
        name="plan.tick",
        summary="Claim a task done, or take the claim back.",
        input=ticks.TickTask,
        handler=ticks.tick,
        tool=Tool(
            name="plan_tick",
            description="Tick a task that is really done, by id (P-3.4) or exact title.",
            text=lambda result: str(result[_TICK_TEXT]),
            hidden=("session",),
        ),
    ),
    Operation(
        name="plan.untick", summary="Take a tick back.", input=ticks.UntickTask, handler=ticks.untick
    ),
    Operation(
        name="plan.tasks",
        summary="List a plan's tasks with their states.",
        input=ticks.ListTasks,
        handler=ticks.tasks,
        effect="read",
        tool=Tool(
            name="plan_tasks",
            description="The approved plan's tasks with states, progress and next.",
            text=ticks.tasks_text,
            hidden=("session", "plan", "limit"),
            read_only=True,
        ),
    ),
    Operation(
        name="plan.ticks", summary="List a plan's recorded ticks.", input=ticks.ListTicks, handler=ticks.ticks,
        effect="read",
    ),
    Operation(
        name="plan.approve", summary="Approve a plan.", input=verdicts.ApprovePlan, handler=verdicts.approve,
        prepare=verdicts.prepare_approve, verdict=True,
    ),
    Operation(
        name="plan.reject", summary="Reject a plan.", input=verdicts.RejectPlan, handler=verdicts.reject, verdict=True
    ),
    Operation(
        name="plan.abort", summary="Interrupt a pending plan.", input=contexts.NamePlan, handler=verdicts.abort,
        verdict=True,
    ),
    Operation(
        name="plan.reoffer", summary="Offer an expired or interrupted plan again.", input=contexts.NamePlan,
        handler=verdicts.reoffer, prepare=verdicts.prepare_reoffer, verdict=True,
    ),
    Operation(
        name="plan.adopt", summary="Approve a plan of a person's own.", input=verdicts.AdoptPlan,
        handler=verdicts.adopt, prepare=verdicts.prepare_adopt, verdict=True,
    ),
    Operation(
        name="plan.attach", summary="Move a tracker to another session.", input=verdicts.AttachPlan,
        handler=verdicts.attach, verdict=True,
    ),
    Operation(
        name="plan.abandon", summary="End a tracker for good.", input=verdicts.PlanOfSession,
        handler=verdicts.abandon, verdict=True,
    ),
    Operation(
        name="plan.abort_execution", summary="Interrupt a live execution.", input=contexts.NamePlan,
        handler=verdicts.abort_execution, verdict=True,
    ),
    Operation(
        name="plan.confirm", summary="Confirm a task that awaits a person.", input=ticks.PlanTaskName,
        handler=ticks.confirm, verdict=True,
    ),
    Operation(
        name="plan.resolve_task", summary="Say what became of an uncertain task.", input=ticks.ResolveTask,
        handler=ticks.resolve, verdict=True,
    ),
    Operation(
        name="execution.claim", summary="Hand out a queued execution's instruction.", input=turns.Claim,
        handler=turns.claim,
    ),
    Operation(
        name="context.marker", summary="The marker, if it is due.", input=contexts.ShowContext,
        handler=contexts.marker,
    ),
    Operation(
        name="context.resume",
        summary="The resume view.",
        input=contexts.Resume,
        handler=contexts.resume,
        effect="read",
        tool=Tool(
            name="resume",
            description="Where you stand: the approved plan, open tasks, next action. Call it after any loss of context.",
            text=lambda result: str(result["text"]),
            hidden=("session", "limit"),
            read_only=True,
        ),
    ),
    Operation(
        name="settings.get", summary="Show settings.", input=upkeep.ShowSettings, handler=upkeep.show_settings,
        effect="read",
    ),
    Operation(
        name="settings.set", summary="Change a setting.", input=upkeep.ChangeSetting, handler=upkeep.change_setting
    ),
    Operation(
        name="events.list", summary="Read the journal.", input=upkeep.ListEvents, handler=upkeep.list_events,
        effect="read",
    ),
    Operation(
        name="audit.verify", summary="Check chains, and the journal against the tables.", input=upkeep.Nothing,
        handler=upkeep.audit, effect="read",
    ),
    Operation(
        name="host.status", summary="Show the host.", input=upkeep.Nothing, handler=upkeep.status, effect="read"
    ),
    Operation(
        name="host.policy", summary="Show the policy table.", input=upkeep.Nothing, handler=upkeep.show_policy,
        effect="read",
    ),
    Operation(
        name="host.backup", summary="Copy the database to a new file.", input=upkeep.Backup,
        handler=upkeep.backup, prepare=upkeep.prepare_backup,
    ),
    Operation(
        name="receipts.prune", summary="Delete receipts past their retention.", input=upkeep.Prune,
        handler=upkeep.prune,
    ),
)

CATALOGUE: Final[dict[str, Operation]] = {entry.name: entry for entry in _OPERATIONS}
