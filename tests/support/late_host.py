"""A host whose clock is ahead by as many milliseconds as a file says; run as a program by `running_host`.

`python tests/support/late_host.py FILE up --foreground …`: the rest is the command line of the product, and
everything else is the product.
"""

from __future__ import annotations

import sys
from pathlib import Path

from standfast.app import process
from standfast.cli.main import main
from standfast.config import system_clock

AHEAD = Path(sys.argv.pop(1))


def late() -> int:
    """The system's time, and what the file adds to it."""
    return system_clock() + int(AHEAD.read_text())


if __name__ == "__main__":
    vars(process)["system_clock"] = late
    sys.exit(main())
