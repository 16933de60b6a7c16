"""The registry of generated files: path from the repository's root -> the function that gives its text.

A generated file is never edited: change what it is derived from, then run `make docs`. A test fails on a file
that is stale or missing. Generators are pure: the same product gives the same text, on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tests.house import reference
from tests.support.repository import ROOT

GENERATED: Mapping[str, Callable[[], str]] = {
    "docs/reference/commands.md": reference.commands,
    "docs/reference/errors.md": reference.errors,
    "docs/reference/openapi.json": reference.api,
    "docs/reference/operations.md": reference.operations,
    "docs/reference/states.md": reference.states,
    "docs/reference/tools.md": reference.tools,
}


def stale(registry: Mapping[str, Callable[[], str]], root: Path) -> list[str]:
    """What is wrong with the generated files below `root`, one sentence each."""
    found = []
    for place, generate in sorted(registry.items()):
        path = root / place
        if not path.is_file():
            found.append(f"{place} is missing: run `make docs`")
        elif path.read_text(encoding="utf-8") != generate():
            found.append(f"{place} is stale: run `make docs`")
    return found


def write(registry: Mapping[str, Callable[[], str]], root: Path) -> list[str]:
    """Writes the files that are stale or missing; returns their paths."""
    written = []
    for place, generate in sorted(registry.items()):
        if stale({place: generate}, root):
            (root / place).parent.mkdir(parents=True, exist_ok=True)
            (root / place).write_text(generate(), encoding="utf-8")
            written.append(place)
    return written


if __name__ == "__main__":
    for changed in write(GENERATED, ROOT):
        print(f"wrote {changed}")
