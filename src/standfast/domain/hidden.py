"""What a plan holds that a person who reads the rendered text does not see, and what a host would run of it.

A person approves the rendered text; a model executes the bytes. So HTML comments, invisible and bidi
characters, links whose target is not their text, and every command that a verifier would run are listed on
the approval card. The list is bounded; what is left out is counted.

Not here: refusing anything. A plan with hidden content can be approved by somebody who has seen the list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from standfast.domain.checklist import Checklist
from standfast.domain.text import BIDI, is_hidden, visible

if TYPE_CHECKING:
    from markdown_it.token import Token

LIMIT: Final = 200
SHOWN: Final = 200
Kind = Literal["html_comment", "invisible_character", "bidi_character", "link_target", "command", "more"]

_COMMENT: Final = re.compile(r"<!--(.*?)(?:-->|\Z)", re.DOTALL)
_LAYOUT: Final = frozenset("\n\r\t")


class HiddenContent(msgspec.Struct, frozen=True):
    """One finding. `line` is 1-based; `text` is what is hidden, made visible, at most 200 characters."""

    kind: Kind
    line: int
    text: str


def find_hidden(markdown: str, checklist: Checklist) -> tuple[HiddenContent, ...]:
    """All findings of a plan in the order of its lines, at most `LIMIT`; one of kind `more` counts the rest."""
    found = [*_comments(markdown), *_characters(markdown), *_links(markdown)]
    found += [
        HiddenContent("command", task.line, _shown(task.verify)) for task in checklist.tasks if task.verify is not None
    ]
    found.sort(key=lambda item: (item.line, item.kind))
    rest = len(found) - LIMIT
    if rest <= 0:
        return tuple(found)
    return (*found[:LIMIT], HiddenContent("more", found[LIMIT].line, f"and {rest} more"))


def _shown(text: str) -> str:
    shown = visible(" ".join(text.split()), lines=False)
    return shown if len(shown) <= SHOWN else shown[: SHOWN - 1] + "…"


def _comments(markdown: str) -> Iterator[HiddenContent]:
    for match in _COMMENT.finditer(markdown):
        line = markdown.count("\n", 0, match.start()) + 1
        yield HiddenContent("html_comment", line, _shown(match.group(1)))


def _characters(markdown: str) -> Iterator[HiddenContent]:
    """One finding per line and kind: a line full of them is one thing to look at."""
    if markdown.isascii() and markdown.replace("\n", "").replace("\r", "").replace("\t", "").isprintable():
        return
    for number, line in enumerate(markdown.removeprefix("\ufeff").split("\n"), start=1):
        hidden = [char for at, char in enumerate(line) if char not in _LAYOUT and is_hidden(line, at)]
        if any(char in BIDI for char in hidden):
            yield HiddenContent("bidi_character", number, _shown(line))
        if any(char not in BIDI for char in hidden):
            yield HiddenContent("invisible_character", number, _shown(line))


def _links(markdown: str) -> Iterator[HiddenContent]:
    if "](" not in markdown and "]:" not in markdown and "][" not in markdown:
        return
    # Imported here: the parser costs more to load than the rest of the domain.
    from markdown_it import MarkdownIt

    for block in MarkdownIt("commonmark", {"maxNesting": 20}).parse(markdown):
        if block.type == "inline" and block.map is not None:
            yield from _targets(block.children or [], block.map[0] + 1)


def _targets(tokens: list[Token], line: int) -> Iterator[HiddenContent]:
    target: str | None = None
    text = ""
    for token in tokens:
        if token.type == "link_open":
            target, text = str(token.attrs.get("href", "")), ""
        elif token.type == "link_close" and target is not None:
            if target != text:
                yield HiddenContent("link_target", line, _shown(f"{text} → {target}"))
            target = None
        elif target is not None:
            text += token.content
