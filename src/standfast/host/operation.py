"""What an operation is: one entry of the catalogue, from which every surface is derived.

HTTP routes, MCP tools, CLI commands, the OpenAPI document and the reference pages are made from these
entries; none of them knows an operation by itself.

Not here: the entries (`catalogue`), who may call them (`policy`), how a call runs (`door`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol

import msgspec

from standfast.domain.change import Actor, Change

if TYPE_CHECKING:
    from standfast.host.door import Host
    from standfast.host.work import Work

WAIT_LIMIT_SECONDS: Final = 50


class Input(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of every operation's input: named fields only, unknown ones refused."""


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """How an operation appears to a model. `hidden` inputs come from the transport, never from the model.

    `group` is the set of tools that it is offered with. `text` makes the answer's one text from the result.
    """

    name: str
    description: str
    text: Callable[[Mapping[str, Any]], str]
    read_only: bool = False
    group: str = "plan"
    hidden: tuple[str, ...] = ()


class Prepared(Protocol):
    """What was done outside the transaction (a file written, a path resolved), handed to the handler."""

    def settle(self, result: Mapping[str, Any] | None) -> None:
        """Called after the commit with the answer's result, or with None when nothing was committed."""


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """One operation. `effect` says whether it may write; `prepare` runs before the transaction.

    `verdict` operations keep their receipts for ever. `waiting` says on a snapshot whether a caller who
    sent `wait_seconds` should go on waiting (at most `WAIT_LIMIT_SECONDS`).
    `reveal` adds to an answer what must never be stored.
    """

    name: str
    summary: str
    input: type[Input]
    handler: Callable[[Work, Any], Change]
    effect: Literal["read", "write"] = "write"
    prepare: Callable[[Host, Any, Actor, str | None], Prepared] | None = None
    verdict: bool = False
    waiting: Callable[[Work, Any], bool] | None = None
    reveal: Callable[[Host, Mapping[str, Any]], Mapping[str, Any]] | None = None
    tool: Tool | None = None


class Answer(msgspec.Struct, frozen=True):
    """What a call gets: plain JSON values, the receipt's id (empty without a key), whether it was replayed."""

    result: Mapping[str, Any]
    receipt: str = ""
    replayed: bool = False
