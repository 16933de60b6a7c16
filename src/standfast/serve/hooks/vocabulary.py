"""What any client's hook reports and what it may say, in one vocabulary.

A client's module reads what its hook sent (`Sent`) as a `Report` and writes a `Reply` the way its hook prints it.
What a report means and what the reply is, is decided once for all clients (`coordinator`).

Not here: HTTP (`route`), the clients' own names and formats (a module each).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, Protocol

import msgspec

from standfast.domain.gate import ALLOW

What = Literal["start", "prompt", "before_tool", "after_tool", "turn_end", "session_end", "note"]
"""`start` is a session's start of any source; `note` is anything else that only proves who speaks."""

Said = Mapping[str, Any]


class Sent:
    """One event as it came (untrusted): its fields, the client's process, and whether a person is there."""

    def __init__(self, event: Mapping[str, Any], process: int | None, *, attended: bool) -> None:
        self._event: Final = event
        self.process: Final = process
        self.attended: Final = attended

    def text(self, field: str) -> str:
        """A field that is a text; nothing where it is missing or something else."""
        value = self._event.get(field)
        return value if isinstance(value, str) else ""

    def value(self, field: str) -> object:
        """A field as it came; None where it is missing."""
        return self._event.get(field)

    def table(self, field: str) -> Mapping[str, Any]:
        """A field that is an object."""
        value = self._event.get(field)
        return value if isinstance(value, Mapping) else {}


class Used(msgspec.Struct, frozen=True, kw_only=True):
    """A tool that has run and did not fail. `agent` is the subagent that used it, empty for the main thread."""

    tool: str
    arguments: Mapping[str, Any]
    answer: object = None
    agent: str = ""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """One event, understood. `conversation` is the client's own id of the session.

    `source` is a start's source (startup, resume, clear, compact, fork); `turn` the client's prompt or turn id;
    `call` the tool call's id as the MCP call that follows repeats it, `path` what a file tool names.
    `used` is what has run, after a tool; `transcript` the file of the session, where the client keeps one.
    """

    what: What
    conversation: str
    workspace: str = ""
    source: str = ""
    turn: str = ""
    call: str = ""
    tool: str = ""
    capability: str = "unknown"
    path: str = ""
    used: Used | None = None
    transcript: str = ""


class Reply(msgspec.Struct, frozen=True):
    """What the client is told: text for the model, or the gate's `deny` or `ask` with its reason."""

    context: str = ""
    decision: str = ALLOW
    reason: str = ""


class Client(Protocol):
    """A client's side of the endpoint. `word` is its name on the command line, `name` the client of its sessions."""

    word: str
    name: str
    own_plan_mode: bool

    def read(self, sent: Sent) -> Report | None:
        """The event understood; None for one that names no conversation."""

    def write(self, sent: Sent, reply: Reply) -> Said:
        """What the hook prints; an empty object where there is nothing to say."""
