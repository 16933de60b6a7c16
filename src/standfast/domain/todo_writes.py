"""Which item is which when a todo list is written anew, and what our own list refuses.

An entry goes on with the item that its id names (the model's own name for it, or `T-` and the number), else with
the first unclaimed item of the same words, so that two items with equal words stay two. Everything else is new.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from standfast.domain.errors import Refusal
from standfast.domain.text import collapse_space
from standfast.domain.todo import MAX_CONTENT, MAX_ITEMS, MAX_NAME, STATUSES, Given, Item, Place

WORDLESS: Final = "(no words)"
MAX_STATUS: Final = 40


def replaced(place: Place, given: Sequence[Given], now: int) -> tuple[Item, ...]:
    """The list that the writer says is the whole truth. Refuses what our own list does not hold."""
    _sound(given)
    for at, entry in enumerate(given):
        if not (entry.content or "").strip():
            raise _refused(at, "content", "has no content")
    return _kept(_built(place, given, now, _pairs(place, given)))


def merged(place: Place, given: Sequence[Given], now: int) -> tuple[Item, ...]:
    """The list with the given fields changed and new items at its end."""
    _sound(given)
    pairs = _pairs(place, given)
    for at, (entry, item) in enumerate(zip(given, pairs, strict=True)):
        if item is None and not (entry.content or "").strip():
            if entry.id is None:
                raise _refused(at, "content", "has no content")
            raise Refusal("todo_unknown", f"todos[{at}]: no item {entry.id!r} in this list; send its content.", at=at)
    written = _built(place, given, now, pairs, whole=False)
    continued = {old.number: item for item, old in zip(written, pairs, strict=True) if old is not None}
    numbers = {old: item.number for old, item in continued.items()}
    kept = [continued.get(item.number) or _renumbered(item, numbers) for item in place.base]
    return _kept((*kept, *(item for item, old in zip(written, pairs, strict=True) if old is None)))


def foreign(place: Place, given: Sequence[Given], now: int) -> tuple[Item, ...]:
    """A list from another tool, kept as it is within our bounds; at most `MAX_ITEMS` items."""
    tame = [
        Given(
            id=None if entry.id is None else entry.id[:MAX_NAME],
            content=(entry.content or "").strip()[:MAX_CONTENT] or WORDLESS,
            state=(entry.state or "pending")[:MAX_STATUS],
            active_form=(entry.active_form or "")[:MAX_CONTENT],
            parent=entry.parent,
            depends_on=entry.depends_on,
        )
        for entry in given[:MAX_ITEMS]
    ]
    return _built(place, tame, now, _pairs(place, tame), strict=False)


def _sound(given: Sequence[Given]) -> None:
    """Refuses sizes, words and names that no own list holds, with the item's position."""
    if len(given) > MAX_ITEMS:
        raise Refusal("limit", f"A list has at most {MAX_ITEMS} items, not {len(given)}.", limit=MAX_ITEMS)
    seen: dict[str, int] = {}
    for at, entry in enumerate(given):
        if entry.state is not None and entry.state not in STATUSES:
            raise _refused(at, "status", f"is none of {', '.join(STATUSES)}")
        for field in ("content", "active_form", "evidence"):
            if len(getattr(entry, field) or "") > MAX_CONTENT:
                raise Refusal("limit", f"todos[{at}].{field} has more than {MAX_CONTENT} characters.", at=at)
        if entry.id is None:
            continue
        if not 0 < len(entry.id.strip()) <= MAX_NAME or not entry.id.isprintable():
            raise _refused(at, "id", f"has 1 to {MAX_NAME} printable characters")
        if entry.id in seen:
            raise _refused(at, "id", f"is {entry.id!r}, as that of todos[{seen[entry.id]}]")
        seen[entry.id] = at


def _refused(at: int, field: str, says: str) -> Refusal:
    return Refusal("invalid", f"todos[{at}].{field} {says}.", field=f"todos[{at}].{field}", at=at)


def _pairs(place: Place, given: Sequence[Given]) -> list[Item | None]:
    """For each entry the item that it goes on with, or None for a new one."""
    free = {item.number: item for item in place.base}
    found: list[Item | None] = [None] * len(given)

    def claim(at: int, fits: Callable[[Item], bool]) -> None:
        item = next((item for item in free.values() if fits(item)), None)
        if item is not None:
            found[at] = free.pop(item.number)

    for at, entry in enumerate(given):
        if entry.id is not None:
            claim(at, lambda item, name=entry.id: item.name == name)  # type: ignore[misc]
    for at, entry in enumerate(given):
        if found[at] is None and entry.id is not None:
            claim(at, lambda item, name=entry.id: f"T-{item.number}" == name)  # type: ignore[misc]
    for at, entry in enumerate(given):
        if found[at] is None and entry.content is not None:
            words, ends = collapse_space(entry.content), not _opens(entry)
            claim(at, lambda item, w=words, e=ends: collapse_space(item.content) == w and (e or item.open))  # type: ignore[misc]
    return found


