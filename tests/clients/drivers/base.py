"""What a driver can do with its client, and what it knows of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.clients import install
from tests.clients.bench import Bench, Ran
from tests.clients.model.script import Asked


class Driver(ABC):
    """One client in one bench. `conversation` is the client's own id of it, once it is known.

    `client` is the client's name in Standfast's sessions, `own` what its names of Standfast's tools begin with,
    `write` its tool for a new file, `cannot` the promises that it cannot keep and why.
    """

    word: str
    client: str
    cannot: Mapping[str, str] = {}
    own = "*"
    write: str

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.conversation: str | None = None
        self.program = install.program(self.word)
        self.configure()

    @abstractmethod
    def configure(self) -> None:
        """Writes the client's configuration: the scripted model, and Standfast."""

    @abstractmethod
    def environment(self) -> dict[str, str]:
        """The environment of the client's process."""

    @abstractmethod
    def command(self, text: str) -> list[str | Path]:
        """The command line of one prompt: the first starts the conversation, each later one takes it up again."""

    @abstractmethod
    def compact(self) -> None:
        """Makes the client compact its context: now, or at the latest before its next request."""

    @abstractmethod
    def writes(self, path: Path) -> dict[str, Any]:
        """The arguments of its `write` tool for a file."""

    def system(self, asked: Asked) -> str:
        """The system prompt of a request, without what the client itself changes in it."""
        return asked.system

    def prompt(self, text: str) -> Ran:
        """One prompt, to its end."""
        ran = self.bench.run(self.command(text), self.environment())
        if self.conversation is None:
            self.conversation = self.started(ran)
        return ran

    def started(self, ran: Ran) -> str | None:
        """The conversation's id, from what the first run wrote or left on disk."""
        return None

    def killed(self, text: str) -> None:
        """One prompt, killed with SIGKILL while the model has not answered yet."""
        self.bench.killed(self.command(text), self.environment())
