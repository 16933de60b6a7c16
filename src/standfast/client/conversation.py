"""What the pipe remembers of a conversation, so that a host that has never seen it can go on with it.

Theory of operation
-------------------
Up to 2025-11-25 a conversation lives in a transport session that dies with the host. The pipe remembers the
client's `initialize` and whether it was confirmed; when the host no longer knows the session, it says both
again, gets a new session, and the client never learns of it. At 2026-07-28 there is nothing to remember: each
request says everything.

Invariants
- `lost()` counts a session once, whoever reports it: an answer of an older session does not throw away a
  newer one.
- The idempotency key of a tool call depends on the pipe and the message's ordinal alone, so it is the same
  however often the message is sent.

Not here: connections (`http1`), the order of sending (`pipe`).
"""

import json
import os
from collections.abc import Mapping

from standfast.client import http1
from standfast.client.home import AGENT_TOKEN
from standfast.client.jsonrpc import Message, header_safe, header_text, percent

_ACCEPT = ("Accept", "application/json, text/event-stream")
_JSON = ("Content-Type", "application/json")
ENDPOINT = "/mcp"
CLOSED = "/v1/connection/closed"


class Conversation:
    """Headers for every message, and the handshake that can be said again.

    `profile` names the tools to be served. `session` is the transport session, `stale` is true when the
    handshake has to be repeated before anything else of its era can be sent. `listens` is true when the host
    has said that it may send messages of its own accord.
    """

    def __init__(self, home: str, environ: Mapping[str, str], profile: str = "") -> None:
        self.session: str | None = None
        self.stale = False
        self.listens = False
        self.initialize: Message | None = None
        self.initialized: Message | None = None
        self._version: str | None = None
        self._modern: str | None = None
        self._client: str | None = None
        self._token_file = os.path.join(home, AGENT_TOKEN)
        self._pipe_id = os.urandom(12).hex()
        named = environ.get("STANDFAST_CLIENT_SESSION")
        self._fixed = [
            ("Standfast-Client-Session", percent(named or self._pipe_id)),
            ("Standfast-Workspace", percent(_workspace())),
            ("Standfast-Parent-Pid", str(os.getppid())),
        ]
        if profile:
            self._fixed.append(("Standfast-Profile", percent(profile)))
        self.read_token()

    def read_token(self) -> None:
        """Read the agent's token again; a host writes it when it first runs in a home."""
        try:
            with open(self._token_file, encoding="ascii") as file:
                token = file.read().strip()
        except (OSError, ValueError):
            token = ""
        self._token = token if header_safe(token) else ""

    def is_modern(self, message: Message) -> bool:
        """Whether the message stands alone (2026-07-28) or belongs to the handshake's session."""
        if message.version is not None:
            return True
        return message.request_id is None and self.initialize is None and self._modern is not None

    def note(self, message: Message) -> None:
        """Remember what a message from the client tells about the conversation."""
        if message.client is not None:
            self._client = message.client
        if message.version is not None:
            self._modern = message.version
        if message.method == "initialize":
            self.initialize, self.initialized = message, None
            self.session = self._version = None
            self.stale = self.listens = False
        elif message.method == "notifications/initialized" and not self.is_modern(message):
            self.initialized = message

    def opened(self, session: str | None, document: bytes) -> bool:
        """Take the answer to `initialize`; False when it is an error."""
        try:
            result = json.loads(document)["result"]
            version = result["protocolVersion"]
            offers = result.get("capabilities", {})
            self.listens = "logging" in offers or any(
                isinstance(offer, dict) and (offer.get("listChanged") or offer.get("subscribe"))
                for offer in offers.values()
            )
        except (ValueError, KeyError, TypeError, AttributeError):
            return False
        self.session = session if session and header_safe(session) else None
        self._version = version if isinstance(version, str) and header_safe(version) else None
        self.stale = False
        return True

    def lost(self, session: str | None) -> None:
        """The host does not know `session` any more."""
        if session == self.session and self.initialize is not None:
            self.stale = True

    def post(self, message: Message) -> bytes:
        """The HTTP request that carries a message."""
        headers = [_ACCEPT, _JSON, *self._identity()]
        if self.is_modern(message):
            headers.append(("MCP-Protocol-Version", message.version or self._modern or ""))
            if message.method is not None:
                headers.append(("Mcp-Method", message.method))
            if message.name is not None:
                headers.append(("Mcp-Name", header_text(message.name)))
        elif message.method != "initialize":
            headers.extend(self._session_headers())
        if message.method == "tools/call":
            headers.append(("Idempotency-Key", f"{self._pipe_id}-{message.ordinal}"))
        return http1.request_bytes("POST", ENDPOINT, headers, message.raw)

    def listen(self) -> bytes:
        """The HTTP request for the host's own messages of this session."""
        headers = [("Accept", "text/event-stream"), *self._identity(), *self._session_headers()]
        return http1.request_bytes("GET", ENDPOINT, headers)

    def farewell(self) -> list[bytes]:
        """The requests that tell the host that this client has gone."""
        requests = [http1.request_bytes("POST", CLOSED, [_JSON, *self._identity()], b"{}")]
        if self.session is not None and not self.stale:
            headers = [*self._identity(), *self._session_headers()]
            requests.append(http1.request_bytes("DELETE", ENDPOINT, headers))
        return requests

    def _identity(self) -> list[tuple[str, str]]:
        headers = [("Authorization", f"Bearer {self._token}"), *self._fixed]
        if self._client is not None:
            headers.append(("Standfast-Client", percent(self._client)))
        return headers

    def _session_headers(self) -> list[tuple[str, str]]:
        headers = []
        if self._version is not None:
            headers.append(("MCP-Protocol-Version", self._version))
        if self.session is not None:
            headers.append(("Mcp-Session-Id", self.session))
        return headers


def _workspace() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""
