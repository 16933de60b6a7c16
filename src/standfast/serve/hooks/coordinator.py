"""What a client's reports mean, for all clients: operations of the session's coordinator, and what the model gets.

A prompt begins a turn and brings what is owed to the model: a queued instruction, messages, the marker. Before a
tool call the gate is asked, and the call's id is noted, so that the MCP call that follows finds its session. Where
the client lost its context the resume view goes in.

Not here: events and formats of a client (its own module).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, assert_never

from standfast.domain import capabilities
from standfast.domain.change import Actor
from standfast.domain.gate import ALLOW
from standfast.serve.conversations import Conversations
from standfast.serve.hooks.captured import Captured
from standfast.serve.hooks.telling import Telling
from standfast.serve.hooks.vocabulary import Client, Reply, Report, Sent
from standfast.serve.http import Api

NAME_LIMIT: Final = 200
_LOST: Final = frozenset({"resume", "compact", "fork", "clear"})


class Coordinator:
    """Hears the reports of all clients."""

    def __init__(self, api: Api, conversations: Conversations) -> None:
        self._api: Final = api
        self._conversations: Final = conversations
        self._telling: Final = Telling()
        self._captured: Final = Captured(self._do)

    async def heard(self, client: Client, report: Report, sent: Sent) -> Reply:
        """Does what the report asks for; the reply to it."""
        opened = await self._session(client, report, sent)
        session = str(opened["session"])
        if sent.process is not None:
            self._conversations.speaks(client.name, sent.process, session)
        match report.what:
            case "start":
                return await self._started(client, report, opened, sent)
            case "prompt":
                return await self._prompted(report, session, sent)
            case "before_tool":
                return await self._before_tool(report, session, sent)
            case "turn_end":
                return await self._ended(session, "completed")
            case "session_end":
                return await self._ended(session, "lost")
            case "after_tool":
                if report.used is not None:
                    await self._captured.used(client.word, session, report.used)
                return Reply()
            case "note":
                return Reply()
            case never:
                assert_never(never)

    async def _session(self, client: Client, report: Report, sent: Sent) -> Mapping[str, Any]:
        wish = {
            "client": client.name,
            "client_session_id": report.conversation[:NAME_LIMIT],
            "workspace": report.workspace or None,
            "source": report.source if report.what == "start" else "connect",
            "attended": sent.attended,
            "own_plan_mode": client.own_plan_mode,
            "process": _name(sent.process),
        }
        actor = Actor(role="agent", name=client.name, connection=f"hook:{report.conversation[:NAME_LIMIT]}")
        return (await self._api.run("session.start", wish, actor)).result

    async def _do(self, operation: str, payload: Mapping[str, Any], session: str) -> Mapping[str, Any]:
        actor = Actor(role="coordinator", session=session, connection="hook")
        return (await self._api.run(operation, payload, actor)).result

    async def _started(self, client: Client, report: Report, opened: Mapping[str, Any], sent: Sent) -> Reply:
        """After whatever took the model's context away it is told where it stands, unless it has that already."""
        if report.source not in _LOST:
            return Reply()
        session, compact = str(opened["session"]), report.source == "compact"
        await self._captured.restore(client.word, session, report.transcript)
        view = await self._do("context.resume", {}, session)
        if view["empty"]:
            return Reply()
        held = self._telling.holds(session, sent.process, view["digest"])
        if compact:
            await self._do("context.told", {"digest": view["digest"]}, session)
        elif view["told"] and not self._telling.died(session, opened["lost_turn"]):
            return Reply()
        self._telling.told(session, sent.process, view["digest"])
        return Reply("" if held else view["text"])

    async def _prompted(self, report: Report, session: str, sent: Sent) -> Reply:
        """A prompt begins a turn; what is owed to the model goes along."""
        self._telling.prompted(session)
        turn = report.turn or f"prompt-{report.conversation}"
        begun = await self._do("turn.start", {"turn": turn[:NAME_LIMIT], "process": _name(sent.process)}, session)
        parts = [begun["instruction"], *begun["messages"], begun["marker"]]
        return Reply("\n\n".join(part for part in parts if part))

    async def _before_tool(self, report: Report, session: str, sent: Sent) -> Reply:
        """May this tool run? The answer only ever tightens."""
        await self._answered(session)
        if report.call:
            self._conversations.called(report.call, sent.process, session)
        wish = {
            "capability": report.capability,
            "tool": report.tool[:NAME_LIMIT],
            "outside": capabilities.outside(report.path, report.workspace),
        }
        verdict = await self._do("gate.check", wish, session)
        if verdict["decision"] == ALLOW:
            return Reply()
        code = f"{verdict['code']}: " if verdict["code"] else ""
        return Reply(decision=verdict["decision"], reason=f"{code}{verdict['reason']}")

    async def _ended(self, session: str, reason: str) -> Reply:
        """The model has ended its turn, or its client has gone in the middle of one."""
        if reason == "completed":
            await self._answered(session)
        active = await self._do("session.get", {}, session)
        if active["turn"] is not None:
            await self._do("turn.end", {"stop_reason": reason}, session)
        return Reply()

    async def _answered(self, session: str) -> None:
        digest = self._telling.answered(session)
        if digest is not None:
            await self._do("context.told", {"digest": digest}, session)


def _name(process: int | None) -> str:
    return "" if process is None else str(process)
