"""The checklist of a plan: which parts of its Markdown are tasks, and which task a title names.

Parsed once, at submission, from the exact text; the text is never rewritten. Tasks are task-list items outside
code and quotes. A document that has some under a heading such as `Steps` means only those; one that has no
box at all can still number its steps. Whatever looks like a task and is none is said in a warning, because a
person approves what they believe to be the list.

Positions count tasks only, from 1, children before their parent: what is done first comes first. A task is
named by its position or by its whole title (`resolve_title`). Nothing is matched by likeness.

Not here: states and ticks, plan numbers (`P-3.4` is a plan's number and a position), the page.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from standfast.domain.dependencies import NAMES, Edge, resolve_names, without_cycles
from standfast.domain.markdown import Reader, TooLarge
from standfast.domain.metadata import Effect, Gate
from standfast.domain.outline import read_outline
from standfast.domain.selection import DEFAULT_HEADINGS, Draft, Form, Selection, select
from standfast.domain.text import collapse_space, display, escape_title, normalise_title, print_title
from standfast.domain.warnings import ChecklistWarning, Warnings

if TYPE_CHECKING:
    from standfast.domain.metadata import Metadata

TASKS: Final = 1_000
"""Tasks of one plan."""


class PlanTask(msgspec.Struct, frozen=True, omit_defaults=True):
    """One task; specification only.

    `position` counts from 1; `key` is the SHA-256 (hex) of the normalised title, a NUL byte and the ordinal
    (from 1) among equal titles, which survives a resubmission. `title` is the inline Markdown as written,
    `normalised` its text. `parent` and `after` are positions. `line` is 1-based. `printed` is the text as
    markers print it, whole, None where that is `normalised`; `display` is it as a page shows it, None where
    that is the same again or cut short, since a cut title names nothing. Titles make up most of a stored
    checklist, so none is kept twice.
    """

    position: int
    key: str
    title: str
    normalised: str
    parent: int | None
    after: tuple[int, ...]
    verify: str | None
    gate: Gate | None
    effect: Effect
    meta: tuple[tuple[str, str], ...]
    line: int
    printed: str | None = None
    display: str | None = None


class Checklist(msgspec.Struct, frozen=True):
    """A plan's tasks in order. `form` says what they were read from; `section` is the heading that held them,
    None for the whole document. `already_checked` counts the items that are no tasks for being `[x]`."""

    form: Form
    section: str | None
    strict_order: bool
    already_checked: int
    tasks: tuple[PlanTask, ...]
    warnings: tuple[ChecklistWarning, ...]


class Resolution(msgspec.Struct, frozen=True):
    """All tasks that a title names, in order. Exactly one is a hit; the caller refuses none and several."""

    matches: tuple[PlanTask, ...]

    @property
    def outcome(self) -> Literal["one", "none", "several"]:
        return "none" if not self.matches else "one" if len(self.matches) == 1 else "several"


def parse_checklist(markdown: str, headings: tuple[str, ...] = DEFAULT_HEADINGS) -> Checklist:
    """The checklist of a plan's exact text; `headings` are the words that make a section one of tasks.

    A plan without tasks is a plan, with a warning. Raises `TooLarge` beyond 1,000 tasks, 10,000 names in
    `After:`, or the limits of `markdown`; any other text has a checklist.
    """
    reader = Reader(markdown)
    outline = read_outline(reader)
    selection = select(reader, outline, headings)
    warnings = Warnings(selection.warnings)
    drafts = [draft for draft in selection.drafts if not draft.checked]
    if len(drafts) > TASKS:
        raise TooLarge("tasks", TASKS)
    for draft in drafts:
        warnings.extend("invalid_metadata", draft.metadata.problems)
    after = _dependencies(selection, drafts, warnings)
    _warn_of_titles(drafts, warnings)
    checked = len(selection.drafts) - len(drafts)
    if not drafts:
        boxes = f"all {checked} boxes are checked already" if checked else "it has neither boxes nor steps"
        warnings.add("no_tasks", f"The plan has no tasks: {boxes}.", selection.line)
    return Checklist(
        form=selection.form if drafts else "none",
        section=selection.section,
        strict_order=selection.strict_order,
        already_checked=checked,
        tasks=tuple(_tasks(selection, drafts, after)),
        warnings=warnings.all(),
    )


def resolve_title(checklist: Checklist, text: str) -> Resolution:
    """The tasks whose title is `text`: as written up to white space, as its plain text, or as it was printed
    whole. Case counts; parts of a title and cut titles name nothing."""
    spaced = collapse_space(text)
    if not spaced:
        return Resolution(())
    normalised = normalise_title(text)
    return Resolution(
        tuple(
            task
            for task in checklist.tasks
            if task.normalised == normalised
            or (task.normalised if task.printed is None else task.printed) == spaced
            or task.display == spaced
            or collapse_space(task.title) == spaced
        )
    )


def carries_over(old: Checklist, old_task: PlanTask, new: Checklist, new_task: PlanTask) -> bool:
    """Whether the two are one task in two plans: equal key and equal metadata. What a task waits for is
    compared by the keys of those tasks, since positions move."""

    def specification(checklist: Checklist, task: PlanTask) -> tuple[object, ...]:
        before = frozenset(checklist.tasks[position - 1].key for position in task.after)
        return (task.key, task.verify, task.gate, task.effect, frozenset(task.meta), before)

    return specification(old, old_task) == specification(new, new_task)


def _tasks(selection: Selection, drafts: Sequence[Draft], after: dict[int, tuple[int, ...]]) -> Iterator[PlanTask]:
    positions = {draft.id: position for position, draft in enumerate(drafts, 1)}
    keys = _keys(selection.drafts)
    for position, draft in enumerate(drafts, 1):
        shown, printed = display(draft.text), print_title(draft.text, None).text
        metadata: Metadata = draft.metadata
        yield PlanTask(
            position=position,
            key=keys[draft.id],
            title=draft.source,
            normalised=draft.text,
            parent=None if draft.parent is None else positions[draft.parent],
            after=after.get(position, ()),
            verify=metadata.verify,
            gate=metadata.gate,
            effect=metadata.effect,
            meta=metadata.free,
            line=draft.line,
            printed=None if printed == draft.text else printed,
            display=None if shown.cut or shown.text == printed else shown.text,
        )


def _keys(drafts: Sequence[Draft]) -> dict[int, str]:
    """Each draft's key, checked ones counted in the ordinals."""
    import hashlib

    ordinals: dict[str, int] = {}
    keys = {}
    for draft in drafts:
        ordinal = ordinals[draft.text] = ordinals.get(draft.text, 0) + 1
        material = f"{draft.text}\0{ordinal}".encode("utf-8", "surrogatepass")
        keys[draft.id] = hashlib.sha256(material).hexdigest()
    return keys


