"""What is put into a configuration and taken out again, over generated documents: the bytes of others stay."""

from __future__ import annotations

from contextlib import suppress
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from standfast.cli.connect import toml_spans, yaml_spans
from standfast.cli.connect.document import MISSING, Document, Entry, Syntax
from standfast.cli.connect.json_spans import COMMENTED, RELAXED, STRICT
from standfast.cli.connect.text import Unreadable
from tests.connect.documents import (
    JSON_ENTRIES,
    TOML_ENTRIES,
    YAML_ENTRIES,
    json_documents,
    toml_documents,
    yaml_documents,
)

pytestmark = pytest.mark.requirement("CONNECT-01")


def round_trip(text: str, syntax: Syntax | ModuleType, entries: Any, order: Any) -> None:
    """Puts all entries in, looks at every promise, and takes them out in some order."""
    document = Document(text, syntax)
    made = [path for entry in entries for path in document.put(entry)]
    connected = document.text
    assert holds(connected, text), "something of others is gone"
    assert breaks(connected) <= (breaks(text) or {"\n"})
    document = Document(connected, syntax)
    assert [document.get(entry) for entry in entries] == [entry.value for entry in entries]
    for entry in order:
        document.take(entry)
        assert document.get(entry) is MISSING
    document.prune(made)
    assert document.text == text


def holds(longer: str, shorter: str) -> bool:
    """Whether the characters of the shorter text stand in the longer one, in their order."""
    rest = iter(longer)
    return all(character in rest for character in shorter)


def breaks(text: str) -> set[str]:
    """The kinds of line break of a text."""
    found = {"\r\n"} if "\r\n" in text else set()
    return found | ({"\n"} if "\n" in text.replace("\r\n", "") else set())


@settings(max_examples=300, deadline=None)
@given(json_documents(), st.permutations(JSON_ENTRIES))
def test_json_with_comments_is_the_same_after_connecting_and_removing(text: str, order: list[Entry]) -> None:
    round_trip(text, RELAXED, JSON_ENTRIES, order)


@settings(max_examples=300, deadline=None)
@given(toml_documents(), st.permutations(TOML_ENTRIES))
def test_toml_is_the_same_after_connecting_and_removing(text: str, order: list[Entry]) -> None:
    round_trip(text, toml_spans, TOML_ENTRIES, order)


@settings(max_examples=300, deadline=None)
@given(yaml_documents(), st.permutations(YAML_ENTRIES))
def test_yaml_is_the_same_after_connecting_and_removing(text: str, order: list[Entry]) -> None:
    round_trip(text, yaml_spans, YAML_ENTRIES, order)


SYNTAXES = [(RELAXED, JSON_ENTRIES), (COMMENTED, JSON_ENTRIES), (STRICT, JSON_ENTRIES)]
SYNTAXES += [(toml_spans, TOML_ENTRIES), (yaml_spans, YAML_ENTRIES)]  # type: ignore[list-item]
SCRAPS = st.sampled_from(
    [
        *"{}[]:,\"'#/*- \n\t\r=.&!|>~",
        "hooks",
        "mcpServers",
        "mcp_servers",
        "standfast",
        "a",
        "1",
        "null",
        "//",
        "- ",
        ": ",
    ]
)


@pytest.mark.parametrize(("syntax", "entries"), SYNTAXES, ids=["relaxed", "commented", "strict", "toml", "yaml"])
@settings(max_examples=300, deadline=None)
@given(parts=st.lists(SCRAPS, max_size=25))
def test_any_text_is_either_refused_or_the_same_after_connecting_and_removing(
    syntax: Any, entries: tuple[Entry, ...], parts: list[str]
) -> None:
    text = "".join(parts)
    with suppress(Unreadable):
        round_trip(text, syntax, entries, entries)
