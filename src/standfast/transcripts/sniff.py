"""Which client wrote a file, by what stands in it; names and suffixes say nothing.

The first records are looked at in order until one is decisive. A file that is one JSON document is told from JSON lines
by its first line, which is no whole JSON text then, or has the document's keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from typing import BinaryIO, Final, Literal

import msgspec

from standfast.transcripts import lines
from standfast.transcripts.texts import Flaw, load, string, texts, value

LOOKED_AT: Final = 60
"""Records that are looked at."""

HEAD: Final = 8 * 1024 * 1024
"""Bytes that are looked at, at least one line."""

DOCUMENT_LIMIT: Final = 128 * 1024 * 1024
"""Bytes of one JSON document that is read."""

Kind = Literal["lines", "sessions", "document", "database", "storage", "unknown"]
Keys = dict[str, msgspec.Raw]

NAMES_WITHIN: Final = 64 * 1024
"""Bytes at the beginning of a broken document in which its names are looked for."""

_NAME: Final = re.compile(rb'"([A-Za-z_]{2,40})"\s*:')
_KIRO: Final = {"Prompt", "AssistantMessage", "ToolResults"}
_ROLES: Final = {"user", "assistant", "tool", "system"}
_COMPRESSED: Final = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"PK\x03\x04": "zip",
}
_CODEX: Final = {"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
_CODEX_BARE: Final = {"message", "reasoning", "function_call", "function_call_output", "local_shell_call"}
_PI: Final = {
    "message",
    "model_change",
    "thinking_level_change",
    "compaction",
    "branch_summary",
    "custom_message",
    "session_info",
}
_CLAUDE: Final = {
    "user", "assistant", "system", "summary", "progress", "attachment", "queue-operation", "file-history-snapshot",
}  # fmt: skip


class Verdict(msgspec.Struct, frozen=True):
    """What a file is. `format` is a client's name, or "" where nothing is known; `why` says what was seen instead."""

    kind: Kind
    format: str = ""
    why: str = ""


def sniff(file: BinaryIO) -> Verdict:
    """What an opened file is."""
    file.seek(0)
    magic = file.read(16)
    if magic.startswith(b"SQLite format 3\x00"):
        return Verdict("database")
    for mark, name in _COMPRESSED.items():
        if magic.startswith(mark):
            return Verdict("unknown", why=name)
    first = _first(file)
    if first is None or of_document(first.keys()) or not of_record(first):
        # A document may hold lines that look like records; records never look like a document's beginning.
        found = of_document(first.keys() if first is not None else _document_names(file))
        if found:
            return Verdict("sessions" if found == "hermes" else "document", found)
    return next((Verdict("lines", found) for keys in _heads(file) if (found := of_record(keys))), Verdict("unknown"))


def _first(file: BinaryIO) -> Keys | None:
    """The first line as an object; None where it is none."""
    return next(_heads(file, only_first=True), None)


def _document_names(file: BinaryIO) -> set[str]:
    """The names at the top of a document that spans lines; of one that breaks off, the names near its beginning."""
    size = lines.size_of(file)
    file.seek(0)
    head = file.read(NAMES_WITHIN)
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"{", b"[")) or size > DOCUMENT_LIMIT:
        return set()
    data = head + file.read()
    keys = load(data, Keys)
    if keys is not None:
        return set(keys)
    contents = load(data, list[Keys])
    if contents is not None:
        return {"[]", *(name for each in contents[:LOOKED_AT] for name in each)}
    return {name.decode() for name in _NAME.findall(head)}


def _heads(file: BinaryIO, *, only_first: bool = False) -> Iterator[Keys]:
    """The keys of the first records."""
    seen = 0
    for line in lines.forwards(file, 0, lines.size_of(file)):
        if seen >= LOOKED_AT or (seen and line.byte > HEAD):
            return
        if only_first and seen:
            return
        seen += bool(line.length)
        if line.data is None:
            continue
        for text in texts(line.data):
            if not isinstance(text, Flaw):
                keys = load(text.data, Keys)
                if keys is not None:
                    yield keys


def of_record(keys: Keys) -> str:
    """The client of one record of JSON lines; "" where it could be several, or none."""
    kind = _string(keys, "type")
    if "payload" in keys and kind in _CODEX:
        return "codex"
    if kind == "session" and "id" in keys and keys.keys() & {"cwd", "version", "provider", "parentSession"}:
        return "pi"
    if kind in _PI and {"id", "parentId"} <= keys.keys():
        return "pi"
    if "sessionId" in keys and "uuid" in keys:
        return _claude_or_qwen(keys)
    if kind in _CLAUDE and keys.keys() & {"sessionId", "uuid", "leafUuid", "messageId"}:
        return _claude_or_qwen(keys)
    if kind in _CODEX_BARE and keys.keys() & {"role", "call_id", "encrypted_content", "summary"}:
        return "codex"
    if "record_type" in keys or ("instructions" in keys and {"id", "timestamp"} <= keys.keys()):
        return "codex"
    return _by_shape(keys, kind)


def _by_shape(keys: Keys, kind: str | None) -> str:
    """The clients whose records carry no type of their own."""
    if keys.keys() & {"$set", "$rewindTo"} or {"sessionId", "projectHash"} <= keys.keys():
        return "gemini"
    if kind in {"user", "gemini"} and {"id", "content"} <= keys.keys():
        return "gemini"
    if _string(keys, "kind") in _KIRO and "data" in keys:
        return "kiro"
    if _string(keys, "role") in _ROLES and keys.keys() & {"content", "tool_calls"}:
        return "vibe"
    return ""


def _claude_or_qwen(keys: Keys) -> str:
    """The two share their outer fields; a message of Qwen has `parts`, one of Claude Code has `content`."""
    if "systemPayload" in keys or "provenance" in keys or _string(keys, "type") == "tool_result":
        return "qwen"
    message = load(keys["message"], Keys) if "message" in keys else None
    return "qwen" if message is not None and "parts" in message else "claude"


def of_document(names: Set[str]) -> str:
    """The client of one JSON document, by the names at its top; "" where it is none."""
    if {"info", "messages"} <= names:
        return "opencode"
    if {"sessionId", "messages"} <= names or ({"[]", "role", "parts"} <= names):
        return "gemini"
    if {"metadata", "messages"} <= names:
        return "vibe"
    if {"conversation_id", "history"} <= names:
        return "kiro"
    if "messages" in names and names & {"id", "session_id"} and names & {"source", "started_at", "system_prompt"}:
        return "hermes"
    return "gemini" if names and names <= {"history", "authType"} else ""


def _string(keys: Keys, name: str) -> str | None:
    return string(value(keys[name])) if name in keys else None
