"""`python -m tests.clients [CLIENT ...]`: leads real clients through the story and prints what was seen.

A table of clients and promises: `yes` where the facts show it, `-` where the client cannot, with the reason below,
`NO` where it was not kept. Ends with 1 where a promise was broken.
"""

from __future__ import annotations

import sys

import pytest

from tests.clients.bench import bench
from tests.clients.drivers import DRIVERS
from tests.clients.promises import PROMISES, broken
from tests.clients.story import told


def main(words: list[str]) -> int:
    """Prints the table, a client a line, then the sentences."""
    width = max(map(len, PROMISES))
    print(f"{'client':9} " + " ".join(f"{name:{width}}" for name in PROMISES))
    notes, bad = [], False
    for word in words or DRIVERS:
        try:
            with bench() as made:
                driver = DRIVERS[word](made)
                troubles = broken(told(made, driver), driver.cannot)
        except pytest.skip.Exception as reason:
            notes.append(f"{word}: left out: {reason}")
            continue
        marks = ["NO" if name in troubles else "-" if name in driver.cannot else "yes" for name in PROMISES]
        print(f"{word:9} " + " ".join(f"{mark:{width}}" for mark in marks), flush=True)
        notes += [f"{word}: {name}: {reason}" for name, reason in driver.cannot.items() if name not in troubles]
        notes += [f"{word}: BROKEN: {trouble}" for trouble in troubles.values()]
        bad = bad or bool(troubles)
    print(*[f"  {name:{width}} {promise.says}" for name, promise in PROMISES.items()], *notes, sep="\n")
    return int(bad)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
