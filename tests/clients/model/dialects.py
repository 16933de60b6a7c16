"""The providers' protocols: what a request offers and says, and how a reply is written, whole and streamed.

Messages (Anthropic), Responses and chat completions (OpenAI), generateContent (Gemini). Only what today's clients
use of them; every reply has its own id.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.clients.model.script import Offered, Resolved, Say

Body = Mapping[str, Any]
Events = Iterator[tuple[str, Any]]
Facts = tuple[tuple[Offered, ...], str, str]
"""The tools on offer, the system prompt, and as JSON text what came after the last reply."""


@dataclass(frozen=True)
class Dialect:
    """One protocol."""

    name: str
    facts: Callable[[Body], Facts]
    answer: Callable[[Body, Say, Sequence[Resolved]], tuple[Any, Events]]

    def streams(self, path: str, body: Body) -> bool:
        """Whether the client wants a stream."""
        return path.endswith(":streamGenerateContent") if self.name == "gemini" else bool(body.get("stream"))


def of(path: str) -> Dialect | None:
    """The protocol of a path; `COUNT` where tokens are to be counted."""
    if path.endswith(("/count_tokens", ":countTokens")):
        return COUNT
    for ending, dialect in _PATHS.items():
        if path.endswith(ending):
            return dialect
    return None


def plain(content: Any) -> str:
    """The text of any protocol's content."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, Mapping):
        return plain(content.get("parts") or content.get("text") or content.get("content"))
    return "\n".join(plain(each) for each in content)


def _after_last(items: Any, mine: Callable[[Mapping[str, Any]], bool]) -> str:
    if not isinstance(items, list):
        return json.dumps(items)
    last = max((n for n, item in enumerate(items) if isinstance(item, Mapping) and mine(item)), default=-1)
    return json.dumps(items[last + 1 :], ensure_ascii=False)


# Anthropic


def _anthropic_facts(body: Body) -> Facts:
    tools = tuple(Offered(str(tool.get("name") or tool.get("type"))) for tool in body.get("tools") or ())
    newest = _after_last(body.get("messages"), lambda item: item.get("role") == "assistant")
    return tools, plain(body.get("system")), newest


