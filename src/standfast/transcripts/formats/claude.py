"""Claude Code's session files: JSON lines that form a tree by `uuid` and `parentUuid`.

Every record but a few kinds takes part in the tree, also attachments and progress; a branch ends only at a message.
One message of the model spans several lines with one `message.id`, and parallel results hang off their own calls, so
a call belongs to a branch by its message and a result by its call. Compaction writes a root with `logicalParentUuid`,
and messages that it kept may follow it once more under their own ids.
A subagent's records are marked `isSidechain`, in the same file (older) or in one of their own, and name an `agentId`.

Checked against files of Claude Code 1.0 to 2.1.332. The kinds of records that are not named here change often and say
nothing about lists or plans.
"""

from __future__ import annotations

from typing import Final

import msgspec

from standfast.transcripts.entries import Call, Entry, Node, Part, Record, Result, one
from standfast.transcripts.events import (
    MAIN,
    SIDECHAIN,
    AssistantMessage,
    Compaction,
    ModeSeen,
    Place,
    SessionHeader,
    TurnAborted,
    UserMessage,
)
from standfast.transcripts.formats.shared import (
    anything,
    clipped,
    content_text,
    shape_problem,
    stored,
    time_text,
    with_time,
)
from standfast.transcripts.texts import Loose, absent, load, string, value

_MESSAGES: Final = {"user", "assistant"}
_REFUSED: Final = (
    "doesn't want to proceed with this tool use",
    "doesn't want to take this action right now",
    "user rejected",
    "request interrupted by user for tool use",
)
_INTERRUPTED: Final = "[Request interrupted by user"
_NOT_A_PROMPT: Final = ("<command-", "<local-command-", "<system-reminder>", "<task-notification>", "Caveat:")


class _Line(msgspec.Struct, rename="camel"):
    type: Loose = None
    subtype: Loose = None
    uuid: Loose = None
    parent_uuid: Loose = None
    logical_parent_uuid: Loose = None
    is_sidechain: Loose = None
    is_meta: Loose = None
    is_compact_summary: Loose = None
    agent_id: Loose = None
    session_id: Loose = None
    version: Loose = None
    cwd: Loose = None
    timestamp: Loose = None
    permission_mode: Loose = None
    message: msgspec.Raw = msgspec.field(default_factory=absent)
    tool_use_result: msgspec.Raw = msgspec.field(default_factory=absent)
    compact_metadata: msgspec.Raw = msgspec.field(default_factory=absent)
    forked_from: msgspec.Raw = msgspec.field(default_factory=absent)


class _Message(msgspec.Struct):
    id: Loose = None
    role: Loose = None
    content: msgspec.Raw = msgspec.field(default_factory=absent)


class _Block(msgspec.Struct):
    type: Loose = None
    id: Loose = None
    name: Loose = None
    text: Loose = None
    tool_use_id: Loose = None
    is_error: Loose = None
    input: msgspec.Raw = msgspec.field(default_factory=absent)
    content: msgspec.Raw = msgspec.field(default_factory=absent)


class _Kept(msgspec.Struct):
    uuids: list[Loose] = []


class _Metadata(msgspec.Struct, rename="camel"):
    trigger: Loose = None
    preserved_messages: _Kept | None = None


class _Fork(msgspec.Struct, rename="camel"):
    session_id: Loose = None


class Claude:
    """Reader of Claude Code's records."""

    name = "claude"

    def entry(self, record: Record) -> Entry | None:
        """What a record says."""
        line = load(record.data, _Line)
        if line is None:
            return shape_problem(record.place, "a Claude Code record")
        place = with_time(record.place, time_text(line.timestamp))
        agent = (string(line.agent_id) or SIDECHAIN) if line.is_sidechain is True else MAIN
        entry = Entry(place, [], _node(line), agent)
        if string(line.session_id) and line.type in {*_MESSAGES, "system", "attachment"}:
            entry.parts.append(_header(line, place, agent))
        match line.type:
            case "user" | "assistant":
                return self._message(line, entry)
            case "system" if line.subtype == "compact_boundary":
                metadata = load(line.compact_metadata, _Metadata) or _Metadata()
                entry.parts.append(Compaction(place, string(metadata.trigger) or "", agent))
            case _:
                pass
        return anything([], entry)

    def _message(self, line: _Line, entry: Entry) -> Entry:
        message = load(line.message, _Message)
        if message is None:
            return shape_problem(entry.place, "a message of Claude Code")
        if entry.node is not None:
            group = string(message.id) if line.type == "assistant" else None
            entry.node = msgspec.structs.replace(entry.node, group=group)
        if line.is_compact_summary is True:
            # Before compaction had a boundary record of its own, its summary began a new root.
            if entry.node is not None and not entry.node.parents:
                entry.parts.append(Compaction(entry.place, "", entry.agent))
            return entry
        mode = string(line.permission_mode)
        if mode is not None and line.type == "user":
            entry.parts.append(ModeSeen(entry.place, mode))
        if _is_text(message.content):
            entry.parts.append(_said(line, entry, content_text(message.content)))
            return entry
        for block in load(message.content, list[_Block]) or []:
            part = _part(line, entry, message, block)
            if part is not None:
                entry.parts.append(part)
        return entry


def _is_text(raw: msgspec.Raw) -> bool:
    return bytes(memoryview(raw)[:1]) == b'"'


def _node(line: _Line) -> Node | None:
    """A record's place in the tree. Records without `uuid` have none."""
    own = string(line.uuid)
    if own is None:
        return None
    seam = line.type == "system" and line.subtype == "compact_boundary"
    parents = one(string(line.parent_uuid) or string(line.logical_parent_uuid))
    if seam:
        # Messages that were kept may be written anew after the boundary, the logical parent among them.
        kept = (load(line.compact_metadata, _Metadata) or _Metadata()).preserved_messages
        parents += tuple(name for each in (kept.uuids if kept is not None else []) if (name := string(each)))
    tip = line.type in _MESSAGES or seam
    return Node(own, parents, tip, onward=seam or line.is_compact_summary is True)


def _header(line: _Line, place: Place, agent: str) -> SessionHeader:
    fork = load(line.forked_from, _Fork) or _Fork()
    return SessionHeader(
        place, string(line.session_id), string(line.version), string(line.cwd), string(fork.session_id), agent
    )


def _part(line: _Line, entry: Entry, message: _Message, block: _Block) -> Part | None:
    match block.type:
        case "tool_use" if line.type == "assistant" and isinstance(block.name, str):
            return Call(entry.place, string(block.id), block.name, value(block.input), entry.agent, string(message.id))
        case "tool_result" if line.type == "user":
            return _result(line, entry, block)
        case "text" if isinstance(block.text, str):
            return _said(line, entry, clipped(block.text))
        case _:
            return None


def _result(line: _Line, entry: Entry, block: _Block) -> Result:
    answer = content_text(block.content)
    low = answer[:400].lower()
    refused = block.is_error is True and any(words in low for words in _REFUSED)
    return Result(
        entry.place,
        string(block.tool_use_id),
        "rejected" if refused else "failure" if block.is_error is True else "success",
        answer,
        stored(line.tool_use_result),
        agent=entry.agent,
    )


def _said(line: _Line, entry: Entry, text: str) -> Part:
    if line.type == "assistant":
        return AssistantMessage(entry.place, text, entry.agent)
    if text.startswith(_INTERRUPTED):
        return TurnAborted(entry.place, None, text[:80], entry.agent)
    prompt = line.is_meta is not True and not text.startswith(_NOT_A_PROMPT)
    return UserMessage(entry.place, text, prompt, entry.agent)
