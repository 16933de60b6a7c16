"""Fixtures for connecting clients."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.connect.people import Somebody


@pytest.fixture
def somebody(tmp_path: Path) -> Somebody:
    """A person with an empty user directory and an empty project."""
    for name in ("user", "project"):
        (tmp_path / name).mkdir()
    return Somebody(tmp_path / "user", tmp_path / "project")
