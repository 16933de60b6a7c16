"""The person at the terminal: who may decide, and the questions that are asked of them.

A verdict needs a person, so it needs a terminal to ask on, and it refuses where an agent client is an
ancestor process or its marks are in the environment: a model has no person's authority. What is shown and
asked goes to the terminal's error stream, so that the output stays free for the answer (`--json`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from standfast.cli.agents import agent_above
from standfast.client.call import Refused


class Person:
    """Somebody who reads and answers. Raises `Refused` (`forbidden`) where nobody does, or an agent would."""

    def __init__(self) -> None:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise Refused({"code": "forbidden", "message": "A verdict is given on a terminal, or on the web page."})
        above = agent_above(os.environ)
        if above is not None:
            raise Refused({"code": "forbidden", "message": f"This runs under an agent ({above}); a person decides."})

    def show(self, text: str) -> None:
        """Says something; the text is clean already."""
        print(text, file=sys.stderr, flush=True)

    def choose(self, question: str, words: Sequence[str], default: str) -> str:
        """One of the words; an empty line is the default, the end of the input gives up."""
        while True:
            given = self._ask(f"{question} ({', '.join(words)}) [{default}]: ") or default
            if given in words:
                return given

    def agrees(self, question: str) -> bool:
        """A plain yes, and nothing else, is a yes."""
        return self._ask(f"{question} [y/N] ").lower() in ("y", "yes")

    def secret(self, question: str) -> str:
        """A line that is not shown."""
        from getpass import getpass

        return getpass(question, sys.stderr)

    @staticmethod
    def _ask(question: str) -> str:
        sys.stderr.write(question)
        sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            raise KeyboardInterrupt
        return line.strip()
