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
from standfast.serve.web import words

PERMISSION_MODES: Final = {
    "ask": "ask before edits and commands",
    "accept_edits": "edits pass, commands are asked",
    "auto": "everything passes",
    "client": "as the client is set",
}
WAITS: Final = ("verdict", "outcome", "confirmation", "reoffer")
"""What a session can wait for a person for, the most urgent first."""
_BLOCKS: Final = ("blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "ul")
_TABLES: Final = ("table", "tbody", "td", "th", "thead", "tr")
_TAGS: Final = frozenset(("a", "br", "code", "del", "em", "s", "strong", *_BLOCKS, *_TABLES))
_SCHEMES: Final = {"http", "https", "mailto"}


@cache
def _templates() -> Environment:
    made = Environment(
        loader=PackageLoader("standfast.serve.web"),
        autoescape=True,
        auto_reload=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "visible": visible,
        "who": words.who,
        "why": words.why,
        "project": words.project_name,
        "instant": words.instant,
        "size": words.size,
    }
    return made


def drawn(template: str, **values: Any) -> str:
    """A template with its values."""
    return _templates().get_template(f"{template}.html").render(**values)


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


def overview(seen: Mapping[str, Any]) -> str:
    """What waits first, then every session by project and checkout."""
    sessions = sorted(seen["sessions"], key=lambda each: (each["status"] == "closed", -each["activity"]["since"]))
    waits = [(wait, session) for session in sessions for wait in session["waits"] if session["status"] == "open"]
    waits.sort(key=lambda item: (WAITS.index(item[0]["for"]), item[0].get("expires_at", item[0]["since"])))
    groups: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for session in sessions:
        project = seen["projects"].get(session["project"], "")
        groups.setdefault(project, {}).setdefault(session["checkout"] or "", []).append(session)
    names = {session["session"]: seen["projects"].get(session["project"], "") for session in sessions}
    return drawn("overview", waits=waits, groups=groups, names=names, now=seen["now"], count=len(sessions))


def card(plan: Mapping[str, Any], states: Mapping[str, Mapping[str, Any]], ticks: Sequence[Mapping[str, Any]]) -> str:
    """A plan's card: before the verdict what it would mean, afterwards how far it is.

    `states` maps a task's id to its listing on the selected branch, `ticks` are its record, oldest first.
    """
    newest = {tick["task"]: tick for tick in ticks}
    return drawn(
        "plan",
        plan=plan,
        states=states,
        newest=newest,
        ticks=ticks,
        modes=PERMISSION_MODES,
        chosen="ask" if plan["attended"] else "client",
        promises=words.promises(plan["enforced"]),
    )


def text(plan: Mapping[str, Any]) -> str:
    """A plan's text, rendered and exact."""
    return drawn("text", plan=plan, html=rendered(plan["markdown"]))


def timeline(events: Sequence[Mapping[str, Any]], plans: Sequence[Mapping[str, Any]], **values: Any) -> str:
    """The journal as sentences, newest first."""
    numbers = {plan["plan"]: plan["number"] for plan in plans}
    told = [(event, words.happened(event, numbers)) for event in events]
    return drawn("timeline", events=told, kinds=words.KINDS, **values)
