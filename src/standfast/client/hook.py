"""`standfast hook CLIENT`: what a client's hooks run. Hands the event to the host and prints the host's answer.

Theory of operation
-------------------
The event's bytes are wrapped, not read: what they mean is known in the host, so this process costs little
more than the start of Python. A deadline below the client's own ends the wait.

Invariants
- Information fails open: without a host the hook says nothing and lets the client go on; a session's start
  and a prompt first try to start one.
- The gate fails closed: without a host, a session whose gate file says plan mode is denied what plan mode
  denies, and nothing else is.
- Nothing but the client's answer is written to stdout; never a trace. A note for a person goes to stderr.

Not here: the events (the host's side), the tables of tools (`standfast.domain.capabilities`).
"""

import os
import sys

from standfast.client.home import SOCKET, home_directory, switched_off
from standfast.client.http1 import exchange, request_bytes
from standfast.domain.clients import HOOKED

SECONDS = 5.0
EVENT_LIMIT = 4 * 1024 * 1024
ID_LIMIT = 200
USAGE = "usage: standfast hook CLIENT [--home DIR]   (the event comes on stdin; CLIENT is one of: claude)"
_SHELLS = ("sh", "bash", "dash", "zsh", "fish", "env", "timeout", "standfast")
_STARTING = (b'"SessionStart"', b'"UserPromptSubmit"')


class Silent(Exception):
    """No host answered in time; the text says why."""


def main(words: list[str]) -> int:
    """0 in any case that the client should not notice; 2 for a wrong command line."""
    home = home_directory(os.environ)
    if words[1:2] == ["--home"] and len(words) == 3:
        home, words = os.path.abspath(words[2]), words[:1]
    if len(words) != 1 or words[0] not in HOOKED:
        print(USAGE, file=sys.stderr)
        return 2
    if switched_off(os.environ, os.getcwd()):
        return 0
    event = sys.stdin.buffer.read(EVENT_LIMIT + 1)
    try:
        status, answer = _ask(home, words[0], event)
        why = "" if status == 200 else f"the host answered {status}"
    except Exception as error:  # whatever it is, the gate stays closed and no trace reaches the agent
        answer, why = b"", str(error) or type(error).__name__
    if why:
        answer = _alone(home, words[0], event, why)
    if answer != b"{}":
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
    return 0


def _ask(home: str, client: str, event: bytes) -> tuple[int, bytes]:
    """The host's answer to the event, status and body."""
    if len(event) > EVENT_LIMIT:
        raise Silent("the event is too long")
    if any(name in event[:4096] for name in _STARTING):
        _reach(home)
    attended = os.environ.get("CLAUDE_CODE_SESSION_ATTENDED") != "0"
    head = b'{"process":%d,"attended":%s,"event":' % (client_process(), b"true" if attended else b"false")
    with open(os.path.join(home, "tokens", "operator"), encoding="ascii") as stream:
        sent = [("Authorization", f"Bearer {stream.read().strip()}"), ("Content-Type", "application/json")]
    body = head + (event.strip() or b"null") + b"}"
    return exchange(os.path.join(home, SOCKET), request_bytes("POST", f"/v1/hooks/{client}", sent, body), SECONDS)


def _reach(home: str) -> None:
    """Starts a host where none answers; that none can be started is found out by asking."""
    from standfast.client.start import HostUnavailable, ensure_host

    try:
        ensure_host(home)
    except HostUnavailable as error:
        raise Silent(str(error)) from error


def client_process() -> int:
    """The client's process id: the first ancestor that is no shell; the parent where that cannot be seen."""
    pid = os.getppid()
    for _ in range(8):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stream:
                head, _, rest = stream.read().rpartition(")")
        except OSError:
            break
        parent = int(rest.split()[1])
        if head.partition("(")[2] not in _SHELLS or parent <= 1:
            return pid
        pid = parent
    return os.getppid()


def _alone(home: str, client: str, event: bytes, why: str) -> bytes:
    """What is said without the host: the gate's refusal where the session's gate file is there, else nothing."""
    import json

    planning = _in_plan_mode(home, HOOKED[client])
    try:
        told = json.loads(event)
    except ValueError:
        # What cannot be read (cut off for its length, say) is a tool call of a planning session if it names one.
        named = b"PreToolUse" in event and any(conversation.encode() in event for conversation in planning)
        reason = f"Plan mode: this call cannot be checked ({why})." if named else None
    else:
        told = told if isinstance(told, dict) else {}
        gated = told.get("hook_event_name") == "PreToolUse" and str(told.get("session_id"))[:ID_LIMIT] in planning
        reason = _denied(told, why) if gated else None
    if reason is None:
        print(f"standfast: {why}; the agent is told nothing and not held.", file=sys.stderr)
        return b""
    said = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": reason}
    return json.dumps({"hookSpecificOutput": said}).encode()


def _in_plan_mode(home: str, client: str) -> set[str]:
    """The client's conversations that are in plan mode, by their gate files."""
    folder = os.path.join(home, "gate")
    found = set()
    try:
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="utf-8") as stream:
                of, _, conversation = stream.read().partition("\n")
            if of == client and conversation.strip():
                found.add(conversation.removesuffix("\n"))
    except OSError:
        pass  # no folder: nobody plans; a file that went meanwhile: its session left plan mode
    return found


def _denied(event: dict[str, object], why: str) -> str | None:
    """Why plan mode denies the call, or None; what only a host can allow is denied as well."""
    from standfast.domain import capabilities, gate
    from standfast.domain.capabilities import client_plans

    tool, given = str(event.get("tool_name")), event.get("tool_input")
    arguments = given if isinstance(given, dict) else {}
    plans = client_plans(str(event.get("transcript_path") or ""))
    question = gate.Question(
        mode="plan",
        permission_mode="ask",
        attended=False,
        capability=capabilities.of("claude", tool, arguments, plans),
        tool=tool,
        shell="deny",
    )
    verdict = gate.check(question)
    return None if verdict.decision == gate.ALLOW else f"{verdict.reason} (Standfast does not answer: {why}.)"
