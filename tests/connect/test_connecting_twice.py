"""Connecting is idempotent over generated documents, and removing gives each of them back, whoever remembers it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from standfast.cli.connect import plan, toml_spans, yaml_spans
from standfast.cli.connect.document import Entry
from standfast.cli.connect.files import Found
from standfast.cli.connect.json_spans import RELAXED
from standfast.cli.connect.plan import joined, parted
from standfast.cli.connect.record import Written
from standfast.cli.connect.table import Settings
from tests.connect.documents import (
    JSON_ENTRIES,
    TOML_ENTRIES,
    YAML_ENTRIES,
    json_documents,
    toml_documents,
    yaml_documents,
)

pytestmark = pytest.mark.requirement("CONNECT-01", "CONNECT-02")
PATH = Path("/nowhere/settings")
EARLIER = {"command": "an older form"}


def earlier(entry: Entry) -> Entry:
    """The same entry as another version would have written it."""
    return replace(entry, value={**EARLIER, "of": entry.mark})


def connecting_twice_is_once(text: str, syntax: Any, entries: tuple[Entry, ...]) -> None:
    """Connects an earlier form, this one, this one again, and removes it."""
    part = Settings(PATH, syntax, entries)
    old = Settings(PATH, syntax, tuple(map(earlier, entries))[:-1])
    found = Found(PATH, PATH, text.encode())
    first = joined(old, found, Written())
    assert first.written is not None
    found = replace(found, data=first.data)
    assert plan.state(part, found, first.written) == plan.OLDER
    second = joined(part, found, first.written)
    assert second.written is not None
    found = replace(found, data=second.data)
    assert plan.state(part, found, second.written) == plan.CONNECTED
    assert not joined(part, found, second.written).needed
    assert not joined(part, found, Written()).needed
    assert parted(part, found, second.written).data == text.encode()


@given(json_documents())
@settings(max_examples=150, deadline=None)
def test_json_is_connected_once_however_often(text: str) -> None:
    connecting_twice_is_once(text, RELAXED, JSON_ENTRIES)


@given(toml_documents())
@settings(max_examples=150, deadline=None)
def test_toml_is_connected_once_however_often(text: str) -> None:
    connecting_twice_is_once(text, toml_spans, TOML_ENTRIES)


@given(yaml_documents())
@settings(max_examples=150, deadline=None)
def test_yaml_is_connected_once_however_often(text: str) -> None:
    connecting_twice_is_once(text, yaml_spans, YAML_ENTRIES)
