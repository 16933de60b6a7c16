"""What the scripted model says next, and what it was asked.

A script is a list of replies, each used once and in order. Requests beside the conversation (titles, summaries)
do not use it up: a request that offers no tools, or whose newest words contain one of `SUMMARY_WORDS`, is answered
aside. A reply can be held back until the test lets it go, which is how a client is killed in the middle of a turn.

Not here: protocols (`dialects`), HTTP (`server`).
"""

from __future__ import annotations

import fnmatch
import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

SUMMARY = "SUMMARY-OF-THE-CONVERSATION"
SUMMARY_WORDS = (
    "create a detailed summary of the conversation",
    "CONTEXT CHECKPOINT COMPACTION",
    "create a structured context checkpoint",
    "anchored summary",
    "state_snapshot",
)
"""How today's clients ask for the summary of a compaction."""


@dataclass(frozen=True)
class Call:
    """A tool call. `name` may be a pattern (`*plan_tick`): it becomes the first offered tool that fits."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Say:
    """One reply: text, tool calls, the input tokens that it reports, what holds it back, and its own number.

    Clients join replies whose ids are the same, so each has another.
    """

    text: str = ""
    calls: tuple[Call, ...] = ()
    tokens: int = 1_000
    hold: threading.Event | None = None
    number: int = 0


def call(name: str, **arguments: Any) -> Say:
    """A reply that is one tool call."""
    return Say(calls=(Call(name, arguments),))


@dataclass(frozen=True)
class Offered:
    """A tool as a request offers it: its flat name, and how its protocol wants it called."""

    name: str
    short: str = ""
    namespace: str = ""
    custom: bool = False


@dataclass(frozen=True)
class Asked:
    """One request of a client: its body, its tools and system prompt, and what came after the last reply."""

    number: int
    dialect: str
    body: Mapping[str, Any]
    tools: tuple[Offered, ...]
    system: str
    newest: str
    aside: bool

    @property
    def texts(self) -> list[str]:
        """Every string of the body."""
        return list(strings(self.body))

    def count(self, text: str) -> int:
        """How often a text stands in the request."""
        return sum(each.count(text) for each in self.texts)


def strings(value: Any) -> Iterator[str]:
    """Every string in a JSON value; a string that is JSON itself is not opened."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)


@dataclass(frozen=True)
class Resolved:
    """A tool call with the tool that was really offered, and its id."""

    id: str
    tool: Offered
    arguments: Mapping[str, Any]

    @property
    def json(self) -> str:
        """The arguments as JSON text."""
        return json.dumps(self.arguments)


class Script:
    """The replies that are left, and everything that was asked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left: list[Say] = []
        self._calls = 0
        self.asked: list[Asked] = []

    def play(self, *replies: Say) -> None:
        """Replaces what is left by these replies."""
        with self._lock:
            self._left = list(replies)

    @property
    def left(self) -> int:
        """How many replies were not used."""
        return len(self._left)

    def turns(self) -> list[Asked]:
        """The requests of the conversation itself, without those aside."""
        return [each for each in self.asked if not each.aside]

    def reply(self, dialect: str, body: Mapping[str, Any], facts: tuple[tuple[Offered, ...], str, str]) -> Say:
        """Notes a request and chooses its reply."""
        tools, system, newest = facts
        summary = any(words in newest for words in SUMMARY_WORDS)
        with self._lock:
            aside = summary or not tools
            number = len(self.asked) + 1
            self.asked.append(Asked(number, dialect, body, tools, system, newest, aside))
            if aside:
                say = Say(f"<summary>{SUMMARY}</summary>" if summary else '{"title": "A title"}')
            else:
                say = self._left.pop(0) if self._left else Say("Done.")
            return replace(say, number=number)

    def resolved(self, say: Say, tools: tuple[Offered, ...]) -> list[Resolved]:
        """The reply's calls with the tools that are offered; a name that nothing fits is called as it is."""
        found = []
        for each in say.calls:
            fits = [tool for tool in tools if fnmatch.fnmatchcase(tool.name, each.name)]
            self._calls += 1
            tool = fits[0] if fits else Offered(each.name, each.name)
            found.append(Resolved(f"call_{self._calls:012d}", tool, each.arguments))
        return found
