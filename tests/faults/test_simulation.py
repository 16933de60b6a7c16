"""Seeded histories against the model, in a short form; `make sim` plays many. A seed that failed stays here."""

from __future__ import annotations

import pytest

from standfast.testing.model import Model
from standfast.testing.simulation import difference, embedded, history, in_schemas, play, shortest

SEEDS = (1, 2, 3, 4, 5, 8, 889800773)
"""The first ones that found something: the order of a verdict's reasons, an expiry before a preparation, a
person's correction in plan mode, a remark that opens a turn by being delivered."""


@pytest.mark.requirement("STORE-01", "STORE-10", "PLAN-VERDICT-15")
@pytest.mark.parametrize("seed", SEEDS)
def test_a_history_goes_as_the_model_says_on_the_embedded_store(seed: int) -> None:
    assert play(seed) is None


@pytest.mark.parametrize("seed", SEEDS[:2])
def test_a_history_goes_as_the_model_says_on_postgresql(seed: int, postgres_url: str) -> None:
    assert play(seed, in_schemas(postgres_url)) is None


def test_a_seed_is_a_history() -> None:
    assert history(7) == history(7)
    assert history(7) != history(8)
    names = {name for seed in range(5) for name, _ in history(seed)}
    assert names == {name for name in vars(Model) if not name.startswith("_")} - {"step", "seen", "pending", "tracked"}


def test_a_host_that_differs_is_found_and_the_history_cut_to_what_shows_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(self: Model, session: int, task: int) -> str | None:
        return None

    monkeypatch.setattr(Model, "untick", forgetful)
    seed = next(seed for seed in range(100) if difference(history(seed), embedded) is not None)
    steps = history(seed)
    found = difference(steps, embedded)
    assert found is not None
    needed = shortest(steps[: found[0] + 1], embedded)
    assert needed[-1][0] == "untick"
    assert len(needed) < 10
