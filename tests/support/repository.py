"""The repository as data for house tests: its files, and the syntax trees of its modules.

Files are those that git tracks or would track; outside a git checkout, all files but caches. Parsed trees are
kept for the process, because many rules read the same modules.
"""

from __future__ import annotations

import ast
import functools
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src" / "standfast"
TESTS = ROOT / "tests"
CACHES = {
    ".git",
    ".venv",
    "__pycache__",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    "node_modules",
    ".cache",
}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@functools.cache
def files() -> tuple[Path, ...]:
    """Every file of the repository, sorted."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60).stdout
    except (FileNotFoundError, subprocess.CalledProcessError):
        found = (path for path in ROOT.rglob("*") if not CACHES & set(path.relative_to(ROOT).parts))
    else:
        found = (ROOT / name for name in listed.split("\0") if name)
    return tuple(sorted(path for path in found if path.is_file() and not path.is_symlink()))


def modules(*places: Path) -> list[Path]:
    """The Python modules below the places (default: product, tests, bench, tools)."""
    wanted = places or (SOURCE, TESTS, ROOT / "bench", ROOT / "tools")
    return [path for path in files() if path.suffix == ".py" and any(path.is_relative_to(p) for p in wanted)]


@functools.cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a module."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def name(path: Path) -> str:
    """The path as people read it in a failure."""
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else str(path)


def functions(module: ast.AST) -> list[Function]:
    """All functions and methods of a module, nested ones too."""
    return [node for node in ast.walk(module) if isinstance(node, Function)]


def length(function: Function) -> int:
    """Lines of a function: decorators and docstring not counted, because neither is logic."""
    first = function.body[0]
    docstring = (first.end_lineno or first.lineno) - first.lineno + 1 if ast.get_docstring(function) else 0
    return (function.end_lineno or function.lineno) - function.lineno + 1 - docstring


def imports(module: ast.AST) -> list[tuple[str, int]]:
    """Every absolute name that a module imports, with its line; nested and type-only imports too."""
    found: list[tuple[str, int]] = []
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.append((node.module, node.lineno))
    return found


def dotted(node: ast.AST) -> str:
    """`a.b.c` for a chain of attributes and names, else an empty text."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (start := dotted(node.value)):
        return f"{start}.{node.attr}"
    return ""
