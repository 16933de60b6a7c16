"""The SDK's low-level server over a `ToolSurface`: the only module that imports the MCP SDK.

Theory of operation
-------------------
One server object and one streamable HTTP session manager serve both protocol eras. The manager reads the
request's `MCP-Protocol-Version`: up to 2025-11-25 a handshake opens a transport session, at 2026-07-28 every
request stands alone. The handlers below are the same for both; they translate between the SDK's models and
the surface's values.

Invariants
- Importing this module costs several hundred milliseconds, so it is imported on first use
  (`mcp.McpEndpoint`).
- Nothing of a failing handler reaches the wire: the log has the traceback, the client gets a generic internal
  error.
- A tool listing is not run again for each call: the surface promises schemas without header annotations, so
  there is nothing to check them against (`get_tool_input_schema`).

Not here: authentication, the ASGI life cycle (`mcp`), the meaning of headers (`mcp_headers`).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request

from standfast.serve.mcp_headers import context_of, profile_of
from standfast.serve.surface import (
    BadPromptArguments,
    CallContext,
    ToolSpec,
    ToolSurface,
    UnknownPrompt,
    UnknownResource,
    UnknownTool,
)

log = logging.getLogger("standfast.mcp")

MESSAGE_LIMIT_BYTES = 4 * 1024 * 1024
SESSION_IDLE_SECONDS = 4 * 3600.0
SESSION_LIMIT = 10_000
LISTING_TTL_MS = 300_000
RESOURCE_NOT_FOUND_2025 = -32002
"""The code of the handshake era; 2026-07-28 retired it in favour of invalid params."""

Asked = ServerRequestContext[Any, Request]


def build_manager(
    surface: ToolSurface, *, allowed_hosts: Sequence[str], allowed_origins: Sequence[str]
) -> StreamableHTTPSessionManager:
    """A session manager that serves `surface` to these hosts and origins (`name:*`: any port)."""
    return StreamableHTTPSessionManager(
        app=build_server(surface),
        security_settings=TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=list(allowed_hosts),
            allowed_origins=list(allowed_origins),
        ),
        session_idle_timeout=SESSION_IDLE_SECONDS,
        max_sessions=SESSION_LIMIT,
        max_request_body_size=MESSAGE_LIMIT_BYTES,
    )


def build_server(surface: ToolSurface) -> Server[Any]:
    """The low-level server whose handlers ask `surface`."""
    handlers = _Handlers(surface)
    listing = CacheHint(ttl_ms=LISTING_TTL_MS, scope="private")
    server: Server[Any] = Server(
        surface.name,
        version=surface.version,
        instructions=surface.instructions,
        cache_hints={"tools/list": listing, "prompts/list": listing, "resources/templates/list": listing},
        get_tool_input_schema=lambda name: None,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )
    # The default middleware opens a tracing span per message, for an exporter that the host does not have.
    server.middleware.clear()
    return server


def request_context(ctx: Asked) -> CallContext:
    """The surface's view of one request, from its HTTP headers, its URL and its `_meta`."""
    request = _request(ctx)
    meta = (ctx.params or {}).get("_meta")
    client = ctx.session.client_params
    return context_of(
        request.headers,
        request.url.query,
        client_name=client.client_info.name if client is not None else None,
        protocol_version=ctx.protocol_version,
        meta=meta if isinstance(meta, dict) else {},
    )


def _request(ctx: Asked) -> Request:
    if ctx.request is None:
        raise MCPError(types.INTERNAL_ERROR, "This endpoint is served over HTTP only.")
    return ctx.request


def _listed(spec: ToolSpec) -> types.Tool:
    return types.Tool(
        name=spec.name,
        description=spec.description,
        input_schema=dict(spec.input_schema),
        annotations=types.ToolAnnotations(read_only_hint=True) if spec.read_only else None,
    )


def _internal(what: str, name: str) -> MCPError:
    """Log the exception being handled and return what the client may know of it."""
    log.exception("%s %r failed", what, name)
    return MCPError(types.INTERNAL_ERROR, f"{what} {name} failed inside the host; its log says why.")


class _Handlers:
    """The request handlers, each one translation long."""

    def __init__(self, surface: ToolSurface) -> None:
        self._surface = surface

    async def list_tools(self, ctx: Asked, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        request = _request(ctx)
        profile = profile_of(request.headers, request.url.query)
        return types.ListToolsResult(tools=[_listed(spec) for spec in self._surface.tools(profile)])

    async def call_tool(self, ctx: Asked, params: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            answer = await self._surface.call(params.name, params.arguments or {}, request_context(ctx))
        except UnknownTool:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}") from None
        except Exception:
            raise _internal("Tool", params.name) from None
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)], is_error=answer.is_error
        )

    async def list_resources(
        self, ctx: Asked, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        found = self._surface.resources(request_context(ctx))
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=spec.uri, name=spec.name, description=spec.description, mime_type=spec.mime_type)
                for spec in found
                if not spec.template
            ]
        )

    async def list_templates(
        self, ctx: Asked, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        found = self._surface.resources(request_context(ctx))
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=spec.uri,
                    name=spec.name,
                    description=spec.description,
                    mime_type=spec.mime_type,
                )
                for spec in found
                if spec.template
            ]
        )

    async def read_resource(self, ctx: Asked, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        try:
            found = await self._surface.read(str(params.uri), request_context(ctx))
        except UnknownResource:
            modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
            code = types.INVALID_PARAMS if modern else RESOURCE_NOT_FOUND_2025
            raise MCPError(code, f"Resource not found: {params.uri}", data={"uri": str(params.uri)}) from None
        except Exception:
            raise _internal("Resource", str(params.uri)) from None
        text = types.TextResourceContents(uri=found.uri, mime_type=found.mime_type, text=found.text)
        return types.ReadResourceResult(contents=[text])

    async def list_prompts(self, ctx: Asked, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(
                    name=spec.name,
                    description=spec.description,
                    arguments=[
                        types.PromptArgument(name=each.name, description=each.description, required=each.required)
                        for each in spec.arguments
                    ],
                )
                for spec in self._surface.prompts()
            ]
        )

    async def get_prompt(self, ctx: Asked, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        try:
            text = await self._surface.prompt(params.name, params.arguments or {}, request_context(ctx))
        except UnknownPrompt:
            raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name}") from None
        except BadPromptArguments as bad:
            raise MCPError(types.INVALID_PARAMS, str(bad)) from None
        except Exception:
            raise _internal("Prompt", params.name) from None
        content = types.TextContent(type="text", text=text)
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])
