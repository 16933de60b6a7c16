"""The command lines that clients are given: hooks and the MCP server, guarded, for a person and for a project.

A person's configuration names the home, so that nothing in an environment leads a hook elsewhere. A project's
file is shared: it names no path of anybody's, grants nothing, and does nothing where Standfast is missing.
"""

from __future__ import annotations

import shlex
from typing import Final

GUARD: Final = "command -v standfast >/dev/null 2>&1"
EXIT: Final = "exit 2"
_SOMEBODY_PLANS: Final = '[ -z "$(ls -A {gate} 2>/dev/null)" ] || {{ {deny}; }}'
_EVERY_HOME: Final = (
    'for d in "$STANDFAST_HOME" "$XDG_STATE_HOME/standfast" "$HOME/.local/state/standfast"; do {check}; done'
)
# Offers nothing, and no complaint, to a client of somebody who has no Standfast.
_NOTHING: Final = (
    "while IFS= read -r m; do"
    """ i=$(printf %s "$m" | sed -n -e 's/.*"id": *\\([0-9][0-9]*\\)[,}].*/\\1/p'"""
    """ -e 's/.*"id": *\\("[^"]*"\\)[,}].*/\\1/p');"""
    ' [ -n "$i" ] || continue;'
    """ case $m in *'"initialize"'*) r='"result":{"protocolVersion":"2025-06-18","capabilities":{},"""
    """"serverInfo":{"name":"standfast","version":"off"}}';;"""
    """ *'"tools/list"'*) r='"result":{"tools":[]}';;"""
    """ *) r='"error":{"code":-32601,"message":"Standfast is not installed here."}';; esac;"""
    """ printf '{"jsonrpc":"2.0","id":%s,%s}\\n' "$i" "$r"; done"""
)


def hook(client: str, home: str | None, *, deny: str = "") -> str:
    """The shell command of a client's hook. Without a home it is for a project's file.

    Clients let a tool run when its hook fails: a gate's hook that fails while anybody plans ends with `deny`, which
    is how the client is told no.
    """
    call = f"standfast hook {client}" if home is None else f"standfast hook {client} --home {shlex.quote(home)}"
    guarded = f"{GUARD} || exit 0; {call}"
    if not deny:
        return guarded
    if home is None:
        closed = _EVERY_HOME.format(check=_SOMEBODY_PLANS.format(gate='"$d/gate"', deny=deny))
    else:
        closed = _SOMEBODY_PLANS.format(gate=shlex.quote(f"{home}/gate"), deny=deny)
    return f"{guarded} || {{ {closed}; }}"


def in_shell(command: str) -> str:
    """The same command for a client that splits it into words and starts no shell."""
    return shlex.join(["sh", "-c", command])


def server(home: str | None) -> list[str]:
    """The words that start the MCP server."""
    if home is not None:
        return ["standfast", "mcp", "--home", home]
    return ["sh", "-c", f"{GUARD} && exec standfast mcp; {_NOTHING}"]
