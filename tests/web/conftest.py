"""One browser for all tests of the page; each test begins with one empty window."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.browser import Browser, NoBrowser, browser
from tests.support.hosts import Running, running_host


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The browser; where there is none, what needs it is left out with the reason."""
    try:
        with browser() as window:
            yield window
    except NoBrowser as reason:
        pytest.skip(str(reason))


@pytest.fixture
def window(chromium: Browser) -> Iterator[Browser]:
    """The browser with one empty window; whatever a test does, no script fails and no policy is broken."""
    chromium.alone()
    chromium.faults()
    chromium.requested()
    yield chromium
    assert chromium.faults() == []


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Running]:
    """A running host on a new home."""
    with running_host(tmp_path / "home") as host:
        yield host
