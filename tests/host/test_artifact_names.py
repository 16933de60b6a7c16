"""Names of artifacts: slugs, stamps, suffixes."""

from __future__ import annotations

import unicodedata

import pytest
from artifact_cases import AT_MS, STAMP
from hypothesis import given
from hypothesis import strategies as st

from standfast.host.artifact_names import MAX_SLUG, is_artifact_name, slug
from standfast.host.artifacts import artifact_name


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Add login", "add-login"),
        ("  Fix: the `Foo.bar` bug!! ", "fix-the-foo-bar-bug"),
        ("修复 登录 问题", "修复-登录-问题"),
        ("Ünïcode ÉTÉ", "ünïcode-été"),
        ("e\u0301te\u0301", "été"),
        ("../../etc/passwd", "etc-passwd"),
        ("\u202ereversed\u200b", "reversed"),
        ("🚀🚀", "plan"),
        ("...", "plan"),
        ("", "plan"),
        ("a" * 200, "a" * 64),
        ("x" * 63 + " y", "x" * 63),
        ("\ud800", "plan"),
    ],
)
def test_a_slug_is_made_of_lower_case_alphanumerics(title: str, expected: str) -> None:
    assert slug(title) == expected


@given(st.text(max_size=200), st.integers(0, 4_000_000_000_000), st.integers(1, 1_000))
def test_any_title_gives_a_name_that_a_file_can_have(title: str, at_ms: int, n: int) -> None:
    name = artifact_name(title, at_ms, n)
    assert len(name.encode()) <= 255
    assert len(slug(title)) <= MAX_SLUG
    assert unicodedata.is_normalized("NFC", name)
    assert is_artifact_name(name)
    assert not set(name) & set("/\0\\\n")
    assert not name.startswith((".", "-"))


def test_a_slug_of_wide_characters_leaves_room_for_the_suffix() -> None:
    name = artifact_name("𠀀" * 64, AT_MS, 1_000)
    assert name == "𠀀" * 50 + f"-{STAMP}-1000.md"


def test_the_stamp_is_utc_and_only_later_files_have_a_suffix() -> None:
    assert artifact_name("A", AT_MS, 1) == f"a-{STAMP}.md"
    assert artifact_name("A", AT_MS, 2) == f"a-{STAMP}-2.md"
