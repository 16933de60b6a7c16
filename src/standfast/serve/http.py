"""The HTTP surface: operations by name, events as a stream, artifacts by digest, and what is mounted beside.

Routes are derived from the catalogue: `POST /v1/op/{operation}` is all of them. Every request needs a token
but `/healthz` and the page's own files; `Host` and `Origin` are checked first. Bodies are bounded.

Not here: the MCP endpoint (`mcp`), the page (`web`), sockets and the process (`app`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from typing import Any, Final, Protocol
from urllib.parse import unquote

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

import standfast
from standfast.domain.change import Actor
from standfast.domain.errors import Refusal
from standfast.host.catalogue import CATALOGUE
from standfast.host.lock import OperatorLock
from standfast.host.operation import WAIT_LIMIT_SECONDS, Answer
from standfast.serve import errors
from standfast.serve.auth import PAGE, Keys, identify, local_request
from standfast.serve.events import Feed
from standfast.serve.schema import openapi, operations

MAX_BODY: Final = 2_097_152
_log: Final = logging.getLogger("standfast.http")
_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(dict[str, Any]).decode
Endpoint = Callable[[Request], Awaitable[Response]]


class Caller(Protocol):
    """What the surfaces see of the host: its operations and its wake-ups."""

    @property
    def lock(self) -> OperatorLock:
        """The operator lock."""

    def submit(
        self, operation: str, payload: Mapping[str, Any], actor: Actor, key: str | None = None
    ) -> Future[Answer]:
        """Runs an operation; the future is its answer."""

    def still_waiting(self, operation: str, payload: Mapping[str, Any], actor: Actor) -> bool:
        """Whether a caller who wants to wait should go on waiting."""

    def listen(self, listener: Callable[[int, frozenset[str]], object]) -> Callable[[], None]:
        """Adds a listener of commits; the result removes it."""


def respond(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON response that no cache keeps."""
    extra = {"cache-control": "no-store", "x-content-type-options": "nosniff", **(headers or {})}
    return Response(_encode(value), status, extra, media_type="application/json")


def refused(refusal: Refusal) -> Response:
    """A refusal as its response."""
    status = errors.STATUS[refusal.spec.kind]
    extra = {"retry-after": "1"} if refusal.retryable else {}
    if status == 401:
        extra["www-authenticate"] = "Bearer"
    return respond(errors.body(refusal), status, extra)


def guarded(endpoint: Endpoint) -> Endpoint:
    """The endpoint behind the request check, with refusals as responses and faults as `internal`."""

    async def checked(request: Request) -> Response:
        try:
            if not local_request(request.headers):
                raise Refusal("forbidden", "This Host or Origin may not reach the host.")
            return await endpoint(request)
        except Refusal as refusal:
            return refused(refusal)
        except Exception:
            _log.exception("%s %s", request.method, request.url.path)
            return refused(Refusal("internal", "A fault of the program; nothing was written. The host's log has it."))

    return checked


