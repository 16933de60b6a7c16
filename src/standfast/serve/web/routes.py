"""The page's routes: its files for everybody, login by ticket, fragments for a bearer.

Fragments are made from the same operations as everything else; verdicts go to `/v1/op` like anybody's. The
page's bearer is the operator, and counts only with the exact `Origin` where something is changed.
"""

from __future__ import annotations

from importlib import resources
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from standfast.domain.errors import Refusal
from standfast.serve.auth import Keys, identify
from standfast.serve.http import Api, guarded, read_body, respond
from standfast.serve.web import views
from standfast.serve.web.safety import SAFE

_SCRIPT: Final = "text/javascript; charset=utf-8"
_SCRIPTS: Final = ("page", "api", "draw", "live", "verdict", "keys")
FILES: Final = {
    "/": ("index.html", "text/html; charset=utf-8"),
    "/page/page.css": ("page.css", "text/css; charset=utf-8"),
    **{f"/page/{name}.js": (f"{name}.js", _SCRIPT) for name in _SCRIPTS},
}
"""The shell, its style and its script; nobody's data is in them."""


class Page:
    """The routes, over the API and the home's keys."""

    def __init__(self, api: Api, keys: Keys) -> None:
        self._api: Final = api
        self._keys: Final = keys

    def routes(self) -> list[Route]:
        """Everything of the page."""
        return [
            *(Route(path, guarded(self.file), methods=["GET"]) for path in FILES),
            Route("/v1/web/ticket", guarded(self.ticket), methods=["POST"]),
            Route("/v1/web/login", guarded(self.login), methods=["POST"]),
            Route("/v1/web/logout", guarded(self.logout), methods=["POST"]),
            *views.routes(self._api, self._keys),
        ]

    async def file(self, request: Request) -> Response:
        """One of the page's files."""
        name, kind = FILES[request.url.path]
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
