"""Builds synthetic transcripts: each client's records in its own form, as small as the reader's facts need.

Nothing here is taken from a session of a person; ids and times count up.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

Json = dict[str, object]
Todos = list[tuple[str, str]]


def lines(records: Iterable[object]) -> bytes:
    """Records as JSON lines."""
    return b"".join(json.dumps(each, ensure_ascii=False).encode() + b"\n" for each in records)


def save(folder: Path, data: bytes, name: str = "session.jsonl") -> Path:
    """A file of these bytes."""
    path = folder / name
    path.write_bytes(data)
    return path


def clock() -> Callable[[], str]:
    """Times that count up by a second."""
    seconds = iter(range(100_000))

    def now() -> str:
        second = next(seconds)
        return f"2026-01-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.000Z"

    return now


class ClaudeSession:
    """A session of Claude Code that grows record by record along one branch; `tip` is where the next one goes on."""

    def __init__(self, session: str = "c1a0de00-0000-4000-8000-000000000001", version: str = "2.1.300") -> None:
        self.records: list[Json] = []
        self.session, self.version = session, version
        self.tip: str | None = None
        self.agent: str | None = None
        self._now = clock()
        self._count = 0

    def data(self) -> bytes:
        """The file."""
        return lines(self.records)

    def add(self, kind: str, **fields: object) -> str:
        """A record of the tree after the tip; its id."""
        self._count += 1
        own = f"u-{self.session[-4:]}-{self._count:05}"
        record: Json = {
            "parentUuid": self.tip,
            "isSidechain": self.agent is not None,
            "type": kind,
            "uuid": own,
            "timestamp": self._now(),
            "sessionId": self.session,
            "version": self.version,
            "cwd": "/project",
        }
        if self.agent is not None:
            record["agentId"] = self.agent
        self.records.append(record | fields)
        self.tip = own
        return own

    def prompt(self, text: str = "go on", **fields: object) -> str:
        """A person's message."""
        return self.add("user", message={"role": "user", "content": text}, **fields)

    def say(self, text: str = "done") -> str:
        """The model's text."""
        return self.add(
            "assistant",
            message={"id": f"msg_{self._count}", "role": "assistant", "content": [{"type": "text", "text": text}]},
        )

    def call(self, tool: str, arguments: object, group: str | None = None) -> str:
        """A tool call; its call id."""
        call = f"toolu_{self._count:05}_{self.session[-4:]}"
        block = {"type": "tool_use", "id": call, "name": tool, "input": arguments}
        group = group or f"msg_{self._count}"
        self.add("assistant", message={"id": group, "role": "assistant", "content": [block]})
        return call

    def result(self, call: str, text: str, details: object = None, *, error: bool = False) -> str:
        """The result of a call."""
        block: Json = {"tool_use_id": call, "type": "tool_result", "content": text}
        if error:
            block["is_error"] = True
        return self.add("user", message={"role": "user", "content": [block]}, toolUseResult=details or text)

    def todo_write(self, todos: Todos) -> str:
        """A successful TodoWrite."""
        rows = [{"content": content, "status": status, "activeForm": content} for content, status in todos]
        call = self.call("TodoWrite", {"todos": rows})
        return self.result(call, "Todos have been modified successfully.", {"oldTodos": [], "newTodos": rows})

    def task_create(self, number: int, subject: str) -> str:
        """A successful TaskCreate."""
        call = self.call("TaskCreate", {"subject": subject, "description": "-"})
        text = f"Task #{number} created successfully: {subject}"
        return self.result(call, text, {"task": {"id": str(number), "subject": subject}})

    def task_update(self, number: int, **changes: object) -> str:
        """A successful TaskUpdate."""
        call = self.call("TaskUpdate", {"taskId": str(number), **changes})
        said = {"success": True, "taskId": str(number), "updatedFields": list(changes)}
        return self.result(call, f"Updated task #{number} {', '.join(changes)}", said)

    def task_list(self, rows: list[Json]) -> str:
        """A successful TaskList."""
        call = self.call("TaskList", {})
        text = "\n".join(f"#{row['id']} [{row['status']}] {row['subject']}" for row in rows)
        return self.result(call, text or "No tasks found", {"tasks": rows})

    def compact(self, trigger: str = "auto") -> str:
        """A compaction: a boundary that begins a new root, and its summary."""
        logical, self.tip = self.tip, None
        self.add("system", subtype="compact_boundary", logicalParentUuid=logical, compactMetadata={"trigger": trigger})
        return self.add(
            "user",
            message={"role": "user", "content": "Summary."},
            isCompactSummary=True,
            isVisibleInTranscriptOnly=True,
        )


