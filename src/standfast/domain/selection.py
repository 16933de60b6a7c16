"""Which items of a plan are its tasks, and in which order.

In this order: the boxes of the first section with a task heading that has boxes; all boxes; and only where
the whole document has no box, the one ordered list of such a section, or else numbered headings. A section is
a top-level heading with all that follows until one of its level or above.

The order is the document's, with children before their parent. `[x]` items are kept as drafts, because they
count for the ordinals of equal titles; they are no tasks.

Not here: positions, keys, dependencies (`checklist`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec

from standfast.domain.markdown import Reader
from standfast.domain.metadata import Metadata, read_metadata
from standfast.domain.outline import Item, Outline
from standfast.domain.text import collapse_space, escape_title
from standfast.domain.warnings import ChecklistWarning

DEFAULT_HEADINGS: Final = ("Tasks", "Steps", "Plan", "Checklist", "Implementation", "Section 4")
"""Heading texts that make a section the plan's list of tasks, alone or with a colon, dash or parenthesis."""

Form = Literal["boxes", "ordered_list", "headings", "none"]

_AFTER_WORD: Final = re.compile(r"\s*(?:$|[:：(（–—]|\s-)")
_STEP: Final = re.compile(r"(?:step|phase|task)\s+\d+\b(?!\.\d)|\d+(?:[.)]\s|:)", re.IGNORECASE)
_ORDER: Final = re.compile(r"[*_]{0,2}order[*_]{0,2}[ \t]*:[*_]{0,2}[ \t]*(.*)", re.IGNORECASE)
_LINES_NAMED: Final = 5


class Draft(msgspec.Struct, frozen=True):
    """A task before it has a position. `id` is its index in the document; `parent` another draft's id, one
    that is a task; `text` is normalised."""

    id: int
    source: str
    text: str
    checked: bool
    parent: int | None
    metadata: Metadata
    line: int


class Selection(msgspec.Struct, frozen=True):
    """The drafts in the order of their positions, and what they were read from."""

    form: Form
    section: str | None
    strict_order: bool
    drafts: tuple[Draft, ...]
    warnings: tuple[ChecklistWarning, ...]
    line: int


def select(reader: Reader, outline: Outline, words: Sequence[str]) -> Selection:
    """Chooses the form and scope, and reads the drafts. `words` are heading texts, compared without case."""
    boxes = [index for index, item in enumerate(outline.items) if _is_box(item)]
    named = [at for at, heading in enumerate(outline.headings) if _is_named(heading.text, words)]
    form, section, chosen = _choose(outline, boxes, named)
    strict, warnings = _order(outline, section)
    skipped = [*_skipped(outline, boxes, chosen if form == "boxes" else boxes, section)]
    drafts = _heading_drafts(reader, outline, chosen) if form == "headings" else ()
    if form in ("boxes", "ordered_list"):
        drafts = tuple(_item_drafts(reader, outline, chosen))
    return Selection(
        form=form,
        section=None if section is None else outline.headings[section].text,
        strict_order=strict,
        drafts=drafts,
        warnings=(*warnings, *skipped),
        line=1 if section is None else outline.headings[section].line,
    )


def _choose(outline: Outline, boxes: Sequence[int], named: Sequence[int]) -> tuple[Form, int | None, Sequence[int]]:
    """The form, the heading of the section (None: the document), and indexes of its items or headings."""
    for at in named:
        within = outline.section(at)
        inside = [index for index in boxes if outline.items[index].heading in within]
        if inside:
            return "boxes", at, inside
    if boxes:
        return "boxes", None, boxes
    for at in named:
        within = outline.section(at)
        listed = [
            index
            for index, item in enumerate(outline.items)
            if item.top and item.ordered and item.source and item.heading in within
        ]
        if len({outline.items[index].group for index in listed}) == 1:
            return "ordered_list", at, listed
    numbered = [at for at, heading in enumerate(outline.headings) if _STEP.match(heading.text)]
    if not numbered:
        return "none", None, ()
    highest = min(outline.headings[at].level for at in numbered)
    return "headings", None, [at for at in numbered if outline.headings[at].level == highest]


def _is_box(item: Item) -> bool:
    return item.box in ("open", "checked") and bool(item.source) and not item.quoted


