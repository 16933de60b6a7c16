"""Which client wrote a file, by what stands in it; names and suffixes say nothing.

The first records are looked at in order until one is decisive. A file that is one JSON document is told from JSON lines
by its first line, which is no whole JSON text then, or has the document's keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final, Literal

import msgspec

from standfast.transcripts import lines
from standfast.transcripts.texts import Flaw, load, string, texts, value

LOOKED_AT: Final = 60
"""Records that are looked at."""

HEAD: Final = 8 * 1024 * 1024
"""Bytes that are looked at, at least one line."""

Kind = Literal["lines", "document", "database", "unknown"]
Keys = dict[str, msgspec.Raw]

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
    for keys in _heads(file):
        found = of_record(keys)
        if found:
            return Verdict("lines", found)
        found = of_document(keys)
        if found:
            return Verdict("document", found)
    return Verdict("unknown")


def _heads(file: BinaryIO) -> Iterator[Keys]:
    """The keys of the first records."""
    seen = 0
    for line in lines.forwards(file, 0, lines.size_of(file)):
        if seen >= LOOKED_AT or (seen and line.byte > HEAD):
            return
        seen += 1
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
    return ""


def _claude_or_qwen(keys: Keys) -> str:
    """The two share their outer fields; a message of Qwen has `parts`, one of Claude Code has `content`."""
    if "systemPayload" in keys or "provenance" in keys or _string(keys, "type") == "tool_result":
        return "qwen"
    message = load(keys["message"], Keys) if "message" in keys else None
    return "qwen" if message is not None and "parts" in message else "claude"


def of_document(keys: Keys) -> str:
    """The client of one JSON document; "" where it is none."""
    return ""


def _string(keys: Keys, name: str) -> str | None:
    return string(value(keys[name])) if name in keys else None