class Api:
    """The routes of the operations, over one caller."""

    def __init__(self, caller: Caller, keys: Keys) -> None:
        self._caller: Final = caller
        self._keys: Final = keys
        self._feed: Final = Feed(caller)

    def routes(self) -> list[Route]:
        """Everything under `/v1`, and `/healthz`."""
        return [
            Route("/v1/op/{operation}", guarded(self.operation), methods=["POST"]),
            Route("/v1/operations", guarded(self.operations), methods=["GET"]),
            Route("/v1/openapi.json", guarded(self.openapi), methods=["GET"]),
            Route("/v1/events", guarded(self.events), methods=["GET"]),
            Route("/v1/artifacts/{plan}", guarded(self.artifact), methods=["GET"]),
            Route("/healthz", guarded(self.health), methods=["GET"]),
        ]

    async def health(self, request: Request) -> Response:
        """Alive, and which version; no token needed."""
        return respond({"ok": True, "version": standfast.__version__})

    async def operation(self, request: Request) -> Response:
        """One operation: body in, result, receipt and `replayed` out."""
        actor = identify(request.headers, self._keys)
        if actor.name == PAGE and actor.role == "operator" and "origin" not in request.headers:
            raise Refusal("forbidden", "A page's login counts on the page only: its requests have an Origin.")
        actor = await self._confirmed(actor, request.headers.get("standfast-passphrase"))
        payload = await read_body(request)
        name = request.path_params["operation"]
        answer = await self.run(name, payload, actor, request.headers.get("idempotency-key"))
        return respond({"result": answer.result, "receipt": answer.receipt, "replayed": answer.replayed})

    async def _confirmed(self, actor: Actor, passphrase: str | None) -> Actor:
        """The actor with what its passphrase (percent-encoded UTF-8) proves; a wrong one is refused."""
        if passphrase is None or actor.role != "operator":
            return actor
        await asyncio.to_thread(self._caller.lock.check, unquote(passphrase))
        return msgspec.structs.replace(actor, confirmed=True)

    async def run(self, operation: str, payload: Mapping[str, Any], actor: Actor, key: str | None = None) -> Answer:
        """Runs an operation, waiting first where the caller asked to wait."""
        seconds = payload.get("wait_seconds")
        if isinstance(seconds, int) and seconds > 0:
            await self._patience(operation, payload, actor, seconds)
        return await asyncio.wrap_future(self._caller.submit(operation, payload, actor, key))

    async def _patience(self, operation: str, payload: Mapping[str, Any], actor: Actor, seconds: int) -> None:
        """Returns when the operation's answer would no longer ask to wait, at most after `seconds`."""
        loop = asyncio.get_running_loop()
        woken = asyncio.Event()
        forget = self._caller.listen(lambda last, sessions: loop.call_soon_threadsafe(woken.set))
        try:
            async with asyncio.timeout(min(seconds, WAIT_LIMIT_SECONDS)):
                while await asyncio.to_thread(self._caller.still_waiting, operation, payload, actor):
                    await woken.wait()
                    woken.clear()
        except TimeoutError:
            return
        finally:
            forget()

    async def operations(self, request: Request) -> Response:
        """The catalogue with JSON Schemas."""
        identify(request.headers, self._keys)
        return respond({"operations": operations(CATALOGUE)})

    async def openapi(self, request: Request) -> Response:
        """The OpenAPI document."""
        identify(request.headers, self._keys)
        return respond(openapi(CATALOGUE))

    async def events(self, request: Request) -> Response:
        """Server-sent events from `after` or `Last-Event-ID` on."""
        actor = identify(request.headers, self._keys)
        query = request.query_params
        after = request.headers.get("last-event-id") or query.get("after", "0")
        if not after.isascii() or not after.isdigit():
            raise Refusal("invalid", "after is a sequence number.", field="after")
        kinds = frozenset(filter(None, query.get("kinds", "").split(",")))
        session = query.get("session") or None
        first = await self._feed.page(actor, session, int(after))
        return StreamingResponse(
            self._feed.lines(actor, session, kinds, first),
            media_type="text/event-stream",
            headers={"cache-control": "no-store", "x-accel-buffering": "no"},
        )

    async def artifact(self, request: Request) -> Response:
        """A plan's exact bytes, from the row; `ETag` is their digest."""
        actor = identify(request.headers, self._keys)
        answer = await self.run("plan.get", {"plan": request.path_params["plan"]}, actor)
        etag = f'"{answer.result["sha256"]}"'
        extra = {"etag": etag, "x-content-type-options": "nosniff", "cache-control": "private, no-cache"}
        if request.headers.get("if-none-match") == etag:
            return Response(status_code=304, headers=extra)
        return Response(answer.result["markdown"].encode(), 200, extra, media_type="text/markdown; charset=utf-8")


async def read_body(request: Request) -> Mapping[str, Any]:
    """The JSON object of a request, at most `MAX_BODY` bytes; an empty body is an empty object."""
    chunks = bytearray()
    try:
        async for chunk in request.stream():
            chunks += chunk
            if len(chunks) > MAX_BODY:
                raise Refusal("limit", f"A request has at most {MAX_BODY} bytes.", limit=MAX_BODY)
    except ClientDisconnect as error:
        raise Refusal("invalid", "The request ended early.") from error
    if not chunks:
        return {}
    try:
        return _decode(chunks)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refusal("invalid", f"The body is not a JSON object: {error}.") from error
