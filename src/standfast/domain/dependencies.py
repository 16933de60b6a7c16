"""Which tasks a task waits for: the names in `After:`, resolved to positions, without cycles.

A name is a position (digits) or a title, resolved by the same rule as a tick. What names nothing, or more than
one task, or takes part in a cycle is a warning and binds nothing: a plan must never wait for itself.

The order that a plan has anyway counts when cycles are looked for. A parent comes after its children, and
under a strict order each task after the one before it; an `After:` against that could never be satisfied.

Not here: whether a dependency is satisfied; that is a matter of ticks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from standfast.domain.metadata import Name
from standfast.domain.text import escape_title

NAMES: Final = 10_000
"""Names in all `After:` of one plan."""


class Problem(msgspec.Struct, frozen=True):
    """A dependency that binds nothing. `code` is a warning's; `line` is 1-based."""

    code: str
    message: str
    line: int


class Edge(msgspec.Struct, frozen=True):
    """`task` waits for `before`; both are positions."""

    task: int
    before: int
    line: int


def resolve_names(
    task: int, names: Sequence[Name], count: int, lookup: Callable[[str], tuple[tuple[int, ...], bool]]
) -> tuple[tuple[Edge, ...], tuple[Problem, ...]]:
    """The edges of one task. `lookup` gives a title's open positions and whether a checked item has it."""
    edges: dict[int, Edge] = {}
    problems = []
    for name in names:
        found, done = _position(name.text, count) if name.text.isdecimal() else lookup(name.text)
        shown = f'After: "{escape_title(name.text, 80)}"'
        if len(found) == 1:
            edges.setdefault(found[0], Edge(task, found[0], name.line))
        elif found:
            where = ", ".join(map(str, found[:5]))
            message = f"{shown} names {len(found)} tasks ({where}) and binds nothing: name a position"
            problems.append(Problem("ambiguous_dependency", message, name.line))
        elif not done:
            problems.append(Problem("unknown_dependency", f"{shown} names no task and binds nothing", name.line))
    return tuple(edges.values()), tuple(problems)


def without_cycles(
    edges: Sequence[Edge], parents: Mapping[int, int], count: int, strict: bool
) -> tuple[tuple[Edge, ...], tuple[Problem, ...]]:
    """The edges that can be satisfied, and a warning for each of the others. `parents` maps child to parent."""
    waits: dict[int, list[int]] = {position: [] for position in range(1, count + 1)}
    for edge in edges:
        waits[edge.task].append(edge.before)
    for child, parent in parents.items():
        waits[parent].append(child)
    for position in range(2, count + 1) if strict else ():
        waits[position].append(position - 1)
    component = _components(waits)
    kept = tuple(edge for edge in edges if component[edge.task] != component[edge.before])
    dropped = [edge for edge in edges if component[edge.task] == component[edge.before]]
    return kept, tuple(
        Problem(
            "dependency_cycle",
            f"task {edge.task} After: task {edge.before} closes a cycle and binds nothing",
            edge.line,
        )
        for edge in dropped
    )


def _position(text: str, count: int) -> tuple[tuple[int, ...], bool]:
    digits = text.lstrip("0")
    found = int(digits) if 0 < len(digits) <= len(str(count)) else 0
    return ((found,) if 1 <= found <= count else ()), False


def _components(waits: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """Each node's strongly connected component (Kosaraju, without recursion): two nodes share one exactly
    when each can be reached from the other."""
    back: dict[int, list[int]] = {node: [] for node in waits}
    for node, targets in waits.items():
        for target in targets:
            back[target].append(node)
    component: dict[int, int] = {}
    for root in reversed(_finished(waits)):
        if root in component:
            continue
        pending = [root]
        component[root] = root
        while pending:
            for target in back[pending.pop()]:
                if target not in component:
                    component[target] = root
                    pending.append(target)
    return component


def _finished(waits: Mapping[int, Sequence[int]]) -> list[int]:
    """The nodes in the order in which a depth-first walk leaves them."""
    order: list[int] = []
    seen: set[int] = set()
    for root in waits:
        if root in seen:
            continue
        seen.add(root)
        walk = [(root, iter(waits[root]))]
        while walk:
            node, targets = walk[-1]
            target = next((each for each in targets if each not in seen), None)
            if target is None:
                order.append(node)
                walk.pop()
            else:
                seen.add(target)
                walk.append((target, iter(waits[target])))
    return order
