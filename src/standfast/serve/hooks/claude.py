"""Claude Code's hook events and answers.

The client's session id is the conversation. What a model must know goes in as `additionalContext`.

Facts about the client: a PreToolUse `allow` would grant beyond the person's own rules, so it is never said;
`ask` denies under `-p`, which the host knows as an unattended session and does not ask there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from standfast.domain import capabilities
from standfast.domain.clients import HOOKED
from standfast.domain.gate import ALLOW
from standfast.serve.hooks.vocabulary import Reply, Report, Said, Sent, Used, What

EVENTS: Final[Mapping[str, What]] = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "before_tool",
    "PostToolUse": "after_tool",
    "Stop": "turn_end",
    "SessionEnd": "session_end",
}


class Claude:
    """Claude Code's side of the hook endpoint."""

    word = "claude"
    name = HOOKED[word]
    own_plan_mode = True

    def read(self, sent: Sent) -> Report | None:
        """The event understood; None for one that names no conversation."""
        conversation = sent.text("session_id")
        if not conversation:
            return None
        tool, arguments = sent.text("tool_name"), sent.table("tool_input")
        plans = capabilities.client_plans(sent.text("transcript_path"))
        return Report(
            what=EVENTS.get(sent.text("hook_event_name"), "note"),
            conversation=conversation,
            workspace=sent.text("cwd"),
            source=sent.text("source"),
            turn=sent.text("prompt_id"),
            call=sent.text("tool_use_id"),
            tool=tool,
            capability=capabilities.of("claude", tool, arguments, plans),
            path=capabilities.path_of(arguments),
            used=_used(sent, tool, arguments),
            transcript=sent.text("transcript_path"),
        )

    def write(self, sent: Sent, reply: Reply) -> Said:
        """What the hook prints; an empty object where there is nothing to say."""
        said = {"hookEventName": sent.text("hook_event_name")}
        if reply.decision != ALLOW:
            said |= {"permissionDecision": reply.decision, "permissionDecisionReason": reply.reason}
        elif reply.context:
            said |= {"additionalContext": reply.context}
        else:
            return {}
        return {"hookSpecificOutput": said}


def _used(sent: Sent, tool: str, arguments: Mapping[str, object]) -> Used | None:
    """What has run: the client says PostToolUse of a tool that did not fail only."""
    if sent.text("hook_event_name") != "PostToolUse":
        return None
    return Used(tool=tool, arguments=arguments, answer=sent.value("tool_response"), agent=sent.text("agent_id"))