def _anthropic(body: Body, say: Say, calls: Sequence[Resolved]) -> tuple[Any, Events]:
    blocks: list[dict[str, Any]] = [{"type": "text", "text": say.text}] if say.text or not calls else []
    blocks += [
        {"type": "tool_use", "id": f"toolu_{each.id}", "name": each.tool.name, "input": dict(each.arguments)}
        for each in calls
    ]
    stop = "tool_use" if calls else "end_turn"
    usage = {"input_tokens": say.tokens, "output_tokens": 10}
    message = {
        "id": f"msg_{say.number:08d}", "type": "message", "role": "assistant",
        "model": body.get("model"), "content": blocks,
        "stop_reason": stop, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    return message, _anthropic_events(message, blocks, stop, usage)


def _anthropic_events(
    message: dict[str, Any], blocks: list[dict[str, Any]], stop: str, usage: dict[str, int]
) -> Events:
    yield "message_start", {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(blocks):
        if block["type"] == "text":
            empty, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": empty}
        yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    ending = {"stop_reason": stop, "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": ending, "usage": usage}
    yield "message_stop", {"type": "message_stop"}


# OpenAI, chat completions


def _chat_facts(body: Body) -> Facts:
    tools = tuple(Offered(str((tool.get("function") or tool).get("name"))) for tool in body.get("tools") or ())
    said = [item for item in body.get("messages") or () if item.get("role") in ("system", "developer")]
    newest = _after_last(body.get("messages"), lambda item: item.get("role") == "assistant")
    return tools, "\n".join(plain(item.get("content")) for item in said), newest


def _chat(body: Body, say: Say, calls: Sequence[Resolved]) -> tuple[Any, Events]:
    tool_calls = [
        {"index": n, "id": each.id, "type": "function", "function": {"name": each.tool.name, "arguments": each.json}}
        for n, each in enumerate(calls)
    ]
    finish = "tool_calls" if calls else "stop"
    usage = {"prompt_tokens": say.tokens, "completion_tokens": 10, "total_tokens": say.tokens + 10}
    message: dict[str, Any] = {"role": "assistant", "content": say.text or None}
    if calls:
        message["tool_calls"] = tool_calls
    about = {"id": f"chatcmpl-{say.number}", "created": 1, "model": body.get("model")}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    whole = {**about, "object": "chat.completion", "choices": [choice], "usage": usage}
    return whole, _chat_events({**about, "object": "chat.completion.chunk"}, say.text, tool_calls, finish, usage)


def _chat_events(about: dict[str, Any], text: str, tool_calls: list[Any], finish: str, usage: dict[str, int]) -> Events:
    def chunk(delta: dict[str, Any], end: str | None = None) -> tuple[str, Any]:
        return "", {**about, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}

    yield chunk({"role": "assistant", "content": text})
    for each in tool_calls:
        yield chunk({"tool_calls": [each]})
    yield chunk({}, finish)
    yield "", {**about, "choices": [], "usage": usage}
    yield "", "[DONE]"


# OpenAI, Responses


def _responses_facts(body: Body) -> Facts:
    items = body.get("input") if isinstance(body.get("input"), list) else []
    offered = list(body.get("tools") or ())
    for item in items or []:
        if item.get("type") in ("additional_tools", "tool_search_output"):
            offered += item.get("tools") or []
    tools: list[Offered] = []
    for tool in offered:
        if tool.get("type") == "namespace":
            # One namespace per MCP server.
            group = tool["name"]
            tools += [
                Offered(f"{group}__{each['name']}", each["name"], group, each.get("type") == "custom")
                for each in tool.get("tools") or ()
            ]
        else:
            name = tool.get("name") or tool.get("type")
            tools.append(Offered(name, name, custom=tool.get("type") == "custom"))
    mine = ("function_call", "custom_tool_call", "reasoning")
    newest = _after_last(items, lambda item: item.get("role") == "assistant" or item.get("type") in mine)
    return tuple(tools), str(body.get("instructions") or ""), newest


def _responses(body: Body, say: Say, calls: Sequence[Resolved]) -> tuple[Any, Events]:
    items: list[dict[str, Any]] = []
    if say.text or not calls:
        content = [{"type": "output_text", "text": say.text, "annotations": []}]
        about = {"type": "message", "id": f"msg_{say.number}", "role": "assistant", "status": "completed"}
        items.append({**about, "content": content})
    for each in calls:
        item = {"id": f"fc_{each.id}", "call_id": each.id, "name": each.tool.short, "status": "completed"}
        if each.tool.custom:
            item |= {"type": "custom_tool_call", "input": each.json}
        else:
            item |= {"type": "function_call", "arguments": each.json}
        if each.tool.namespace:
            item["namespace"] = each.tool.namespace
        items.append(item)
    usage = {
        "input_tokens": say.tokens, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 10,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": say.tokens + 10,
    }  # fmt: skip
    response = {
        "id": f"resp_{say.number}", "object": "response", "created_at": 1, "status": "completed",
        "model": body.get("model"), "output": items,
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None, "usage": usage,
    }  # fmt: skip
    return response, _responses_events(response, items)


def _responses_events(response: dict[str, Any], items: list[dict[str, Any]]) -> Events:
    yield "response.created", {"type": "response.created", "response": {**response, "output": [], "usage": None}}
    for index, item in enumerate(items):
        yield "response.output_item.added", {"type": "response.output_item.added", "output_index": index, "item": item}
        if item["type"] == "message":
            delta = {"item_id": item["id"], "output_index": index, "content_index": 0}
            text = item["content"][0]["text"]
            yield "response.output_text.delta", {"type": "response.output_text.delta", **delta, "delta": text}
        yield "response.output_item.done", {"type": "response.output_item.done", "output_index": index, "item": item}
    yield "response.completed", {"type": "response.completed", "response": response}


# Gemini


def _gemini_facts(body: Body) -> Facts:
    tools = tuple(
        Offered(each["name"])
        for tool in body.get("tools") or ()
        for each in tool.get("functionDeclarations") or tool.get("function_declarations") or ()
    )
    newest = _after_last(body.get("contents"), lambda item: item.get("role") == "model")
    return tools, plain(body.get("systemInstruction") or body.get("system_instruction")), newest


def _gemini(body: Body, say: Say, calls: Sequence[Resolved]) -> tuple[Any, Events]:
    parts: list[dict[str, Any]] = [{"text": say.text}] if say.text or not calls else []
    parts += [{"functionCall": {"id": each.id, "name": each.tool.name, "args": dict(each.arguments)}} for each in calls]
    usage = {"promptTokenCount": say.tokens, "candidatesTokenCount": 10, "totalTokenCount": say.tokens + 10}
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    whole = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake", "responseId": f"r{say.number}"}
    return whole, iter([("", whole)])


ANTHROPIC = Dialect("anthropic", _anthropic_facts, _anthropic)
CHAT = Dialect("chat", _chat_facts, _chat)
RESPONSES = Dialect("responses", _responses_facts, _responses)
GEMINI = Dialect("gemini", _gemini_facts, _gemini)
COUNT = Dialect("count", lambda body: ((), "", ""), lambda body, say, calls: ({}, iter(())))
_PATHS = {
    "/messages": ANTHROPIC,
    "/chat/completions": CHAT,
    "/responses": RESPONSES,
    ":generateContent": GEMINI,
    ":streamGenerateContent": GEMINI,
}
