"""Named queries: one SQL file per noun, read once, the same text for every database.

A file is a sequence of `-- name: some_query` headings, each followed by one statement with `:named`
parameters. `{columns}` in a statement stands for the columns of the row type that is asked for. Where a
dialect must differ, a file of the same name in its own folder overrides single queries.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Final

_NAME: Final = re.compile(r"^-- name: (\w+)\s*$", re.MULTILINE)


@cache
def queries(dialect: str) -> dict[str, str]:
    """All named queries of a dialect; a name that occurs twice in the portable files is an error."""
    root = resources.files("standfast.store") / "sql"
    found: dict[str, str] = {}
    for file in sorted(root.iterdir(), key=lambda item: item.name):
        if not file.name.endswith(".sql") or file.name.startswith("schema_"):
            continue
        for name, text in parse(file.read_text(encoding="utf-8")).items():
            if name in found:
                raise ValueError(f"query {name} is defined twice")
            found[name] = text
    special = root / dialect
    if special.is_dir():
        for file in special.iterdir():
            found.update(parse(file.read_text(encoding="utf-8")))
    return found


def parse(text: str) -> dict[str, str]:
    """The named statements of one file."""
    parts = _NAME.split(text)
    return {name: body.strip().rstrip(";") for name, body in zip(parts[1::2], parts[2::2], strict=True)}


def schemas() -> tuple[str, ...]:
    """The portable texts of the schema's steps, oldest first. What was released is never changed."""
    root = resources.files("standfast.store") / "sql"
    files = [file for file in root.iterdir() if file.name.startswith("schema_")]
    ordered = sorted(files, key=lambda file: int(file.name.removeprefix("schema_").removesuffix(".sql")))
    return tuple(file.read_text(encoding="utf-8") for file in ordered)
