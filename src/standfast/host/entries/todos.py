"""Todo lists."""

from __future__ import annotations

from typing import Final

from standfast.host import todos
from standfast.host.operation import Operation, Tool

OPERATIONS: Final = (
    Operation(
        name="todo.write",
        summary="Write the todo list, whole or in part.",
        input=todos.WriteTodos,
        handler=todos.write,
        tool=Tool(
            name="todo_write",
            description="Your working list, whole; merge=true changes items by id. One in_progress at a time.",
            text=todos.written_text,
            group="todos",
            hidden=("session", "agent"),
        ),
    ),
    Operation(
        name="todo.read",
        summary="Show the todo lists.",
        input=todos.ReadTodos,
        handler=todos.read,
        effect="read",
        tool=Tool(
            name="todo_read",
            description="Your open todos.",
            text=todos.read_text,
            group="todos",
            read_only=True,
            hidden=("session", "agent", "source"),
        ),
    ),
    Operation(
        name="todo.capture",
        summary="Keep a list of a client's own tool.",
        input=todos.CaptureTodos,
        handler=todos.capture,
    ),
)
