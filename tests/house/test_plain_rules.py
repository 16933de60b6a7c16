"""Rules about single lines: a reason for every skip, no blind sleep, no `Any` in the domain, no globals."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.support.repository import SOURCE, TESTS, dotted, functions, modules, name, tree

SLEEPS = {"time.sleep", "sleep", "asyncio.sleep", "anyio.sleep"}
MAY_WAIT = {TESTS / "support" / "processes.py", TESTS / "support" / "postgres_keeper.py"}
"""The one place that polls with a deadline, and the one program that cannot import it."""


def calls(module: ast.AST) -> list[ast.Call]:
    """Every call of a module."""
    return [node for node in ast.walk(module) if isinstance(node, ast.Call)]


def says_why(call: ast.Call, place: int | None) -> bool:
    """Whether a call carries a reason: a keyword, or the positional argument at `place`."""
    values = [keyword.value for keyword in call.keywords if keyword.arg in {"reason", "msg"}]
    if place is not None:
        values += call.args[place : place + 1]
    return any(not (isinstance(value, ast.Constant) and not str(value.value or "").strip()) for value in values)


def silent_skips(module: ast.AST) -> list[int]:
    """Lines that leave a test out without saying why."""
    reason_at = {"pytest.skip": 0, "pytest.xfail": 0, "pytest.mark.skip": 0, "unittest.skip": 0}
    reason_at_none = {"pytest.mark.skipif", "pytest.mark.xfail", "pytest.importorskip"}
    found, called = [], set()
    for call in calls(module):
        target = dotted(call.func)
        called.add(id(call.func))
        asked = target in reason_at or target in reason_at_none
        if asked and not says_why(call, reason_at.get(target)):
            found.append(call.lineno)
    bare = {"pytest.mark.skip", "pytest.mark.xfail"}
    found += [
        node.lineno
        for node in ast.walk(module)
        if isinstance(node, ast.Attribute) and dotted(node) in bare and id(node) not in called
    ]
    return sorted(found)


def sleeps(module: ast.AST) -> list[int]:
    """Lines that wait for a guessed time; giving way to the loop with `sleep(0)` is not waiting."""
    return [
        call.lineno
        for call in calls(module)
        if dotted(call.func) in SLEEPS
        and not (call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value == 0)
    ]


def anys(module: ast.AST) -> list[int]:
    """Lines that name `Any`."""
    found = [n.lineno for n in ast.walk(module) if isinstance(n, ast.Name | ast.Attribute) and is_any(n)]
    found += [
        node.lineno
        for node in ast.walk(module)
        if isinstance(node, ast.ImportFrom) and any(alias.name == "Any" for alias in node.names)
    ]
    return sorted(set(found))


def is_any(node: ast.AST) -> bool:
    """Whether a name is `Any` or ends in `.Any`."""
    return dotted(node).rpartition(".")[2] == "Any"


def rebinds(module: ast.AST) -> list[int]:
    """Lines that rebind a global: the only globals are constant tables."""
    return [node.lineno for node in ast.walk(module) if isinstance(node, ast.Global)]


@pytest.mark.parametrize("path", modules(TESTS), ids=name)
def test_what_is_left_out_says_why(path: Path) -> None:
    assert not silent_skips(tree(path))


@pytest.mark.parametrize("path", modules(TESTS), ids=name)
def test_a_test_does_not_sleep(path: Path) -> None:
    assert path in MAY_WAIT or not sleeps(tree(path)), (
        f"{name(path)}: wait for a fact with support.processes.wait_until"
    )


@pytest.mark.parametrize("path", modules(TESTS), ids=name)
def test_a_test_has_a_sentence_for_a_name(path: Path) -> None:
    tests = [f.name for f in functions(tree(path)) if f.name.startswith("test_")]
    assert not [each for each in tests if each.count("_") < 3], "a test's name says what is true"


@pytest.mark.parametrize("path", modules(SOURCE / "domain"), ids=name)
def test_the_domain_says_its_types(path: Path) -> None:
    assert not anys(tree(path))


@pytest.mark.parametrize("path", modules(SOURCE), ids=name)
def test_the_product_rebinds_no_global(path: Path) -> None:
    assert not rebinds(tree(path))


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("@pytest.mark.skip\ndef test_a(): ...", [1]),
        ("@pytest.mark.skip(reason='')\ndef test_a(): ...", [1]),
        ("@pytest.mark.skipif(True)\ndef test_a(): ...", [1]),
        ("pytest.skip()", [1]),
        ("pytest.importorskip('x')", [1]),
        ("@pytest.mark.skipif(True, reason='no disk to fill')\ndef test_a(): ...", []),
        ("pytest.skip('no browser')", []),
        ("pytest.skip(f'no {thing}')", []),
    ],
)
def test_a_silent_skip_is_found(text: str, lines: list[int]) -> None:
    assert silent_skips(ast.parse(text)) == lines


def test_sleeps_any_and_globals_are_found() -> None:
    assert sleeps(ast.parse("import time\ntime.sleep(1)\nawait_ = asyncio.sleep(0)")) == [2]
    assert anys(ast.parse("from typing import Any\nx: Any\ny: typing.Any\nz: Anything")) == [1, 2, 3]
    assert rebinds(ast.parse("def f():\n    global x\n    x = 1")) == [2]