def _dependencies(selection: Selection, drafts: Sequence[Draft], warnings: Warnings) -> dict[int, tuple[int, ...]]:
    """The positions that each position waits for; what cannot bind becomes a warning."""
    if sum(len(draft.metadata.after) for draft in drafts) > NAMES:
        raise TooLarge("names in After:", NAMES)
    positions = {draft.id: position for position, draft in enumerate(drafts, 1)}
    parents = {positions[draft.id]: positions[draft.parent] for draft in drafts if draft.parent is not None}
    lookup = _lookup(selection.drafts, positions)
    edges: list[Edge] = []
    for position, draft in enumerate(drafts, 1):
        found, problems = resolve_names(position, draft.metadata.after, len(drafts), lookup)
        edges.extend(found)
        warnings.extend_coded(problems)
    kept, problems = without_cycles(edges, parents, len(drafts), selection.strict_order)
    warnings.extend_coded(problems)
    after: dict[int, tuple[int, ...]] = {}
    for edge in kept:
        after[edge.task] = (*after.get(edge.task, ()), edge.before)
    return after


def _lookup(drafts: Sequence[Draft], positions: dict[int, int]) -> Callable[[str], tuple[tuple[int, ...], bool]]:
    """Title resolution as in `resolve_title`, over an index, since a plan can have thousands of names."""
    index: dict[str, dict[int, None]] = {}
    normalised: dict[str, dict[int, None]] = {}
    for draft in drafts:
        shown = display(draft.text)
        forms = {collapse_space(draft.source), print_title(draft.text, None).text}
        for form in forms if shown.cut else forms | {shown.text}:
            index.setdefault(form, {})[draft.id] = None
        normalised.setdefault(draft.text, {})[draft.id] = None

    def lookup(text: str) -> tuple[tuple[int, ...], bool]:
        found = index.get(collapse_space(text), {}) | normalised.get(normalise_title(text), {})
        hits = tuple(sorted(positions[draft] for draft in found if draft in positions))
        return hits, len(hits) < len(found)

    return lookup


def _warn_of_titles(drafts: Sequence[Draft], warnings: Warnings) -> None:
    """One warning for each title that several tasks have: a tick of it needs the id."""
    same: dict[str, list[int]] = {}
    for position, draft in enumerate(drafts, 1):
        same.setdefault(draft.text, []).append(position)
    for text, positions in same.items():
        if len(positions) > 1:
            where = ", ".join(map(str, positions[:5]))
            message = f'{len(positions)} tasks are titled "{escape_title(text, 80)}" ({where}): tick by id.'
            warnings.add("duplicate_title", message, drafts[positions[1] - 1].line)
