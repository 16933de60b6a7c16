"""Where a home is and what its files are called, for the parts that must not import the configuration.

Invariant: the same answer as the configuration layer gives for the same environment. Not here: creating
anything.
"""

import os
from collections.abc import Mapping

SOCKET = "host.sock"
AGENT_TOKEN = os.path.join("tokens", "agent")
DOWN_MARKER = "down"
START_LOCK = "start.lock"
HOST_LOG = "host.log"
SWITCH = os.path.join(".standfast", "off")


def home_directory(environ: Mapping[str, str]) -> str:
    """`STANDFAST_HOME`, else `$XDG_STATE_HOME/standfast`, else `~/.local/state/standfast`; absolute."""
    named = environ.get("STANDFAST_HOME")
    if named:
        return os.path.abspath(named)
    state = environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):
        state = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(state, "standfast")


def switched_off(environ: Mapping[str, str], workspace: str) -> bool:
    """Whether a person does not want Standfast here: `STANDFAST_OFF`, or `.standfast/off` here or above."""
    if environ.get("STANDFAST_OFF", "") not in ("", "0"):
        return True
    folder = os.path.abspath(workspace)
    while not os.path.exists(os.path.join(folder, SWITCH)):
        above = os.path.dirname(folder)
        if above == folder:
            return False
        folder = above
    return True
