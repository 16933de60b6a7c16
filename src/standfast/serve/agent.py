"""The agent's surface over MCP: tools, resources and prompts derived from the catalogue.

The caller is always the agent role, whatever token its transport holds. Which session a call belongs to is
found from its connection (the pipe's id, the transport's session); it is started on the first call and its id
is kept here, never taken from an argument.

Answers are one short text. A refusal is a tool error whose text is the code and what to send instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

import standfast
from standfast.domain.change import Actor
from standfast.domain.errors import Refusal
from standfast.host.catalogue import CATALOGUE
from standfast.host.operation import Operation, Tool
from standfast.serve.conversations import Conversations
from standfast.serve.http import Api
from standfast.serve.schema import input_schema
from standfast.serve.surface import (
    CallContext,
    PromptSpec,
    ResourceSpec,
    ResourceText,
    ToolAnswer,
    ToolSpec,
    UnknownPrompt,
    UnknownResource,
    UnknownTool,
)

INSTRUCTIONS: Final = (
    "Propose plans with plan_submit and end your turn: a person approves. "
    "After any loss of context call resume; tick what is really done with plan_tick."
)
DEFAULT_GROUPS: Final = frozenset({"plan", "resume"})
SESSIONS_KEPT: Final = 10_000
_RESUME: Final = "standfast://session/current/resume"
_PROMPTS: Final = {
    "resume": "Call the resume tool and go on with the next action that it names.",
    "plan": "Enter plan mode with plan_enter, read what you need, then submit one plan with plan_submit.",
}


def _listed(entry: Operation, tool: Tool) -> ToolSpec:
    schema = input_schema(entry.input)
    properties = {name: _plain(part) for name, part in schema.get("properties", {}).items() if name not in tool.hidden}
    flat: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    required = [name for name in schema.get("required", []) if name in properties]
    if required:
        flat["required"] = required
    return ToolSpec(tool.name, tool.description, flat, tool.read_only)


def _plain(part: Any) -> Any:
    """A field's schema in its shortest form: optional fields as their type, no titles, no defaults.

    Of a value that may also come as JSON text only the value is described.
    """
    if not isinstance(part, dict):
        return part
    options = [item for item in part.get("anyOf", []) if item.get("type") != "null"]
    if options and all(item.get("type") == "string" for item in options[1:]):
        return _plain(options[0])
    short = {key: value for key, value in part.items() if key not in ("title", "default", "description")}
    if "properties" in short:
        short["properties"] = {name: _plain(value) for name, value in short["properties"].items()}
    if "items" in short:
        short["items"] = _plain(short["items"])
    return short


class AgentSurface:
    """A `ToolSurface` over the operations that have a tool."""

    name = "standfast"
    version = standfast.__version__
    instructions = INSTRUCTIONS

    def __init__(self, api: Api, conversations: Conversations) -> None:
        self._api: Final = api
        self._conversations: Final = conversations
        self._sessions: dict[str, str] = {}
        self._starting: Final = asyncio.Lock()
        self._tools: Final = {entry.tool.name: entry for entry in CATALOGUE.values() if entry.tool is not None}
        self._listing: Final = tuple(
            (entry.tool.group, _listed(entry, entry.tool)) for entry in self._tools.values() if entry.tool is not None
        )

    def tools(self, profile: str) -> Sequence[ToolSpec]:
        """The tools of the groups that are named, or of all for `all`; the default ones where none is."""
        named = set(profile.split(","))
        known = {group for group, _ in self._listing}
        groups = known if "all" in named else named & known or DEFAULT_GROUPS
        return tuple(spec for group, spec in self._listing if group in groups)

    async def call(self, name: str, arguments: Mapping[str, object], context: CallContext) -> ToolAnswer:
        """Runs the tool's operation as the agent of its connection's session."""
        entry = self._tools.get(name)
        if entry is None or entry.tool is None:
            raise UnknownTool(name)
        try:
            given = set(arguments) & set(entry.tool.hidden)
            if given:
                raise Refusal("invalid", f"{name} takes no {', '.join(sorted(given))}.")
            actor = await self._actor(context)
            answer = await self._api.run(entry.name, arguments, actor, context.idempotency_key)
        except Refusal as refusal:
            return ToolAnswer(f"{refusal.code}: {refusal.message}", is_error=True)
        return ToolAnswer(entry.tool.text(answer.result))

    async def _actor(self, context: CallContext) -> Actor:
        """The agent of the session that the client's hooks named for this call, else of the connection's own."""
        told = self._conversations.of(context)
        if told is not None:
            return Actor(role="agent", session=told, connection=context.client_session or "mcp")
        connection = context.client_session
        if connection is None:
            raise Refusal("session_required", "This client has no session: send Standfast-Client-Session.")
        client = (context.client_name or "mcp")[:200]
        known = f"{client}\0{connection}"
        session = self._sessions.get(known)
        if session is None:
            async with self._starting:
                session = self._sessions.get(known) or await self._start(client, connection, context)
                if len(self._sessions) >= SESSIONS_KEPT:
                    self._sessions.pop(next(iter(self._sessions)))
                self._sessions[known] = session
        return Actor(role="agent", session=session, connection=connection)

    async def _start(self, client: str, connection: str, context: CallContext) -> str:
        payload = {
            "client": client,
            "client_session_id": connection[:200],
            "workspace": context.workspace,
            "source": "connect",
        }
        actor = Actor(role="agent", name=connection, connection=connection)
        answer = await self._api.run("session.start", payload, actor)
        return str(answer.result["session"])

    async def disconnected(self, context: CallContext) -> None:
        """The connection ended: its turn ends with it."""
        client, connection = (context.client_name or "mcp")[:200], context.client_session
        session = self._sessions.pop(f"{client}\0{connection}", None)
        if session is not None and connection is not None:
            actor = Actor(role="agent", session=session, connection=connection)
            await self._api.run("session.disconnect", {}, actor)

    def resources(self, context: CallContext) -> Sequence[ResourceSpec]:
        """The resume view of the caller's session, where it has one, and its plans by number."""
        plan = ResourceSpec("standfast://plan/{id}", "plan", "The exact text of a plan.", template=True)
        if context.client_session is None and self._conversations.of(context) is None:
            return (plan,)
        return (ResourceSpec(_RESUME, "resume", "Where this session stands."), plan)

    async def read(self, uri: str, context: CallContext) -> ResourceText:
        """Reads a resource of the caller's own session."""
        try:
            actor = await self._actor(context)
            if uri == _RESUME or uri == f"standfast://session/{actor.session}/resume":
                answer = await self._api.run("context.resume", {}, actor)
                return ResourceText(uri, answer.result["text"])
            if uri.startswith("standfast://plan/"):
                plan = uri.removeprefix("standfast://plan/")
                answer = await self._api.run("plan.get", {"plan": plan}, actor)
                return ResourceText(uri, answer.result["markdown"])
        except Refusal as refusal:
            raise UnknownResource(uri) from refusal
        raise UnknownResource(uri)

    def prompts(self) -> Sequence[PromptSpec]:
        """The prompts on offer."""
        return tuple(PromptSpec(name, text) for name, text in _PROMPTS.items())

    async def prompt(self, name: str, arguments: Mapping[str, str], context: CallContext) -> str:
        """A prompt's text."""
        if name not in _PROMPTS:
            raise UnknownPrompt(name)
        return _PROMPTS[name]
