"""Codex's rollouts: JSON lines in order, `{timestamp, type, payload}`; before September 2025 bare response items.

There is no tree. A rollback is an event that takes the newest turns of the user away, a resume appends to the file, and
a fork is a new file whose first header is its own; a header that comes later belongs to copied history. Newer forks and
paginated histories may point to another file (`rollout_reference`). A call is applied when its output says so: plan
updates are confirmed by `Plan updated`, and every other text is a refusal.

Checked against openai/codex up to 0.171 (`codex-rs/protocol`, `core/src/session/rollout_reconstruction.rs`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import msgspec

from standfast.transcripts.entries import Call, Entry, Part, Record, Result
from standfast.transcripts.events import (
    AssistantMessage,
    Compaction,
    ModeSeen,
    Place,
    PlanText,
    Problem,
    RolledBack,
    SessionHeader,
    TurnAborted,
    TurnEnded,
    TurnStarted,
    UserMessage,
)
from standfast.transcripts.formats.shared import (
    BYTES_LIMIT,
    arguments,
    clipped,
    content_text,
    shape_problem,
    time_text,
    with_time,
)
from standfast.transcripts.texts import Loose, absent, load, string, value

_CALLS: Final = {"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"}
_OUTPUTS: Final = {"function_call_output", "custom_tool_call_output", "tool_search_output"}
_CONTEXT: Final = (
    "<environment_context>",
    "<user_instructions>",
    "<turn_aborted>",
    "<skill>",
    "<user_shell_command>",
    "<subagent_notification>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<skills_instructions>",
    "<hook_prompt",
    "# AGENTS.md instructions for ",
)
_REFUSALS: Final = (
    "failed to parse function arguments",
    "unsupported call",
    "err:",
    "error:",
    "aborted",
    "update_plan is a ",
    "exec_command failed",
)


class _Line(msgspec.Struct):
    type: Loose = None
    timestamp: Loose = None
    record_type: Loose = None
    payload: msgspec.Raw = msgspec.field(default_factory=absent)


class _Item(msgspec.Struct):
    type: Loose = None
    role: Loose = None
    name: Loose = None
    namespace: Loose = None
    call_id: Loose = None
    id: Loose = None
    content: msgspec.Raw = msgspec.field(default_factory=absent)
    arguments: msgspec.Raw = msgspec.field(default_factory=absent)
    input: msgspec.Raw = msgspec.field(default_factory=absent)
    action: msgspec.Raw = msgspec.field(default_factory=absent)
    output: msgspec.Raw = msgspec.field(default_factory=absent)


class _Meta(msgspec.Struct, rename={"parent": "parent_thread_id"}):
    id: Loose = None
    session_id: Loose = None
    cwd: Loose = None
    cli_version: Loose = None
    forked_from_id: Loose = None
    parent: Loose = None
    source: msgspec.Raw = msgspec.field(default_factory=absent)


class _Event(msgspec.Struct):
    type: Loose = None
    turn_id: Loose = None
    reason: Loose = None
    num_turns: Loose = None
    item: msgspec.Raw = msgspec.field(default_factory=absent)


class _Context(msgspec.Struct):
    turn_id: Loose = None
    collaboration_mode: msgspec.Raw = msgspec.field(default_factory=absent)


class _Mode(msgspec.Struct):
    mode: Loose = None


class _Plan(msgspec.Struct):
    type: Loose = None
    text: Loose = None


class _Output(msgspec.Struct):
    content: msgspec.Raw = msgspec.field(default_factory=absent)
    success: Loose = None


class _Spawn(msgspec.Struct, rename={"parent": "parent_thread_id"}):
    parent: Loose = None


class _Subagent(msgspec.Struct):
    thread_spawn: _Spawn | None = None


class _Source(msgspec.Struct):
    subagent: msgspec.Raw = msgspec.field(default_factory=absent)


class Codex:
    """Reader of Codex's records."""

    name = "codex"

    def entry(self, record: Record) -> Entry | None:
        """What a record says."""
        line = load(record.data, _Line)
        if line is None:
            return shape_problem(record.place, "a Codex record")
        place = with_time(record.place, time_text(line.timestamp))
        bare = line.type not in _PARTS and bytes(memoryview(line.payload)[:1]) != b"{"
        if bare:
            return self._bare(record, line, place)
        read = _PARTS.get(str(line.type))
        parts = read(line.payload, place) if read is not None else []
        if parts is None:
            return shape_problem(place, f"a {line.type} record of Codex")
        return Entry(place, parts) if parts else None

    def _bare(self, record: Record, line: _Line, place: Place) -> Entry | None:
        """A record of an old rollout, which has no wrapper: a header without a type, or a response item."""
        if line.record_type is not None or line.type == "ghost_snapshot":
            return None
        if line.type is None:
            parts = _header(record.data, place)
            return Entry(place, parts) if parts else None
        parts = _item(record.data, place)
        return Entry(place, parts) if parts else None


