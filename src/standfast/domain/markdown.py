"""Reading Markdown within bounds: the one place that touches the Markdown parser.

The parser is markdown-it-py in its CommonMark setting: blocks first, inline text only where somebody asks for
it. A plan comes from a model and may be hostile, and a parser is where a small text can cost much work. So
work is counted, not timed: each attempt at a block and each step in inline text is one unit, and going past a
limit is `TooLarge`, a clear error. The same text costs the same units on every machine.

Two things are stricter than the parser's own behaviour. Beyond a nesting limit it drops the rest of the
document silently; here that is an error, because what a person approves must be what is there. And inline
HTML is not recognised, so it stays as text: a title shows its tags and comments instead of swallowing them.

Tables are not parsed. CommonMark has none, and no rule of checklists asks for one: to the outline a table is
a paragraph. A page that shows tables enables them for itself.

Not here: what the blocks mean (`outline`, `checklist`, `hidden`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from standfast.domain.text import plain_title

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

BLOCKS: Final = 100_000
"""Blocks (paragraphs, items, lists, quotes, ...) that are tried in one document."""

INLINE_STEPS: Final = 400_000
"""Steps of the inline parser over all texts of one document that are looked into."""

NESTING: Final = 64
"""Levels of containers. A list and its item are two, so 32 lists in each other."""

_INLINE_NESTING: Final = 20
"""Levels of brackets looked into for links; deeper ones are read as text, nothing is dropped."""


class TooLarge(ValueError):
    """The document passes a named limit; nothing of it was used."""

    def __init__(self, limit: str, most: int) -> None:
        super().__init__(f"the Markdown has more than {most} {limit}")
        self.limit = limit
        self.most = most


class Definition(msgspec.Struct, frozen=True):
    """A link definition (`[label]: target`): it is drawn as nothing. `line` is 1-based."""

    label: str
    line: int


class Reader:
    """One document, its blocks, and its inline texts on request. Holds counters, so one per document."""

    def __init__(self, markdown: str) -> None:
        """Parses the blocks. A byte order mark at the start is no content. Raises `TooLarge`."""
        # Imported here: the parser costs more to load than the rest of the domain, and most calls need none.
        from markdown_it import MarkdownIt

        self.blocks_tried = 0
        self.inline_steps = 0
        self._references: MutableMapping[str, object] = {}
        self._inline = MarkdownIt("commonmark", {"maxNesting": _INLINE_NESTING, "store_labels": True})
        self._inline.inline.ruler.disable("html_inline")
        self._inline.inline.ruler.before("text", "count", self._count_step)
        blocks = MarkdownIt("commonmark", {"maxNesting": NESTING + 2})
        blocks.core.ruler.disable(["inline", "text_join"])
        blocks.block.ruler.before(blocks.block.ruler.get_active_rules()[0], "count", self._count_block)
        self.tokens = tuple(blocks.parse(markdown.removeprefix("\ufeff"), self._references))

    def inline(self, source: str) -> tuple[Token, ...]:
        """The inline tokens of `source`, references resolved from this document."""
        tokens = self._inline.parseInline(source, self._references)
        return tuple(tokens[0].children or ()) if tokens else ()

    def text(self, source: str) -> str:
        """Inline Markdown reduced to its text; line breaks as spaces."""
        return "".join(_texts(self.inline(source)))

    def title(self, source: str) -> str:
        """Inline Markdown reduced to its text in the form that titles are compared in."""
        return plain_title(self.text(source))

    def definitions(self) -> tuple[Definition, ...]:
        """The document's link definitions, repeated ones (which have no effect) included, in order."""
        first = self._references.get("references")
        again = self._references.get("duplicate_refs")
        rows = list(first.items()) if isinstance(first, dict) else []
        rows += [(row["label"], row) for row in again] if isinstance(again, list) else []
        found = [Definition(str(label), int(row["map"][0]) + 1) for label, row in rows]
        return tuple(sorted(found, key=lambda each: each.line))

    def _count_block(self, state: StateBlock, start: int, end: int, silent: bool) -> bool:
        self.blocks_tried += 1
        if self.blocks_tried > BLOCKS:
            raise TooLarge("blocks", BLOCKS)
        if state.level > NESTING:
            raise TooLarge("levels of nesting", NESTING)
        return False

    def _count_step(self, state: StateInline, silent: bool) -> bool:
        self.inline_steps += 1
        if self.inline_steps > INLINE_STEPS:
            raise TooLarge("steps of inline markup", INLINE_STEPS)
        return False


def _texts(tokens: Sequence[Token]) -> Iterator[str]:
    for token in tokens:
        match token.type:
            case "softbreak" | "hardbreak":
                yield " "
            case "image":
                yield from _texts(token.children or [])
            case _:
                yield token.content
