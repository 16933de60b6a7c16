"""Plans that a session proposed, and what became of them there.

Newest first. A plan-mode exit that was answered was approved in the client, one that a person refused is rejected, and
one without an answer is a proposal still. Codex keeps a plan as a text and no verdict: a prompt in another mode than
plan after it is how a person approves there. Of several proposals without an answer only the newest is open.
"""

from __future__ import annotations

from typing import Final

from standfast.transcripts.branch import Standing
from standfast.transcripts.events import Event, ModeSeen, PlanText, ToolCall, UserMessage
from standfast.transcripts.lists import fields, text
from standfast.transcripts.report import FoundPlan, PlanState

PLAN_TOOLS: Final = frozenset({"ExitPlanMode", "exit_plan_mode", "plan_exit"})
PLANS_LIMIT: Final = 50
"""Plans that are kept; the newest ones."""

_PLAN_MODE: Final = "plan"


class Plans:
    """Takes events newest first."""

    def __init__(self) -> None:
        self._found: list[FoundPlan] = []
        self._mode: str | None = None
        self._prompts = 0

    def found(self) -> tuple[FoundPlan, ...]:
        """The plans, newest first."""
        return tuple(self._found)

    def take(self, event: Event, standing: Standing) -> str | None:
        """Takes the next older event; the word for why a plan counts for nothing, or None."""
        if standing != "active":
            return standing
        match event:
            case ModeSeen():
                self._mode = event.mode
            case UserMessage() if event.prompt:
                self._prompts += 1
            case PlanText():
                self._keep(event, self._text_state(), event.text, None)
            case ToolCall():
                return self._exit(event)
            case _:
                pass
        return None

    def _text_state(self) -> PlanState:
        if self._prompts and self._mode is not None and self._mode != _PLAN_MODE:
            return "approved_elsewhere"
        return "proposed"

    def _exit(self, call: ToolCall) -> str | None:
        if call.outcome == "failure":
            return call.outcome
        given, said = fields(call.arguments), fields(call.details)
        words = text(given.get("plan")) or text(said.get("plan"))
        file = next((found for name in _FILES if (found := text(said.get(name)) or text(given.get(name)))), None)
        states: dict[str, PlanState] = {"success": "approved_elsewhere", "rejected": "rejected"}
        self._keep(call, states.get(call.outcome, "proposed"), words, file)
        return None

    def _keep(self, event: PlanText | ToolCall, state: PlanState, words: str | None, file: str | None) -> None:
        if state == "proposed" and self._found:
            state = "superseded"
        if len(self._found) < PLANS_LIMIT:
            self._found.append(FoundPlan(event.agent, state, event.place, words, file))


_FILES: Final = ("filePath", "planFilePath", "plan_path", "plan_filename")