class CodexSession:
    """A rollout of Codex."""

    def __init__(self, session: str = "c0de0000-0000-7000-8000-000000000001", **meta: object) -> None:
        self.records: list[Json] = []
        self.session = session
        self._now = clock()
        self._count = 0
        self.add("session_meta", {"id": session, "cwd": "/project", "cli_version": "0.171.0", **meta})

    def data(self) -> bytes:
        """The file."""
        return lines(self.records)

    def add(self, kind: str, payload: Json) -> None:
        """One record."""
        self.records.append({"timestamp": self._now(), "type": kind, "payload": payload})

    def event(self, kind: str, **fields: object) -> None:
        """An `event_msg`."""
        self.add("event_msg", {"type": kind, **fields})

    def begin(self, text: str = "go on", mode: str = "default") -> str:
        """A turn up to its prompt; the turn's id."""
        self._count += 1
        turn = f"turn-{self._count}"
        self.event("task_started", turn_id=turn)
        self.add("turn_context", {"turn_id": turn, "collaboration_mode": {"mode": mode}})
        content = [{"type": "input_text", "text": text}]
        self.add("response_item", {"type": "message", "role": "user", "content": content})
        return turn

    def end(self, turn: str) -> None:
        """The turn's end."""
        self.event("task_complete", turn_id=turn)

    def call(self, tool: str, arguments: object) -> str:
        """A call without an output yet; its id."""
        self._count += 1
        call = f"call_{self._count}"
        given = json.dumps(arguments)
        self.add("response_item", {"type": "function_call", "name": tool, "arguments": given, "call_id": call})
        return call

    def output(self, call: str, text: object) -> None:
        """The output of a call."""
        self.add("response_item", {"type": "function_call_output", "call_id": call, "output": text})

    def update_plan(self, plan: Todos, explanation: str | None = None) -> None:
        """A successful plan update."""
        given: Json = {"plan": [{"step": step, "status": status} for step, status in plan]}
        if explanation is not None:
            given["explanation"] = explanation
        self.output(self.call("update_plan", given), "Plan updated")

    def turn(self, plan: Todos, mode: str = "default") -> None:
        """A whole turn that writes a plan."""
        turn = self.begin(mode=mode)
        self.update_plan(plan)
        self.end(turn)

    def compact(self) -> None:
        """A compaction."""
        self.add("compacted", {"message": "Summary.", "replacement_history": []})
        self.event("context_compacted")


class PiSession:
    """A session of Pi that grows along one branch; `tip` is where the next entry goes on."""

    def __init__(self, version: int | None = 3, **header: object) -> None:
        first: Json = {"type": "session", "id": "01a22d0f-0000-7000-8000-000000000001", "cwd": "/project", **header}
        if version is not None:
            first["version"] = version
        self.records: list[Json] = [first]
        self.version = version
        self.tip: str | None = None
        self._now = clock()
        self._count = 0
        self._items: list[Json] = []

    def data(self) -> bytes:
        """The file."""
        return lines(self.records)

    def add(self, kind: str, **fields: object) -> str:
        """An entry after the tip; its id."""
        self._count += 1
        own = f"{self._count:08x}"
        tree = {} if (self.version or 1) < 2 else {"id": own, "parentId": self.tip}
        self.records.append({"type": kind, **tree, "timestamp": self._now(), **fields})
        self.tip = own
        return own

    def prompt(self, text: str = "go on") -> str:
        """A person's message."""
        return self.add("message", message={"role": "user", "content": [{"type": "text", "text": text}]})

    def todo(self, todos: list[Json], action: str = "add", error: str | None = None) -> str:
        """A call of the example extension's tool with its result; the result's id."""
        call = f"call_{self._count}"
        block = {"type": "toolCall", "id": call, "name": "todo", "arguments": {"action": action}}
        self.add("message", message={"role": "assistant", "content": [block]})
        details: Json = {"action": action, "todos": todos, "nextId": len(todos) + 1}
        if error is not None:
            details["error"] = error
        return self.add(
            "message",
            message={
                "role": "toolResult",
                "toolCallId": call,
                "toolName": "todo",
                "content": [{"type": "text", "text": error or "ok"}],
                "details": details,
                "isError": False,
            },
        )

    def compact(self) -> str:
        """A compaction."""
        return self.add("compaction", summary="Summary.", firstKeptEntryId="00000001", tokensBefore=1)
