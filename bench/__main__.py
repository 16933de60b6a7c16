"""Runs the measurements: a table, and JSON as the last line. `python -m bench [PART…]` picks parts."""

from __future__ import annotations

import sys
from importlib import import_module

from bench.report import Row, as_json, table

PARTS = ("start", "mcp", "door", "http", "growth", "transcripts", "page")


def main(wanted: list[str]) -> int:
    """Each part by itself, so that what was measured is seen as it comes."""
    unknown = sorted(set(wanted) - set(PARTS))
    if unknown:
        print(f"bench: no part {', '.join(unknown)}; there are {', '.join(PARTS)}.", file=sys.stderr)
        return 2
    every: list[Row] = []
    for part in wanted or PARTS:
        found: list[Row] = import_module(f"bench.{part}").rows()
        print(table(found), flush=True)
        every += found
    print(as_json(every))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