def _header(data: bytes | msgspec.Raw, place: Place) -> list[Part] | None:
    meta = load(data, _Meta)
    if meta is None:
        return None
    source = load(meta.source, _Source) or _Source()
    spawned = load(source.subagent, _Subagent) or _Subagent()
    spawner = string(spawned.thread_spawn.parent) if spawned.thread_spawn else None
    parent = string(meta.forked_from_id) or spawner or string(meta.parent)
    own = string(meta.id) or string(meta.session_id)
    if own is None:
        return []
    return [SessionHeader(place, own, string(meta.cli_version), string(meta.cwd), parent)]


def _item(data: bytes | msgspec.Raw, place: Place) -> list[Part] | None:
    item = load(data, _Item)
    if item is None:
        return None
    if item.type == "message":
        return _message(item, place)
    if item.type in _CALLS:
        raw = next((each for each in (item.arguments, item.input, item.action) if bytes(each) != b"null"), absent())
        name = string(item.name) or str(item.type).removesuffix("_call")
        tool = f"{item.namespace}__{name}" if string(item.namespace) else name
        return [Call(place, string(item.call_id) or string(item.id), tool, arguments(raw))]
    if item.type in _OUTPUTS:
        return [_result(item, place)]
    return []


def _message(item: _Item, place: Place) -> list[Part]:
    text = content_text(item.content)
    if item.role == "assistant":
        return [AssistantMessage(place, text)]
    if item.role != "user":
        return []
    return [UserMessage(place, text, prompt=not text.lstrip().startswith(_CONTEXT))]


def _result(item: _Item, place: Place) -> Result:
    """An output: a text, a list of content items, or an object with the text and whether it succeeded."""
    raw = item.output
    succeeded: Loose = None
    wrapped = load(raw, _Output)
    if wrapped is not None:
        raw, succeeded = wrapped.content, wrapped.success
    text = content_text(raw)
    inner = value(text.encode()) if text.startswith('{"output"') and len(text) < BYTES_LIMIT else None
    if isinstance(inner, dict) and isinstance(inner.get("output"), str):
        text = clipped(inner["output"])
    return Result(place, string(item.call_id), _outcome(text, succeeded), text)


def _outcome(text: str, succeeded: Loose) -> Literal["success", "failure", "rejected"]:
    low = text[:200].lower().lstrip()
    if low.startswith(("aborted by user", "rejected by user", "exec command rejected by user", "user rejected")):
        return "rejected"
    return "failure" if succeeded is False or low.startswith(_REFUSALS) else "success"


def _event(data: msgspec.Raw, place: Place) -> list[Part] | None:
    event = load(data, _Event)
    if event is None:
        return None
    turn = string(event.turn_id)
    match event.type:
        case "task_started" | "turn_started":
            return [TurnStarted(place, turn)]
        case "task_complete" | "turn_complete":
            return [TurnEnded(place, turn)]
        case "turn_aborted":
            return [TurnAborted(place, turn, string(event.reason) or "")]
        case "thread_rolled_back":
            turns = event.num_turns
            if isinstance(turns, bool) or not isinstance(turns, int) or turns < 0:
                return [Problem(place, "unexpected_shape", "a rollback that names no number of turns")]
            return [RolledBack(place, turns)]
        case "item_completed":
            plan = load(event.item, _Plan)
            if plan is not None and plan.type == "Plan" and isinstance(plan.text, str):
                return [PlanText(place, clipped(plan.text))]
        case _:
            pass
    return []


def _context(data: msgspec.Raw, place: Place) -> list[Part] | None:
    context = load(data, _Context)
    if context is None:
        return None
    mode = load(context.collaboration_mode, _Mode)
    name = string(mode.mode) if mode is not None else load(context.collaboration_mode, str)
    return [ModeSeen(place, name)] if name else []


def _compacted(data: msgspec.Raw, place: Place) -> list[Part] | None:
    return [Compaction(place)]


def _reference(data: msgspec.Raw, place: Place) -> list[Part] | None:
    return [Problem(place, "history_elsewhere", "earlier history is in another rollout")]


def _nothing(data: msgspec.Raw, place: Place) -> list[Part] | None:
    return []


_PARTS: Final[dict[str, Callable[[msgspec.Raw, Place], list[Part] | None]]] = {
    "session_meta": _header,
    "response_item": _item,
    "event_msg": _event,
    "turn_context": _context,
    "compacted": _compacted,
    "rollout_reference": _reference,
    "world_state": _nothing,
    "token_usage_record": _nothing,
}
