"""Real clients keep their promises: planned, approved, ticked, compacted, killed and taken up again."""

from __future__ import annotations

import pytest

from tests.clients.bench import bench
from tests.clients.drivers import DRIVERS
from tests.clients.promises import PROMISES, broken
from tests.clients.story import told


@pytest.mark.requirement("CLIENT-01", "HOOK-02", "PLAN-GATE-13")
@pytest.mark.parametrize("word", DRIVERS)
def test_a_real_client_keeps_its_promises(word: str) -> None:
    with bench() as made:
        driver = DRIVERS[word](made)
        seen = told(made, driver)
    assert broken(seen, driver.cannot) == {}


def test_what_a_client_cannot_keep_is_a_promise_with_a_reason() -> None:
    for driver in DRIVERS.values():
        assert set(driver.cannot) <= set(PROMISES)
        assert all(reason.strip() for reason in driver.cannot.values())
