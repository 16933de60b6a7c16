"""What a model is told of its session."""

from __future__ import annotations

from typing import Final

from standfast.host import contexts
from standfast.host.operation import Operation, Tool

OPERATIONS: Final = (
    Operation(
        name="context.marker",
        summary="The marker, if it is due.",
        input=contexts.ShowContext,
        handler=contexts.marker,
    ),
    Operation(
        name="context.resume",
        summary="The resume view.",
        input=contexts.Resume,
        handler=contexts.resume,
        effect="read",
        tool=Tool(
            name="resume",
            group="resume",
            description="Where you stand: the approved plan, open tasks, next action. Call it after losing context.",
            text=lambda result: str(result["text"]),
            hidden=("session", "limit"),
            read_only=True,
        ),
    ),
    Operation(
        name="context.told",
        summary="Note that the model has a resume view.",
        input=contexts.Told,
        handler=contexts.told,
    ),
)
