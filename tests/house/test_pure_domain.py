"""The domain decides and does nothing else: no clock, no chance, no input or output, and one table per status."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from standfast.domain import evidence, message, plan, session, todo, tracker
from standfast.domain.machine import Machine
from standfast.store.queries import schemas
from tests.support.repository import SOURCE, dotted, functions, modules, name, tree

PURE_MODULES = {
    "__future__",
    "collections.abc",
    "difflib",
    "enum",
    "hashlib",
    "markdown_it",
    "msgspec",
    "posixpath",
    "re",
    "typing",
    "unicodedata",
}
"""What the domain may import: nothing here reads a clock, a file, a socket, the environment or chance."""
PATHS_AS_TEXT = {"posixpath.join", "posixpath.dirname", "posixpath.normpath"}
"""What of `posixpath` looks at no disk."""
IMPURE_BUILTINS = {"open", "print", "input", "exec", "eval", "__import__", "id", "hash", "globals"}
"""`id` and `hash` differ from process to process."""
TABLES: dict[str, tuple[str, ...]] = {
    "sessions.status": session.SESSION.states,
    "sessions.kind": session.KINDS,
    "sessions.mode": session.MODES,
    "sessions.permission_mode": session.PERMISSION_MODES,
    "turns.status": session.TURN.states,
    "turns.source": session.TURN_SOURCES,
    "turns.stop_reason": session.STOP_REASONS,
    "plans.status": plan.PLAN.states,
    "plans.origin": plan.ORIGINS,
    "plans.permission_mode": session.PERMISSION_MODES,
    "plans.evidence": evidence.POLICIES,
    "executions.status": plan.EXECUTION.states,
    "trackers.status": plan.TRACKER.states,
    "ticks.action": tuple(tracker.ACTIONS),
    "evidence.kind": evidence.KINDS,
    "evidence.vouched_by": evidence.VOUCHERS,
    "messages.status": message.MESSAGE.states,
    "messages.kind": message.KINDS,
    "intents.status": plan.INTENT.states,
    "todo_revisions.provenance": todo.PROVENANCES,
}


def imports(module: ast.AST) -> list[str]:
    """The modules that a module imports."""
    found: list[str] = []
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            found.append(node.module or "")
    return found


def stated(text: str) -> dict[str, tuple[str, ...]]:
    """The words that a schema's CHECK constraints allow, by table and column."""
    found: dict[str, tuple[str, ...]] = {}
    for table, body in re.findall(r"CREATE TABLE (\w+) \((.*?)\n\);", text, re.DOTALL):
        for column, words in re.findall(r"CHECK \((\w+) IN\s*\(([^)]*)\)\)", body):
            found[f"{table}.{column}"] = tuple(re.findall(r"'(\w+)'", words))
    return found


def free_status(module: ast.AST) -> list[int]:
    """Lines that give a row a status which did not come from a transition table."""
    found = []
    for function in functions(module):
        from_table = {
            target.id
            for node in ast.walk(function)
            if isinstance(node, ast.Assign) and _from_table(node.value, set())
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(function):
            if not (isinstance(node, ast.Call) and _makes_a_row(node)):
                continue
            given = [keyword.value for keyword in node.keywords if keyword.arg == "status"]
            found += [value.lineno for value in given if not _from_table(value, from_table)]
    return sorted(set(found))


def _makes_a_row(call: ast.Call) -> bool:
    target = dotted(call.func)
    return target.endswith(("replace", "changed")) or target[:1].isupper()


def _from_table(value: ast.expr, known: set[str]) -> bool:
    """A machine's initial state or step, the tracker's own rule over its machine, or the state that was."""
    if isinstance(value, ast.IfExp):
        return _from_table(value.body, known) and _from_table(value.orelse, known)
    if isinstance(value, ast.Call):
        return dotted(value.func).rpartition(".")[2] in {"step", "status_for"}
    if isinstance(value, ast.Attribute):
        return value.attr in {"initial", "status"}
    return isinstance(value, ast.Name) and value.id in known


@pytest.mark.requirement("DOOR-03")
@pytest.mark.parametrize("path", modules(SOURCE / "domain"), ids=name)
def test_the_domain_reaches_no_clock_no_chance_and_nothing_outside(path: Path) -> None:
    foreign = [each for each in imports(tree(path)) if not each.startswith("standfast.domain")]
    assert {each.partition(".")[0] if each not in PURE_MODULES else each for each in foreign} <= PURE_MODULES
    called = {dotted(node.func) for node in ast.walk(tree(path)) if isinstance(node, ast.Call)}
    assert not called & IMPURE_BUILTINS
    assert {each for each in called if each.startswith("posixpath.")} <= PATHS_AS_TEXT


@pytest.mark.requirement("DOOR-03")
def test_an_impure_module_is_found() -> None:
    assert imports(ast.parse("import time\nfrom os import path")) == ["time", "os"]


@pytest.mark.requirement("DOOR-04")
@pytest.mark.parametrize("path", modules(SOURCE), ids=name)
def test_a_status_comes_from_a_transition_table_only(path: Path) -> None:
    assert free_status(tree(path)) == []


@pytest.mark.requirement("DOOR-04")
@pytest.mark.parametrize(
    ("line", "free"),
    [
        ("replace(row, status='approved')", True),
        ("Plan(status=words[0])", True),
        ("replace(row, status=PLAN.step(row.status, 'approve', ''))", False),
        ("Plan(status=PLAN.initial)", False),
        ("find('plans', status=command)", False),
    ],
)
def test_a_status_that_is_set_by_hand_is_found(line: str, free: bool) -> None:
    assert bool(free_status(ast.parse(f"def f():\n    {line}"))) is free


@pytest.mark.requirement("DOOR-05")
def test_the_schemas_words_are_the_tables_words() -> None:
    found = stated("\n".join(schemas()))
    assert {key: set(words) for key, words in found.items()} == {key: set(words) for key, words in TABLES.items()}


@pytest.mark.requirement("DOOR-05")
def test_every_machine_is_compared_with_the_schema() -> None:
    machines = [
        value for module in (session, plan, message) for value in vars(module).values() if isinstance(value, Machine)
    ]
    assert len({machine.name for machine in machines}) == 7
    for machine in machines:
        assert machine.states in TABLES.values(), machine.name
