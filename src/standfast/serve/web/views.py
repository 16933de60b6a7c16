"""The page's fragments: each is made of operations' answers, under the bearer of whoever looks.

A fragment carries the number of the newest event that it can show, so that the page knows what it has seen,
the host's boot, so that it notices a restart, and how many plans wait for a verdict.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from standfast.domain.change import Actor
from standfast.domain.errors import Refusal
from standfast.serve.auth import Keys, identify
from standfast.serve.http import Api, guarded
from standfast.serve.web.safety import SAFE

LISTED: Final = 1_000
PAGE: Final = 200
RECENT: Final = 30
NEWEST: Final = 2**53
Draw = Callable[["Reader", Request], Awaitable[str]]


class Reader:
    """Operations as one person sees them."""

    def __init__(self, api: Api, actor: Actor) -> None:
        self._api: Final = api
        self._actor: Final = actor

    async def __call__(self, operation: str, **payload: Any) -> Any:
        """An operation's result."""
        return (await self._api.run(operation, payload, self._actor)).result


async def overview(read: Reader, request: Request) -> str:
    """The list of sessions, and above it what waits."""
    from standfast.serve.web import fragments

    return await run_in_threadpool(fragments.overview, await read("session.overview", limit=LISTED))


async def card(read: Reader, request: Request) -> str:
    """One plan: verdict, checklist, ticks."""
    from standfast.serve.web import fragments

    plan = await read("plan.get", plan=request.path_params["plan"])
    states: dict[str, Any] = {}
    ticks: list[Any] = []
    if plan["tracker"] is not None:
        named = {"plan": plan["plan"], "session": plan["tracked_in"]}
        states = {task["id"]: task for task in await _tasks(read, named)}
        ticks = (await read("plan.ticks", **named))["ticks"]
    return await run_in_threadpool(fragments.card, plan, states, ticks)


async def _tasks(read: Reader, named: Mapping[str, Any]) -> list[Any]:
    """All tasks of a plan, page by page."""
    found: list[Any] = []
    after: int | None = 0
    while after is not None:
        page = await read("plan.tasks", **named, after=after, limit=PAGE)
        found += page["tasks"]
        after = page["more_after"]
    return found


async def text(read: Reader, request: Request) -> str:
    """A plan's text, rendered and exact."""
    from standfast.serve.web import fragments

    return await run_in_threadpool(fragments.text, await read("plan.get", plan=request.path_params["plan"]))


async def difference(read: Reader, request: Request) -> str:
    """How a plan differs from the one whose place it takes, or from `base`."""
    from standfast.serve.web import fragments

    named = {"plan": request.path_params["plan"], "base": request.query_params.get("base") or None}
    found = await read("plan.compare", **named)
    return await run_in_threadpool(lambda: fragments.drawn("difference", found=found))


async def session(read: Reader, request: Request) -> str:
    """One session: its plan, its lists, what its model reads, and what happened last."""
    from standfast.serve.web import fragments

    name = request.path_params["session"]
    found = await read("session.get", session=name)
    plans = (await read("plan.list", session=name, limit=50))["plans"]
    tracked = next((plan for plan in plans if plan["tracker"] in ("active", "complete")), None)
    tasks = await _tasks(read, {"plan": tracked["plan"], "session": name}) if tracked else []
    events = (await read("events.list", session=name, before=NEWEST, limit=RECENT))["events"]
    history = {"events": events, "plans": plans, "session": name, "kind": "", "more": None, "part": True}
    values = {
        "session": found,
        "plans": plans,
        "tracked": tracked,
        "tasks": tasks,
        "context": await read("context.show", session=name),
        "todos": await read("todo.read", session=name),
    }
    return await run_in_threadpool(lambda: fragments.drawn("session", **values, timeline=fragments.timeline(**history)))


async def timeline(read: Reader, request: Request) -> str:
    """The journal, newest first, of one session or all, of one kind or all."""
    from standfast.serve.web import fragments

    query = request.query_params
    wish = {"session": query.get("session") or None, "kind": query.get("kind", "")}
    before = query.get("before", "")
    number = min(int(before), NEWEST) if before.isascii() and before.isdigit() else NEWEST
    page = await read("events.list", **wish, before=number, limit=PAGE)
    plans = (await read("plan.list", session=wish["session"], limit=500))["plans"]
    more = page["last"] if len(page["events"]) == PAGE else None
    return await run_in_threadpool(lambda: fragments.timeline(page["events"], plans, **wish, more=more, part=False))


async def search(read: Reader, request: Request) -> str:
    """Plans and sessions by words; without words the newest plans."""
    from standfast.serve.web import fragments

    words = request.query_params.get("q", "").strip()[:PAGE]
    if words:
        found = await read("host.search", text=words, limit=100)
    else:
        found = {"plans": (await read("plan.list", limit=100))["plans"], "sessions": []}
    return await run_in_threadpool(lambda: fragments.drawn("search", words=words, **found))


FRAGMENTS: Final[Mapping[str, Draw]] = {
    "/page/overview": overview,
    "/page/plans/{plan}": card,
    "/page/plans/{plan}/text": text,
    "/page/plans/{plan}/difference": difference,
    "/page/sessions/{session}": session,
    "/page/timeline": timeline,
    "/page/search": search,
}


def routes(api: Api, keys: Keys) -> list[Route]:
    """A route for each fragment; people and observers only."""

    def route(path: str, draw: Draw) -> Route:
        async def shown(request: Request) -> Response:
            actor = identify(request.headers, keys)
            if actor.role not in ("operator", "observer"):
                raise Refusal("forbidden", "The page is for people.", role=actor.role)
            read = Reader(api, actor)
            status = await read("host.status")
            return _fragment(await draw(read, request), status)

        return Route(path, guarded(shown), methods=["GET"])

    return [route(path, draw) for path, draw in FRAGMENTS.items()]


def _fragment(html: str, status: Mapping[str, Any]) -> Response:
    about = {name: str(status[name]) for name in ("events", "boot", "now", "pending")}
    extra = {f"standfast-{name}": value for name, value in about.items()}
    return Response(html, headers={**SAFE, **extra}, media_type="text/html; charset=utf-8")
