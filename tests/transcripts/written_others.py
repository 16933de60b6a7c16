"""Builds synthetic transcripts of the clients whose sessions are chats, documents or folders; see `written`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.transcripts.written import Json, Todos, clock, lines


class GeminiChat:
    """A chat of Gemini CLI as JSON lines."""

    def __init__(self, session: str = "9e310000-0000-4000-8000-000000000001") -> None:
        self._now = clock()
        self._count = 0
        self.records: list[Json] = []
        self.session = session
        self.start()

    def data(self) -> bytes:
        """The file."""
        return lines(self.records)

    def document(self) -> bytes:
        """The same chat in the older form: one document, its messages as they are in the end."""
        newest: dict[str, Json] = {str(each["id"]): each for each in self.records if "id" in each}
        header = {"sessionId": self.session, "projectHash": "0" * 64, "messages": list(newest.values())}
        return json.dumps(header, indent=2).encode()

    def start(self) -> None:
        """A process begins: a header, and a context that holds only the preface."""
        now = self._now()
        self.records.append({"sessionId": self.session, "projectHash": "0" * 64, "startTime": now, "kind": "main"})
        preface = {"id": "preface", "timestamp": now, "type": "user", "content": [{"text": "<session_context>…"}]}
        self.records.append({"$set": {"messages": [preface], "lastUpdated": now}})

    def message(self, kind: str, text: str = "", **fields: object) -> Json:
        """A message."""
        self._count += 1
        record: Json = {"id": f"message-{self._count}", "timestamp": self._now(), "type": kind, "content": text}
        self.records.append(record | fields)
        return self.records[-1]

    def prompt(self, text: str = "go on") -> Json:
        """A person's message."""
        return self.message("user", text)

    def call(self, tool: str, arguments: Json, status: str = "success", answer: str = "ok") -> Json:
        """A message with a call: written first without it, then under the same id with it."""
        first = self.message("gemini")
        call = f"{tool}-{self._count}"
        response = {"functionResponse": {"id": call, "name": tool, "response": {"output": answer}}}
        done = {"id": call, "name": tool, "args": arguments, "status": status, "result": [response]}
        self.records.append(first | {"toolCalls": [done]})
        return self.records[-1]

    def write_todos(self, todos: Todos, status: str = "success") -> Json:
        """A call of the list tool."""
        rows = [{"description": text, "status": state} for text, state in todos]
        return self.call("write_todos", {"todos": rows}, status, "Successfully updated the todo list.")

    def replace(self, messages: list[Json]) -> None:
        """A new context."""
        self.records.append({"$set": {"messages": messages}})


class QwenChat:
    """A chat of Qwen Code that grows along one branch; `tip` is where the next record goes on."""

    def __init__(self) -> None:
        self._now = clock()
        self._count = 0
        self.records: list[Json] = []
        self.tip: str | None = None

    def data(self) -> bytes:
        """The file."""
        return lines(self.records)

    def add(self, kind: str, **fields: object) -> str:
        """A record; its id."""
        self._count += 1
        own = f"9e900000-{self._count:04}"
        outer = {
            "uuid": own,
            "parentUuid": self.tip,
            "sessionId": "9e90",
            "timestamp": self._now(),
            "version": "0.24.4",
        }
        self.records.append(outer | {"type": kind} | fields)
        self.tip = own
        return own

    def prompt(self, text: str = "go on") -> str:
        """A person's message."""
        return self.add("user", provenance="real_user", message={"role": "user", "parts": [{"text": text}]})

    def write_todos(self, todos: Todos, status: str = "success") -> str:
        """A call of the list tool with its result."""
        rows = [{"id": str(n), "content": text, "status": state} for n, (text, state) in enumerate(todos, 1)]
        call = f"call_{self._count}"
        part = {"functionCall": {"id": call, "name": "todo_write", "args": {"todos": rows}}}
        self.add("assistant", message={"role": "model", "parts": [part]})
        answer = {"functionResponse": {"id": call, "name": "todo_write", "response": {"output": "ok"}}}
        stored = {"callId": call, "status": status, "resultDisplay": {"type": "todo_list", "todos": rows}}
        return self.add("tool_result", message={"role": "user", "parts": [answer]}, toolCallResult=stored)

    def compress(self) -> str:
        """A compression."""
        return self.add("system", subtype="chat_compression", systemPayload={"compressedHistory": []})


