"""The shape of a plan: its headings, list items and paragraphs, in the order of the document.

Only what decides about tasks is kept. A box is read from the tokens, not by a plugin: the list plugin rewrites
the text into HTML, forgets the line, and takes `[x]` for a link where the document defines one. Here a box is
what GitHub's rule says: `[ ]` or `[x]`, then white space, at the start of an item's first paragraph.

Headings count at the top level only: one in a quote or in a list item opens no section. `quoted` is true
anywhere below a block quote.

Not here: which of the items are tasks (`checklist`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from standfast.domain.markdown import Reader

if TYPE_CHECKING:
    from markdown_it.token import Token

_BOX: Final = re.compile(r"\[([ \txX])\](?:\s+|$)")
_BOX_LINE: Final = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ \txX]\](?:\s|$)")
_LOOSE_BOX: Final = re.compile(r"(?:^|.*\|)[ \t]*(?:[-*+][ \t]+)?\[[ \txX]\](?=[\s|]|$)")
_NEAR_BOX: Final = re.compile(r"\[(?:[ \txX]\](?=[^\s(\[:])|(?:[ \t]{2,}|[-~/>!]?)\](?![(\[:]))")


class Heading(msgspec.Struct, frozen=True):
    """A top-level heading. `text` is normalised; `source` is its inline Markdown; `line` is 1-based."""

    level: int
    text: str
    source: str
    line: int


class Item(msgspec.Struct, frozen=True):
    """A list item. `source` is its first paragraph without the box; empty where it starts with no paragraph.

    `box` is `open`, `checked`, `near` (looks like a box and is none) or None; `parent` the index of the item
    around it; `depth` 0 for an item in no other; `group` numbers the lists; `heading` is the index of the
    last top-level heading before it, -1 before the first.
    """

    source: str
    box: str | None
    line: int
    parent: int | None
    depth: int
    group: int
    ordered: bool
    top: bool
    quoted: bool
    heading: int


class Paragraph(msgspec.Struct, frozen=True):
    """A paragraph's inline Markdown. `top` where it is in no container."""

    source: str
    line: int
    top: bool
    heading: int


class Outline(msgspec.Struct, frozen=True):
    """All of it, in document order. `coded` are lines of boxes in code or HTML, `loose` of boxes in no item."""

    headings: tuple[Heading, ...]
    items: tuple[Item, ...]
    paragraphs: tuple[Paragraph, ...]
    coded: tuple[int, ...]
    loose: tuple[int, ...]

    def section(self, heading: int) -> range:
        """Indexes of the headings in the section that `heading` opens: itself and its subsections."""
        level = self.headings[heading].level
        end = heading + 1
        while end < len(self.headings) and self.headings[end].level > level:
            end += 1
        return range(heading, end)


def read_outline(reader: Reader) -> Outline:
    """The outline of the reader's document. Raises `TooLarge` as its inline texts do."""
    walk = _Walk(reader)
    for index in range(len(reader.tokens)):
        walk.step(index)
    return Outline(
        tuple(walk.headings), tuple(walk.items), tuple(walk.paragraphs), tuple(walk.coded), tuple(walk.loose)
    )


class _Walk:
    """One pass over the tokens; the stacks say which list, item and quote the current token is in."""

    def __init__(self, reader: Reader) -> None:
        self.headings: list[Heading] = []
        self.items: list[Item] = []
        self.paragraphs: list[Paragraph] = []
        self.coded: list[int] = []
        self.loose: list[int] = []
        self._reader = reader
        self._tokens = reader.tokens
        self._lists: list[tuple[int, bool, bool]] = []
        self._open: list[int] = []
        self._quotes = 0
        self._groups = 0

    def step(self, index: int) -> None:
        token = self._tokens[index]
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                self._lists.append((self._groups, token.type.startswith("ordered"), token.level == 0))
                self._groups += 1
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "list_item_open":
                self._item(index, token)
            case "list_item_close":
                self._open.pop()
            case "blockquote_open":
                self._quotes += 1
            case "blockquote_close":
                self._quotes -= 1
            case "heading_open":
                self._heading(token, self._tokens[index + 1].content)
            case "paragraph_open":
                self._paragraph(index, token)
            case "fence" | "code_block" | "html_block":
                self._code(token)

    def _heading(self, token: Token, source: str) -> None:
        if token.level == 0:
            text = self._reader.title(source)
            self.headings.append(Heading(int(token.tag[1:]), text, source, _line(token)))
        if not self._quotes:
            self._loose(source, _line(token))

    def _item(self, index: int, token: Token) -> None:
        group, ordered, top = self._lists[-1]
        box, source = None, ""
        if self._tokens[index + 1].type == "paragraph_open":
            box, source = _split_box(self._tokens[index + 2].content)
        parent = self._open[-1] if self._open else None
        self._open.append(len(self.items))
        self.items.append(
            Item(
                source=source,
                box=box,
                line=_line(token),
                parent=parent,
                depth=len(self._open) - 1,
                group=group,
                ordered=ordered,
                top=top,
                quoted=self._quotes > 0,
                heading=len(self.headings) - 1,
            )
        )

    def _paragraph(self, index: int, token: Token) -> None:
        source = self._tokens[index + 1].content
        if self._quotes:
            return
        self.paragraphs.append(Paragraph(source, _line(token), token.level == 0, len(self.headings) - 1))
        in_item = index > 0 and self._tokens[index - 1].type == "list_item_open"
        first, _, rest = source.partition("\n")
        if not in_item:
            self._loose(first, _line(token))
        self._loose(rest, _line(token) + 1)

    def _loose(self, source: str, line: int) -> None:
        lines = enumerate(source.split("\n"), line)
        self.loose.extend(number for number, text in lines if _LOOSE_BOX.match(text))

    def _code(self, token: Token) -> None:
        first = _line(token) + (1 if token.type == "fence" else 0)
        lines = enumerate(token.content.split("\n"), first)
        self.coded.extend(number for number, text in lines if _BOX_LINE.match(text))


def _split_box(source: str) -> tuple[str | None, str]:
    """The box of an item's first paragraph, and what follows it."""
    found = _BOX.match(source)
    if found is None:
        return ("near" if _NEAR_BOX.match(source) else None), source
    return ("checked" if found[1] in "xX" else "open"), source[found.end() :]


def _line(token: Token) -> int:
    """The 1-based line that a block starts at."""
    return token.map[0] + 1 if token.map else 1
