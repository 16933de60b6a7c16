"""What the MCP endpoint serves, as seen from the endpoint: one protocol and the plain values it exchanges.

Theory of operation
-------------------
The endpoint knows the wire (two protocol eras, sessions, headers); the surface knows the product (tools,
plans, texts). They meet here and nowhere else: the endpoint never imports the host, and a surface never
imports the SDK. Whatever implements `ToolSurface` can be served, which is how the wire is tested without a
host.

Invariants
- The role of every caller is `agent`. It is not a parameter: a payload, a header or an operator's token
  cannot change what the model-facing endpoint may do.
- Answers are text. There is no structured content and no output schema, because clients disagree on which of
  the two they show the model; one short complete text means the same everywhere.
- A tool that exists and refuses answers with `is_error` and a text; a name that does not exist raises. The
  first is for the model to read and correct, the second is a protocol error.

Not here: headers (`mcp_headers`), the SDK (`mcp_handlers`), what the tools do (the host's side implements the
surface).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol


class UnknownTool(LookupError):
    """No tool of that name exists. `args[0]` is the name that was asked for."""


class UnknownResource(LookupError):
    """No resource has that URI, or it is not this caller's to read. `args[0]` is the URI."""


class UnknownPrompt(LookupError):
    """No prompt of that name exists. `args[0]` is the name that was asked for."""


class BadPromptArguments(ValueError):
    """The prompt exists, its arguments do not fit. `args[0]` says what to send instead."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """Who calls, from where, under which key. Built from headers and `_meta`: untrusted input.

    `client_session` is the opaque id of the pipe process, or the transport session of a client that speaks
    HTTP itself, or None for a stateless HTTP request. `parent_pid` is the pipe's parent process, for the last
    resort of the session table. `meta` is the request's `_meta` as it came.
    """

    client_session: str | None = None
    transport_session: str | None = None
    workspace: str | None = None
    client_name: str | None = None
    idempotency_key: str | None = None
    parent_pid: int | None = None
    profile: str = ""
    protocol_version: str = ""
    meta: Mapping[str, object] = field(default_factory=dict)
    role: Literal["agent"] = field(default="agent", init=False)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool as listed. `input_schema` is a JSON Schema object without `x-mcp-header` annotations.

    `read_only` becomes the `readOnlyHint` annotation: some clients let nothing else through in their plan
    mode.
    """

    name: str
    description: str
    input_schema: Mapping[str, object]
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """The text that the model reads; `is_error` marks a refusal that says what to send instead."""

    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class ResourceSpec:
    """A readable text under a URI; with `template` set, `uri` is an RFC 6570 template."""

    uri: str
    name: str
    description: str
    mime_type: str = "text/markdown"
    template: bool = False


@dataclass(frozen=True, slots=True)
class ResourceText:
    """The content of one resource."""

    uri: str
    text: str
    mime_type: str = "text/markdown"


@dataclass(frozen=True, slots=True)
class PromptArgument:
    """One argument of a prompt; values are always strings on this wire."""

    name: str
    description: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class PromptSpec:
    """One prompt as listed."""

    name: str
    description: str
    arguments: tuple[PromptArgument, ...] = ()


class ToolSurface(Protocol):
    """What is served over MCP. Listings are cheap and synchronous; everything else may wait.

    `call`, `read` and `prompt` may be cancelled at any await (the client went away or cancelled); they must
    leave nothing half done. An exception other than the ones named is answered as an internal error without
    its text.
    """

    @property
    def name(self) -> str:
        """The server's name as clients show it."""
        ...

    @property
    def version(self) -> str:
        """The server's version."""
        ...

    @property
    def instructions(self) -> str:
        """What some clients put before the model once; nothing may depend on it."""
        ...

    def tools(self, profile: str) -> Sequence[ToolSpec]:
        """The tools of a profile: client names and tool groups with commas between, or empty."""
        ...

    async def call(self, name: str, arguments: Mapping[str, object], context: CallContext) -> ToolAnswer:
        """Run a tool. Raises `UnknownTool`; a refusal is an answer with `is_error`."""
        ...

    def resources(self, context: CallContext) -> Sequence[ResourceSpec]:
        """The resources this caller may read, templates included."""
        ...

    async def read(self, uri: str, context: CallContext) -> ResourceText:
        """Read one resource. Raises `UnknownResource`."""
        ...

    def prompts(self) -> Sequence[PromptSpec]:
        """The prompts on offer."""
        ...

    async def prompt(self, name: str, arguments: Mapping[str, str], context: CallContext) -> str:
        """The prompt's text, as one user message. Raises `UnknownPrompt` and `BadPromptArguments`."""
        ...