class OpenCodeSession:
    """A session of OpenCode as an export."""

    def __init__(self, session: str = "ses_0001") -> None:
        self.info: Json = {"id": session, "version": "1.18.33", "directory": "/project", "time": {"created": 1}}
        self.messages: list[Json] = []

    def data(self) -> bytes:
        """The export."""
        return json.dumps({"info": self.info, "messages": self.messages}, indent=1).encode()

    def message(self, role: str, *parts: Json) -> str:
        """A message; its id."""
        own = f"msg_{len(self.messages) + 1:04}"
        info = {"id": own, "sessionID": self.info["id"], "role": role, "time": {"created": 1000 + len(self.messages)}}
        self.messages.append({"info": info, "parts": [part | {"messageID": own} for part in parts]})
        return own

    def prompt(self, text: str = "go on") -> str:
        """A person's message."""
        return self.message("user", {"type": "text", "text": text})

    def write_todos(self, todos: Todos, status: str = "completed", error: str | None = None) -> str:
        """A call of the list tool in any of its states."""
        rows = [{"content": text, "status": state, "priority": "medium"} for text, state in todos]
        state: Json = {"status": status, "input": {"todos": rows}, "time": {"start": 1, "end": 2}}
        if status == "completed":
            state |= {"output": json.dumps(rows), "metadata": {"todos": rows}}
        if error is not None:
            state["error"] = error
        call = f"call_{len(self.messages)}"
        return self.message("assistant", {"type": "tool", "tool": "todowrite", "callID": call, "state": state})

    def compact(self) -> str:
        """A compaction."""
        return self.message("user", {"type": "compaction", "auto": True})


class ChatSession:
    """Messages in the chat API's form, as Hermes and Mistral Vibe keep them."""

    def __init__(self, session: str = "20260101_000000_a1") -> None:
        self.session = session
        self.messages: list[Json] = []

    def add(self, role: str, content: str = "", **fields: object) -> Json:
        """A message."""
        number = len(self.messages) + 1
        message: Json = {"id": number, "role": role, "content": content, "timestamp": 1_000.0 + number}
        self.messages.append(message | fields)
        return self.messages[-1]

    def prompt(self, text: str = "go on") -> Json:
        """A person's message."""
        return self.add("user", text)

    def call(self, tool: str, arguments: object, answer: str | None, *, as_text: bool = False) -> None:
        """A call and its answer; `as_text`: the list of calls is JSON inside of a string."""
        call = f"call_{len(self.messages)}"
        calls = [{"id": call, "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}]
        self.add("assistant", tool_calls=json.dumps(calls) if as_text else calls)
        if answer is not None:
            self.add("tool", answer, tool_call_id=call, tool_name=tool)

    def todo(self, todos: Todos, tool: str = "todo", *, as_text: bool = False) -> None:
        """A call of Hermes' list tool, answered with the list."""
        rows = [{"id": str(n), "content": text, "status": state} for n, (text, state) in enumerate(todos, 1)]
        self.call(tool, {"todos": rows}, json.dumps({"todos": rows, "summary": {}}), as_text=as_text)

    def hermes(self, **session: object) -> Json:
        """The session as Hermes exports it."""
        own = {
            "id": self.session,
            "source": "cli",
            "parent_session_id": None,
            "started_at": 1_000.0,
            "end_reason": None,
        }
        return own | session | {"messages": self.messages}


class KiroSession:
    """A session of Kiro CLI as JSON lines."""

    def __init__(self) -> None:
        self.records: list[Json] = []

    def data(self) -> bytes:
        """The file."""
        return lines(self.records)

    def add(self, kind: str, *content: Json) -> None:
        """A line."""
        data = {
            "message_id": f"message-{len(self.records)}",
            "content": list(content),
            "meta": {"timestamp": 1_700_000_000},
        }
        self.records.append({"version": "v1", "kind": kind, "data": data})

    def todo(self, arguments: Json, tasks: list[Json] | None, status: str = "success") -> None:
        """A call of the list tool; without `tasks` the answer does not hold the list."""
        use = f"use-{len(self.records)}"
        self.add(
            "AssistantMessage", {"kind": "toolUse", "data": {"toolUseId": use, "name": "todo_list", "input": arguments}}
        )
        state = {"tasks": tasks, "description": "-", "id": "1"}
        text = "ok" if tasks is None else f"{STATE_MARK}{json.dumps(state)}\n\n ID: 1"
        result = {"toolUseId": use, "content": [{"kind": "text", "data": text}], "status": status}
        self.add("ToolResults", {"kind": "toolResult", "data": result})


STATE_MARK = "TO" + "DO LIST STATE: "


def opencode_storage(folder: Path, todos: Todos) -> Path:
    """OpenCode's older storage with one session that holds these."""
    session = OpenCodeSession()
    session.prompt()
    session.write_todos(todos)
    storage = folder / "storage"
    (storage / "session" / "project").mkdir(parents=True)
    (storage / "session" / "project" / "ses_0001.json").write_text(json.dumps(session.info))
    (storage / "message" / "ses_0001").mkdir(parents=True)
    for message in session.messages:
        info = message["info"]
        assert isinstance(info, dict)
        (storage / "message" / "ses_0001" / f"{info['id']}.json").write_text(json.dumps(info))
        (storage / "part" / info["id"]).mkdir(parents=True)
        parts = message["parts"]
        assert isinstance(parts, list)
        for number, part in enumerate(parts):
            (storage / "part" / info["id"] / f"prt_{number}.json").write_text(json.dumps(part))
    return storage
