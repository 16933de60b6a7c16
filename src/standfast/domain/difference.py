"""What changed between two plans' texts: lines as a reader of patches knows them, words marked inside them.

Lines are matched first; where a run of lines was replaced, its lines are paired in order and compared word by
word, so that one changed number in a long step is seen as one changed number. Everything is bounded, since a
model wrote both texts: what is too long to compare is said to be so, and what is cut is counted.

Not here: which plan is compared with which (`host.comparing`), colours and HTML.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final, Literal

import msgspec

LINES: Final = 5_000
"""Lines of each text; longer ones are not compared."""
SHOWN: Final = 2_000
"""Lines of a difference, context included."""
CONTEXT: Final = 3
WORDS: Final = 400
"""Words and signs of a line up to which it is compared word by word."""
LINE_LIMIT: Final = 2_000
"""Characters of a line that are shown."""
ALIKE: Final = 0.4
"""How much of two lines must be equal for them to be the same line, changed."""

Kind = Literal["same", "removed", "added"]
_WORD: Final = re.compile(r"\w+|\s+|[^\w\s]")
Block = tuple[str, int, int, int, int]


class Piece(msgspec.Struct, frozen=True):
    """A part of a line; `changed` where the other text's line differs there."""

    text: str
    changed: bool


class Line(msgspec.Struct, frozen=True):
    """One line of either text. `before` and `after` are its numbers from 1, None where the text has it not."""

    kind: Kind
    before: int | None
    after: int | None
    pieces: tuple[Piece, ...]


class Difference(msgspec.Struct, frozen=True):
    """`hunks` are runs of changed lines with their context; `cut` counts the lines that are left out.

    `too_long` says that the texts were not compared at all.
    """

    added: int = 0
    removed: int = 0
    hunks: tuple[tuple[Line, ...], ...] = ()
    cut: int = 0
    too_long: bool = False


def compare(before: str, after: str) -> Difference:
    """The difference from one text to another. Equal texts have no hunks."""
    old, new = before.split("\n"), after.split("\n")
    if max(len(old), len(new)) > LINES:
        return Difference(too_long=True)
    blocks = _blocks(old, new)
    added = sum(block[4] - block[3] for block in blocks if block[0] != "equal")
    removed = sum(block[2] - block[1] for block in blocks if block[0] != "equal")
    hunks = [tuple(_lines(old, new, group)) for group in _grouped(blocks)]
    kept: list[tuple[Line, ...]] = []
    room = SHOWN
    for hunk in hunks:
        if room <= 0:
            break
        kept.append(hunk[:room])
        room -= len(hunk)
    cut = sum(map(len, hunks)) - sum(map(len, kept))
    return Difference(added, removed, tuple(kept), cut)


def _blocks(old: Sequence[str], new: Sequence[str]) -> list[Block]:
    """Equal and changed runs of lines. What is equal at both ends is set aside: it is most of a revision."""
    shortest = min(len(old), len(new))
    head = next((n for n in range(shortest) if old[n] != new[n]), shortest)
    tail = next((n for n in range(shortest - head) if old[-1 - n] != new[-1 - n]), shortest - head)
    middle = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail]).get_opcodes()
    blocks: list[Block] = [("equal", 0, head, 0, head)] if head else []
    blocks += [(tag, a + head, b + head, c + head, d + head) for tag, a, b, c, d in middle]
    if tail:
        blocks.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return blocks


def _grouped(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Changed blocks with at most `CONTEXT` equal lines around them; far ones apart."""
    group: list[Block] = []
    for block in blocks:
        tag, a, b, c, d = block
        if tag != "equal":
            group.append(block)
            continue
        if any(each[0] != "equal" for each in group):
            if b - a <= 2 * CONTEXT:
                group.append(block)
                continue
            group.append((tag, a, a + CONTEXT, c, c + CONTEXT))
            yield group
        first = max(a, b - CONTEXT)
        group = [(tag, first, b, d - (b - first), d)]
    if any(each[0] != "equal" for each in group):
        tag, a, b, c, d = group[-1]
        if tag == "equal":
            group[-1] = (tag, a, min(b, a + CONTEXT), c, min(d, c + CONTEXT))
        yield group


def _lines(old: Sequence[str], new: Sequence[str], group: Sequence[Block]) -> Iterator[Line]:
    for tag, a, b, c, d in group:
        if tag == "equal":
            for n in range(b - a):
                yield Line("same", a + n + 1, c + n + 1, (Piece(_shown(old[a + n]), False),))
            continue
        height = max(b - a, d - c)
        left, right = ([*lines, *[None] * (height - len(lines))] for lines in (old[a:b], new[c:d]))
        pairs = [_words(one, other) for one, other in zip(left, right, strict=True)]
        yield from (Line("removed", a + n + 1, None, pairs[n][0]) for n in range(b - a))
        yield from (Line("added", None, c + n + 1, pairs[n][1]) for n in range(d - c))


def _words(left: str | None, right: str | None) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Both lines in pieces; a line without a partner, or one that is another line, is one changed piece."""
    whole = ((Piece(_shown(left or ""), True),), (Piece(_shown(right or ""), True),))
    if left is None or right is None:
        return whole
    old, new = _WORD.findall(left[:LINE_LIMIT]), _WORD.findall(right[:LINE_LIMIT])
    if max(len(old), len(new)) > WORDS:
        return whole
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < ALIKE:
        return whole
    blocks = matcher.get_opcodes()
    before = [Piece("".join(old[a:b]), tag != "equal") for tag, a, b, _, _ in blocks if b > a]
    after = [Piece("".join(new[c:d]), tag != "equal") for tag, _, _, c, d in blocks if d > c]
    return tuple(before), tuple(after)


def _shown(line: str) -> str:
    return line if len(line) <= LINE_LIMIT else line[: LINE_LIMIT - 1] + "…"
