"""Reference pages are derived from the product, and a stale one fails here."""

from __future__ import annotations

from pathlib import Path

from tests.house.generated import GENERATED, stale, write
from tests.support.repository import ROOT


def test_no_generated_file_is_stale() -> None:
    assert stale(GENERATED, ROOT) == []


def test_the_same_product_gives_the_same_text_twice() -> None:
    assert [place for place, generate in GENERATED.items() if generate() != generate()] == []


def test_a_missing_and_a_stale_file_are_found_and_written(tmp_path: Path) -> None:
    registry = {"docs/new.md": lambda: "new\n", "old.md": lambda: "after\n", "same.md": lambda: "same\n"}
    (tmp_path / "old.md").write_text("before\n")
    (tmp_path / "same.md").write_text("same\n")
    assert stale(registry, tmp_path) == [
        "docs/new.md is missing: run `make docs`",
        "old.md is stale: run `make docs`",
    ]
    assert write(registry, tmp_path) == ["docs/new.md", "old.md"]
    assert stale(registry, tmp_path) == []
    assert (tmp_path / "old.md").read_text() == "after\n"