def _opens(entry: Given) -> bool:
    return Item(0, "", entry.state or "pending").open


def _built(
    place: Place,
    given: Sequence[Given],
    now: int,
    pairs: Sequence[Item | None],
    *,
    whole: bool = True,
    strict: bool = True,
) -> tuple[Item, ...]:
    """The entries as items: numbered, and with their links resolved among them and, in a merge, the others."""
    taken = {item.id for item in place.base} | {entry.id for entry in given if entry.id is not None}
    number = place.highest
    items: list[Item] = []
    for entry, old in zip(given, pairs, strict=True):
        again = old is not None and not old.open and _opens(entry) and (whole or entry.state is not None)
        if old is None or again:
            number += 1
            while f"T-{number}" in taken:
                number += 1
            items.append(_fresh(entry, old, number, now))
        else:
            items.append(_went_on(entry, old, now, whole=whole))
    others = () if whole else tuple(item for item in place.base if item not in pairs)
    known = {item.id: item.number for item in (*others, *items)}
    known |= {f"T-{item.number}": item.number for item in (*others, *items)}
    return tuple(
        _linked(item, entry, known, at, strict=strict)
        for at, (item, entry) in enumerate(zip(items, given, strict=True))
    )


def _fresh(entry: Given, old: Item | None, number: int, now: int) -> Item:
    """A new item; one that comes back after it ended is new and keeps the words that were not given."""
    content = (entry.content or "").strip() or (old.content if old is not None else "")
    name = entry.id if entry.id is not None and not (old is not None and entry.id == f"T-{old.number}") else ""
    return Item(
        number=number,
        content=content,
        state=entry.state or "pending",
        name=name or (old.name if old is not None else ""),
        active_form=entry.active_form or "",
        evidence=entry.evidence or "",
        updated_at=now,
    )


def _went_on(entry: Given, old: Item, now: int, *, whole: bool) -> Item:
    """The same item with what was given; in a whole list what is not given is empty, but for its proof."""
    after = replace(
        old,
        content=(entry.content or "").strip() or old.content,
        state=entry.state or ("pending" if whole else old.state),
        name=old.name if entry.id in (None, f"T-{old.number}") else entry.id,
        active_form=(entry.active_form or "") if whole or entry.active_form is not None else old.active_form,
        parent=None if whole else old.parent,
        depends_on=() if whole else old.depends_on,
        evidence=old.evidence if entry.evidence is None else entry.evidence,
    )
    same = (after.content, after.state, after.evidence) == (old.content, old.state, old.evidence)
    return after if same else replace(after, updated_at=now)


def _linked(item: Item, entry: Given, known: Mapping[str, int], at: int, *, strict: bool) -> Item:
    parent, depends_on = item.parent, item.depends_on
    if entry.parent is not None:
        parent = _number(entry.parent, item, known, at, "parent", strict=strict)
    if entry.depends_on is not None:
        found = [_number(name, item, known, at, "depends_on", strict=strict) for name in entry.depends_on]
        depends_on = tuple(number for number in found if number is not None)
    return replace(item, parent=parent, depends_on=depends_on)


def _number(name: str, item: Item, known: Mapping[str, int], at: int, field: str, *, strict: bool) -> int | None:
    number = known.get(name)
    if number is not None and number != item.number:
        return number
    if strict:
        raise _refused(at, field, f"names {name!r}, which is no other item of this list")
    return None


def _renumbered(item: Item, numbers: Mapping[int, int]) -> Item:
    """Links that follow an item which came back under a new number."""
    parent = None if item.parent is None else numbers.get(item.parent, item.parent)
    return replace(item, parent=parent, depends_on=tuple(numbers.get(n, n) for n in item.depends_on))


def _kept(items: tuple[Item, ...]) -> tuple[Item, ...]:
    """The list, if it is one that we keep: not too long, no circle of parents, one thing in progress."""
    if len(items) > MAX_ITEMS:
        raise Refusal("limit", f"A list has at most {MAX_ITEMS} items, not {len(items)}.", limit=MAX_ITEMS)
    parents = {item.number: item.parent for item in items}
    for item in items:
        if item.number in _ancestors(item, parents):
            raise Refusal("invalid", f"{item.id} is its own ancestor.", field="todos.parent")
    running = {item.number: item for item in items if item.state == "in_progress"}
    focus = [item for item in running.values() if not any(above in running for above in _ancestors(item, parents))]
    if len(focus) > 1:
        first, second = focus[:2]
        raise Refusal(
            "todo_multiple_in_progress",
            f"{first.id} and {second.id} are both in_progress; one at a time: leave the other pending.",
            items=[item.id for item in focus],
        )
    return items


def _ancestors(item: Item, parents: Mapping[int, int | None]) -> list[int]:
    """The numbers above an item; itself too where its parents make a circle."""
    line: list[int] = []
    above = item.parent
    while above is not None and above not in line:
        line.append(above)
        above = parents.get(above)
    return line
