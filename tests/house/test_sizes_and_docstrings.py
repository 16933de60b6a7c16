"""A reader can hold a module and a function in the head, and each module opens with what it is for."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.support.repository import SOURCE, functions, length, modules, name, tree

MODULE_LINES = 400
FUNCTION_LINES = 40


def too_long(path: Path) -> list[str]:
    """The functions of a module that reach the limit."""
    return [
        f"{name(path)}:{function.lineno} {function.name} has {length(function)} lines"
        for function in functions(tree(path))
        if length(function) >= FUNCTION_LINES
    ]


@pytest.mark.parametrize("path", modules(), ids=name)
def test_a_module_stays_below_four_hundred_lines(path: Path) -> None:
    count = len(path.read_text(encoding="utf-8").splitlines())
    assert count < MODULE_LINES, f"{name(path)} has {count} lines; split it by its ideas"


@pytest.mark.parametrize("path", modules(SOURCE), ids=name)
def test_a_function_stays_below_forty_lines(path: Path) -> None:
    assert not too_long(path)


@pytest.mark.parametrize("path", modules(), ids=name)
def test_a_module_says_what_it_is_for(path: Path) -> None:
    docstring = ast.get_docstring(tree(path)) or ""
    assert docstring, f"{name(path)} has no docstring"
    assert docstring[0].isupper() or docstring[0] in "`'\"", f"{name(path)}: a docstring begins with a sentence"


def test_the_length_of_a_function_is_measured_without_its_docstring() -> None:
    body = "\n".join(f"    x{n} = {n}" for n in range(FUNCTION_LINES - 2))
    inside = ast.parse(f'def f():\n    """One.\n\n    Two.\n    """\n{body}\n')
    over = ast.parse(f"@decorated\ndef f():\n{body}\n    return x0\n")
    assert [length(f) for f in functions(inside)] == [FUNCTION_LINES - 1]
    assert [length(f) for f in functions(over)] == [FUNCTION_LINES]


def test_a_function_that_is_too_long_is_found(tmp_path: Path) -> None:
    path = tmp_path / "long.py"
    path.write_text("async def run():\n" + "    pass\n" * FUNCTION_LINES)
    assert too_long(path) == [f"{path}:1 run has {FUNCTION_LINES + 1} lines"]