def _is_named(text: str, words: Sequence[str]) -> bool:
    folded = text.casefold()
    for word in words:
        wanted = collapse_space(word).casefold()
        if folded.startswith(wanted) and _AFTER_WORD.match(folded, len(wanted)):
            return True
    return False


def _item_drafts(reader: Reader, outline: Outline, chosen: Sequence[int]) -> Iterator[Draft]:
    """Drafts of list items, children before their parent."""
    tasks = {index for index in chosen if outline.items[index].box != "checked"}
    wanted = set(chosen)
    children: dict[int, list[Item]] = {}
    for item in outline.items:
        if item.parent is not None and item.box is None and not item.quoted:
            children.setdefault(item.parent, []).append(item)
    for index in _children_first(outline.items):
        if index not in wanted:
            continue
        item = outline.items[index]
        parent = item.parent
        while parent is not None and parent not in tasks:
            parent = outline.items[parent].parent
        metadata = read_metadata(reader, children.get(index, ())) if index in tasks else Metadata()
        text = reader.title(item.source)
        yield Draft(index, item.source, text, item.box == "checked", parent, metadata, item.line)


def _heading_drafts(reader: Reader, outline: Outline, chosen: Sequence[int]) -> tuple[Draft, ...]:
    """Drafts of numbered headings; the lists of their sections are their sub-items."""
    items: dict[int, list[Item]] = {at: [] for at in chosen}
    owner = {inner: at for at in chosen for inner in outline.section(at)}
    for item in outline.items:
        if item.top and item.heading in owner:
            items[owner[item.heading]].append(item)
    headings = outline.headings
    return tuple(
        Draft(
            id=at,
            source=headings[at].source,
            text=headings[at].text,
            checked=False,
            parent=None,
            metadata=read_metadata(reader, items[at]),
            line=headings[at].line,
        )
        for at in chosen
    )


def _children_first(items: Sequence[Item]) -> Iterator[int]:
    """Indexes of all items such that an item follows all that are inside it."""
    waiting: list[int] = []
    for index, item in enumerate(items):
        while waiting and items[waiting[-1]].depth >= item.depth:
            yield waiting.pop()
        waiting.append(index)
    yield from reversed(waiting)


def _order(outline: Outline, section: int | None) -> tuple[bool, list[ChecklistWarning]]:
    """Whether the first paragraph of the section says `Order: strict`; a warning for each that does not bind."""
    within = range(-1, len(outline.headings)) if section is None else outline.section(section)
    first = next((each for each in outline.paragraphs if each.top and each.heading in within), None)
    strict, warnings = False, []
    for paragraph in outline.paragraphs:
        for offset, line in enumerate(paragraph.source.split("\n")):
            found = _ORDER.fullmatch(line.strip())
            if found is None:
                continue
            value = found[1].strip(" \t*_`.").casefold()
            if paragraph is first and value == "strict":
                strict = True
            elif paragraph is first or value == "strict":
                message = "Only `Order: strict`, in the first paragraph of the tasks' section, has an effect."
                warnings.append(ChecklistWarning("order_ignored", message, paragraph.line + offset))
    return strict, warnings


def _skipped(
    outline: Outline, boxes: Sequence[int], chosen: Sequence[int], section: int | None
) -> Iterator[ChecklistWarning]:
    """What looks like a task and is none: one warning for each reason."""
    items = outline.items
    picked = set(chosen)
    name = "" if section is None else escape_title(outline.headings[section].text, 80)
    reasons = {
        f'boxes outside the section "{name}" are no tasks': [
            items[index].line for index in boxes if index not in picked
        ],
        "boxes in quotes are no tasks": [
            item.line for item in items if item.quoted and item.box in ("open", "checked")
        ],
        "boxes in code or HTML are no tasks": outline.coded,
        "boxes without a title are no tasks": [
            item.line for item in items if item.box in ("open", "checked") and not item.source and not item.quoted
        ],
        "only `[ ]` and `[x]` followed by a space are boxes": [
            item.line for item in items if item.box == "near" and not item.quoted
        ],
        "boxes that do not start a list item are no tasks": outline.loose,
    }
    for reason, lines in reasons.items():
        if lines:
            where = ", ".join(map(str, lines[:_LINES_NAMED])) + (", ..." if len(lines) > _LINES_NAMED else "")
            message = f"{len(lines)} skipped (line {where}): {reason}."
            yield ChecklistWarning("item_skipped", message, lines[0])
