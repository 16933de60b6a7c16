"""What the page shows, as HTML: everything escaped by the templates, a plan's Markdown sanitised.

Rendered Markdown holds no image, no script, no style and no raw HTML; a link keeps http, https and mailto and
tells its target nothing. The exact text stands beside it with every hidden character made visible.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

import nh3
from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt

from standfast.domain.text import visible

PERMISSION_MODES: Final = {
    "ask": "ask before edits and commands",
    "accept_edits": "edits pass, commands are asked",
    "auto": "everything passes",
    "client": "as the client is set",
}
_BLOCKS: Final = ("blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "ul")
_TABLES: Final = ("table", "tbody", "td", "th", "thead", "tr")
_TAGS: Final = frozenset(("a", "br", "code", "del", "em", "s", "strong", *_BLOCKS, *_TABLES))
_SCHEMES: Final = {"http", "https", "mailto"}


@cache
def _templates() -> Environment:
    loader = PackageLoader("standfast.serve.web")
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters["visible"] = visible
    return made


def rendered(markdown: str) -> str:
    """A plan's Markdown as safe HTML."""
    html = MarkdownIt("commonmark", {"html": False, "maxNesting": 50}).enable(["table", "strikethrough"])
    return nh3.clean(
        html.render(visible(markdown)),
        tags=set(_TAGS),
        attributes={"a": {"href"}, "ol": {"start"}},
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )


def overview(sessions: Sequence[Mapping[str, Any]], plans: Sequence[Mapping[str, Any]], now: int) -> str:
    """Pending plans first, then every session with its newest plan."""
    newest: dict[str, Mapping[str, Any]] = {}
    for plan in plans:
        newest.setdefault(plan["session"], plan)
    pending = [plan for plan in plans if plan["status"] == "pending"]
    return _templates().get_template("overview.html").render(sessions=sessions, newest=newest, pending=pending, now=now)


def card(plan: Mapping[str, Any], tasks: Sequence[Mapping[str, Any]], now: int) -> str:
    """A plan's card: before the verdict what it would mean, afterwards how far it is."""
    template = _templates().get_template("plan.html")
    chosen = "ask" if plan["attended"] else "client"
    return template.render(
        plan=plan, tasks=tasks, html=rendered(plan["markdown"]), modes=PERMISSION_MODES, chosen=chosen, now=now
    )
