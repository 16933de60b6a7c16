"""What the documents name exists: files, commands, targets, folders, decisions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from standfast.cli.commands import build_parser
from tests.house.reference import command_lines
from tests.support.repository import ROOT

DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
GUIDES = [path for path in DOCUMENTS if path.parent.name != "adr"]
"""A decision may speak of what is not there yet; a guide may not."""

LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(#[^)]*)?\)")
COMMAND = re.compile(r"\bstandfast ((?:[a-z][a-z-]+ ?)+)")
TARGET = re.compile(r"\bmake ([a-z]+)\b")


def names(path: Path) -> str:
    """A document's path from the root, for messages."""
    return str(path.relative_to(ROOT))


def code(text: str) -> Iterator[str]:
    """What stands in code, fenced or between backticks."""
    yield from re.findall(r"```.*?```", text, re.DOTALL)
    yield from re.findall(r"`[^`\n]+`", re.sub(r"```.*?```", "", text, flags=re.DOTALL))


def broken_links(text: str, folder: Path) -> list[str]:
    """Relative links that lead nowhere."""
    return [target for target, _ in LINK.findall(text) if not (folder / target).exists()]


def unknown_commands(text: str) -> list[str]:
    """`standfast …` in code that is no command."""
    known = {name for name, _, _ in command_lines(build_parser(), "")}
    found = []
    for part in code(text):
        for words in COMMAND.findall(part):
            first = words.split()[0]
            if first not in known and f"standfast {first}" in part:
                found.append(first)
    return found


def unknown_targets(text: str) -> list[str]:
    """`make …` in code that is no target."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    return [name for part in code(text) for name in TARGET.findall(part) if name not in targets]


@pytest.mark.parametrize("path", DOCUMENTS, ids=names)
def test_every_link_leads_somewhere(path: Path) -> None:
    assert broken_links(path.read_text(encoding="utf-8"), path.parent) == []


@pytest.mark.parametrize("path", GUIDES, ids=names)
def test_every_command_and_target_exists(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert unknown_commands(text) == []
    assert unknown_targets(text) == []


def test_every_decision_is_in_the_index() -> None:
    index = (ROOT / "docs" / "adr" / "README.md").read_text()
    decisions = [path.name for path in (ROOT / "docs" / "adr").glob("0*.md")]
    assert [name for name in decisions if f"({name})" not in index] == []


def test_every_folder_in_the_tree_of_the_architecture_exists() -> None:
    tree = (ROOT / "ARCHITECTURE.md").read_text().partition("```text\nsrc/standfast/")[2].partition("```")[0]
    inner = re.findall(r"^  ([a-z]+)/ ", tree.partition("\ntests/")[0], re.MULTILINE)
    assert set(inner) == {
        path.name for path in (ROOT / "src" / "standfast").iterdir() if (path / "__init__.py").exists()
    }


def test_what_is_missing_is_found(tmp_path: Path) -> None:
    text = "[a](nowhere.md) `make nothing` and\n```sh\nstandfast conquer now\n```\n[b](https://x.y)"
    assert broken_links(text, tmp_path) == ["nowhere.md"]
    assert unknown_targets(text) == ["nothing"]
    assert unknown_commands(text) == ["conquer"]
