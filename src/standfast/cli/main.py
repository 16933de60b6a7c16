"""The `standfast` command: looks at the first word and imports only what that word needs.

The pipe and the hook must start in a few milliseconds, so nothing is imported here but `sys`; each command
lives in a module that is loaded when it is asked for.
"""

import sys


def main() -> int:
    """Runs the command line; 0 ok, 1 refused, 2 usage, 3 host unreachable."""
    words = sys.argv[1:]
    if words[:1] == ["mcp"]:
        from standfast.client.pipe import main as pipe

        return pipe(words[1:])
    if words[:1] == ["hook"]:
        from standfast.client.hook import main as hook

        return hook(words[1:])
    if words in (["--version"], ["-V"]):
        from standfast import __version__

        sys.stdout.write(f"standfast {__version__}\n")
        return 0
    from standfast.cli.commands import run

    return run(words)
