"""Requirements as data, and which tests show them.

`tests/requirements.toml` says what is promised; `@pytest.mark.requirement("ID", …)` on a test says what it
shows. The marks are read from the source text, so that the answer does not depend on which tests a run
selects.

Rules: a kept requirement has a test, a planned one has none, and a mark names a requirement that exists.
Tests below `tests/behaviour` all carry a mark: behaviour that nobody asked for is not tested there.

Run as a program, this module brings the states in line with the tests (`make requirements`).
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.support.repository import TESTS, Function, dotted, functions, modules, name, tree

TABLE = TESTS / "requirements.toml"
STATES = ("kept", "planned")


@dataclass(frozen=True)
class Requirement:
    """One promise: its sentence, the section that asks for it, and whether tests show it."""

    id: str
    says: str
    source: str
    state: str


@dataclass(frozen=True)
class Mark:
    """One id in one marker; `id` is empty where the marker does not spell it out."""

    id: str
    place: str


def read(path: Path = TABLE) -> dict[str, Requirement]:
    """The table by id. A missing or an additional field raises `TypeError`."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return {key: Requirement(id=key, **fields) for key, fields in table.items()}


def marks(module: ast.AST, place: str) -> Iterator[Mark]:
    """The marks of one module, on tests, classes, parameters or the whole module."""
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and dotted(node.func) == "pytest.mark.requirement":
            for argument in node.args or [node]:
                spelled = argument.value if isinstance(argument, ast.Constant) else ""
                yield Mark(spelled if isinstance(spelled, str) else "", f"{place}:{node.lineno}")


def all_marks(paths: Iterable[Path] | None = None) -> list[Mark]:
    """The marks of all tests."""
    found: list[Mark] = []
    for path in modules(TESTS) if paths is None else paths:
        found += marks(tree(path), name(path))
    return found


def unmarked(module: ast.Module) -> list[str]:
    """The tests of a module without a mark: none of their own, of their class, parameters or module."""

    def marked(node: ast.expr) -> bool:
        return any(marks(node, ""))

    if any(marked(node.value) for node in module.body if isinstance(node, ast.Assign)):
        return []
    covered: set[int] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.ClassDef) and any(map(marked, node.decorator_list)):
            covered |= {id(each) for each in functions(node)}
    tests: list[Function] = [each for each in functions(module) if each.name.startswith("test_")]
    return [t.name for t in tests if id(t) not in covered and not any(map(marked, t.decorator_list))]


def troubles(requirements: Mapping[str, Requirement], found: Iterable[Mark]) -> list[str]:
    """Where table and tests disagree, one sentence each."""
    by_id: dict[str, list[str]] = {}
    for mark in found:
        by_id.setdefault(mark.id, []).append(mark.place)
    said = [f"{', '.join(by_id[''])}: a mark spells its ids out"] if "" in by_id else []
    unknown = sorted(by_id.keys() - requirements.keys() - {""})
    said += [f"{', '.join(by_id[key])}: there is no requirement {key}" for key in unknown]
    for each in requirements.values():
        if each.state == "kept" and each.id not in by_id:
            said.append(f"{each.id} is kept and no test shows it")
        if each.state == "planned" and each.id in by_id:
            said.append(f"{each.id} has a test ({by_id[each.id][0]}): mark it kept (make requirements)")
    return said


def in_line(text: str, shown: set[str]) -> str:
    """The table's text with each state as the tests have it; nothing else changes."""

    def state(match: re.Match[str]) -> str:
        return f'{match[1]}state = "{"kept" if match[2] in shown else "planned"}"'

    return re.sub(r'(^\[([^\]]+)\]\n(?:(?!\[|state)[^\n]*\n)*)state = "\w+"', state, text, flags=re.MULTILINE)


if __name__ == "__main__":
    shown_now = {mark.id for mark in all_marks()}
    TABLE.write_text(in_line(TABLE.read_text(encoding="utf-8"), shown_now), encoding="utf-8")
    kept = sum(each.state == "kept" for each in read().values())
    print(f"{kept} of {len(read())} requirements are kept")
