"""`python -m standfast`: the same as the `standfast` command."""

import sys

from standfast.cli.main import main

sys.exit(main())
