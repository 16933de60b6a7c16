"""A host whose clock is off by as many milliseconds as a file says; run as a program by `running_host`.

`python tests/support/late_host.py FILE up --foreground …`: the rest is the command line of the product, and
everything else is the product.
"""

from __future__ import annotations

import sys
from pathlib import Path

from standfast.app import process
from standfast.cli.main import main
from standfast.config import system_clock

PROGRAM = Path(__file__)


def command(off: Path, home: Path) -> list[str]:
    """The command line of such a host."""
    words = ["up", "--foreground", "--home", str(home), "--port", "0"]
    return [sys.executable, "-P", str(PROGRAM), str(off), *words]


if __name__ == "__main__":
    off = Path(sys.argv.pop(1))
    vars(process)["system_clock"] = lambda: system_clock() + int(off.read_text())
    sys.exit(main())
