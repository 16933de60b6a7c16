"""The page's routes: the shell and its two files for everybody, login by ticket, fragments for a bearer.

Fragments are made from the same operations as everything else; verdicts go to `/v1/op` like anybody's. The
page's bearer is the operator, and counts only with the exact `Origin` where something is changed.
"""

from __future__ import annotations

from importlib import resources
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from standfast.domain.change import Actor
from standfast.domain.errors import Refusal
from standfast.serve.auth import Keys, identify
from standfast.serve.http import Api, guarded, read_body, respond

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
SAFE: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
LISTED: Final = 200
_FILES: Final = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/page/page.css": ("page.css", "text/css; charset=utf-8"),
}


class Page:
    """The routes, over the API and the home's keys."""

    def __init__(self, api: Api, keys: Keys) -> None:
        self._api: Final = api
        self._keys: Final = keys

    def routes(self) -> list[Route]:
        """Everything of the page."""
        fixed = [Route(path, guarded(self.file), methods=["GET"]) for path in _FILES]
        return [
            *fixed,
            Route("/v1/web/ticket", guarded(self.ticket), methods=["POST"]),
            Route("/v1/web/login", guarded(self.login), methods=["POST"]),
            Route("/v1/web/logout", guarded(self.logout), methods=["POST"]),
            Route("/page/overview", guarded(self.overview), methods=["GET"]),
            Route("/page/plans/{plan}", guarded(self.card), methods=["GET"]),
        ]

    async def file(self, request: Request) -> Response:
        """The shell, the script or the style; nobody's data is in them."""
        name, kind = _FILES[request.url.path]
        data = (resources.files("standfast.serve.web") / "static" / name).read_bytes()
        return Response(data, headers=SAFE, media_type=kind)

    async def ticket(self, request: Request) -> Response:
        """A ticket for the person who holds the home's operator token; a page cannot make another."""
        actor = identify(request.headers, self._keys)
        if actor.role != "operator" or actor.name != "operator":
            raise Refusal("forbidden", "Only the operator's own token opens the page.", role=actor.role)
        return respond({"ticket": self._keys.pages.issue()})

    async def login(self, request: Request) -> Response:
        """A ticket becomes a bearer, once."""
        if "origin" not in request.headers:
            raise Refusal("forbidden", "Log in from the page itself.")
        ticket = (await read_body(request)).get("ticket")
        bearer = self._keys.pages.redeem(ticket) if isinstance(ticket, str) else None
        if bearer is None:
            raise Refusal("unauthenticated", "This address was used or is too old. Run `standfast web` again.")
        return respond({"bearer": bearer})

    async def logout(self, request: Request) -> Response:
        """Ends the bearer that asks."""
        identify(request.headers, self._keys)
        self._keys.pages.revoke(request.headers["authorization"].partition(" ")[2].strip())
        return respond({"ok": True})

    async def overview(self, request: Request) -> Response:
        """The list of sessions, and above it what waits."""
        actor = self._person(request)
        status = await self._result("host.status", {}, actor)
        sessions = (await self._result("session.list", {"limit": LISTED}, actor))["sessions"]
        plans = (await self._result("plan.list", {"limit": LISTED}, actor))["plans"]
        from standfast.serve.web import fragments

        html = await run_in_threadpool(fragments.overview, sessions, plans, status["now"])
        return _fragment(html, status["events"])

    async def card(self, request: Request) -> Response:
        """One plan."""
        actor = self._person(request)
        status = await self._result("host.status", {}, actor)
        plan = await self._result("plan.get", {"plan": request.path_params["plan"]}, actor)
        tasks: list[Any] = []
        if plan["tracker"] is not None:
            tasks = (await self._result("plan.tasks", {"plan": plan["plan"]}, actor))["tasks"]
        from standfast.serve.web import fragments

        html = await run_in_threadpool(fragments.card, plan, tasks, status["now"])
        return _fragment(html, status["events"])

    def _person(self, request: Request) -> Actor:
        actor = identify(request.headers, self._keys)
        if actor.role not in ("operator", "observer"):
            raise Refusal("forbidden", "The page is for people.", role=actor.role)
        return actor

    async def _result(self, operation: str, payload: dict[str, Any], actor: Actor) -> Any:
        return (await self._api.run(operation, payload, actor)).result


def _fragment(html: str, events: int) -> Response:
    """A fragment, with the number of the newest event that it can show."""
    return Response(html, headers={**SAFE, "standfast-events": str(events)}, media_type="text/html; charset=utf-8")
