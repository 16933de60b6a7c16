"""Claude Code's hook events as operations, and the operations' answers as what its hooks may say.

The client's session id is the conversation. A prompt begins a turn, Stop ends it. Before each tool call the
gate is asked, and the call's id is noted, so that the MCP call that follows finds its session. What a model
must know goes in as `additionalContext`: the resume view where the client lost its context, the instruction
and the marker with a prompt.

Facts about the client: a PreToolUse `allow` would grant beyond the person's own rules, so it is never said;
`ask` denies under `-p`, which the host knows as an unattended session and does not ask there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from standfast.domain import capabilities
from standfast.domain.change import Actor
from standfast.domain.clients import HOOKED
from standfast.serve.conversations import Conversations
from standfast.serve.http import Api

CLIENT: Final = HOOKED["claude"]
VIEWS_KEPT: Final = 256
_LOST: Final = frozenset({"resume", "compact", "fork", "clear"})
Said = dict[str, Any]


class Report:
    """One event: its fields as they came (untrusted), the client's process, and whether a person is there."""

    def __init__(self, event: Mapping[str, Any], process: int | None, *, attended: bool) -> None:
        self._event: Final = event
        self.process: Final = process
        self.attended: Final = attended
        self.name: Final = self.text("hook_event_name")
        self.conversation: Final = self.text("session_id")

    def text(self, field: str) -> str:
        """A field that is a text; nothing where it is missing or something else."""
        value = self._event.get(field)
        return value if isinstance(value, str) else ""

    def table(self, field: str) -> Mapping[str, Any]:
        """A field that is an object."""
        value = self._event.get(field)
        return value if isinstance(value, Mapping) else {}


class Claude:
    """Claude Code's side of the hook endpoint."""

    def __init__(self, api: Api, conversations: Conversations) -> None:
        self._api: Final = api
        self._conversations: Final = conversations
        self._told: Final[dict[str, str]] = {}
        self._events: Final[Mapping[str, Callable[[Report, str], Awaitable[Said]]]] = {
            "UserPromptSubmit": self._prompt,
            "PreToolUse": self._tool,
            "Stop": self._stop,
        }

    async def answer(self, report: Report) -> Said:
        """What the hook prints; an empty object where there is nothing to say."""
        if not report.conversation:
            return {}
        source = report.text("source") if report.name == "SessionStart" else "connect"
        session = await self._session(report, source)
        if report.process is not None:
            self._conversations.speaks(CLIENT, report.process, session)
        if report.name == "SessionStart":
            return await self._begun(source, session)
        handle = self._events.get(report.name)
        return {} if handle is None else await handle(report, session)

    async def _session(self, report: Report, source: str) -> str:
        wish = {
            "client": CLIENT,
            "client_session_id": report.conversation[:200],
            "workspace": report.text("cwd") or None,
            "source": source,
            "attended": report.attended,
            "own_plan_mode": True,
            "process": "" if report.process is None else str(report.process),
        }
        actor = Actor(role="agent", name=CLIENT, connection=f"hook:{report.conversation[:200]}")
        answer = await self._api.run("session.start", wish, actor)
        return str(answer.result["session"])

    async def _do(self, operation: str, payload: Mapping[str, Any], session: str) -> Mapping[str, Any]:
        actor = Actor(role="coordinator", session=session, connection="hook")
        return (await self._api.run(operation, payload, actor)).result

    async def _begun(self, source: str, session: str) -> Said:
        """After whatever took the model's context away it is told where it stands.

        A resumed process has its transcript: the view that was told last is in it and is not told again.
        """
        if source not in _LOST:
            return {}
        view = await self._do("context.resume", {}, session)
        if view["empty"] or (source == "resume" and self._told.get(session) == view["text"]):
            return {}
        if len(self._told) >= VIEWS_KEPT:
            self._told.pop(next(iter(self._told)))
        self._told[session] = view["text"]
        return _context("SessionStart", view["text"])

    async def _prompt(self, report: Report, session: str) -> Said:
        """A prompt begins a turn; what is owed to the model goes along."""
        turn = report.text("prompt_id") or f"prompt-{report.conversation}"
        wish = {"turn": turn[:200], "process": "" if report.process is None else str(report.process)}
        begun = await self._do("turn.start", wish, session)
        parts = [begun["instruction"], *begun["messages"], begun["marker"]]
        return _context("UserPromptSubmit", "\n\n".join(part for part in parts if part))

    async def _tool(self, report: Report, session: str) -> Said:
        """May this tool run? The answer only ever tightens."""
        tool, arguments = report.text("tool_name"), report.table("tool_input")
        plans = capabilities.client_plans(report.text("transcript_path"))
        call = report.text("tool_use_id")
        if call:
            self._conversations.called(call, report.process, session)
        wish = {
            "capability": capabilities.of_claude(tool, arguments, plans),
            "tool": tool[:200],
            "outside": capabilities.outside(capabilities.path_of(arguments), report.text("cwd")),
        }
        verdict = await self._do("gate.check", wish, session)
        if verdict["decision"] == "none":
            return {}
        code = f"{verdict['code']}: " if verdict["code"] else ""
        said = {
            "hookEventName": "PreToolUse",
            "permissionDecision": verdict["decision"],
            "permissionDecisionReason": f"{code}{verdict['reason']}",
        }
        return {"hookSpecificOutput": said}

    async def _stop(self, report: Report, session: str) -> Said:
        """The model has ended its turn."""
        active = await self._do("session.get", {}, session)
        if active["turn"] is not None:
            await self._do("turn.end", {"stop_reason": "completed"}, session)
        return {}


def _context(event: str, text: str) -> Said:
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}} if text else {}
