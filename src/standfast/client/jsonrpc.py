"""What the pipe must know of a JSON-RPC message, and the few messages it writes itself.

Theory of operation
-------------------
A line is parsed once to read its kind, its id and the members that become HTTP headers. The bytes are
forwarded as they came: nothing is re-serialised, so nothing the client said is lost or reordered.

Invariants
- The era of a message is in the message: a 2026-07-28 request names its protocol version in `params._meta`;
  everything else belongs to the handshake era.
- Values that become header lines are checked here (`header_text`), so no message can add a header of its own.

Not here: sessions and headers (`conversation`), bounds (`lines`).
"""

import json
from binascii import b2a_base64

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
INTERNAL_ERROR = -32603

VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"
_NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}

Id = str | int | None


class Malformed(Exception):
    """A line that is no message: `code` and text of the JSON-RPC error, and the id if it was readable."""

    def __init__(self, code: int, text: str, request_id: Id = None) -> None:
        super().__init__(text)
        self.code = code
        self.text = text
        self.request_id = request_id


class Message:
    """One client message: its bytes, and what decides how it travels.

    `method` is None for an answer to a server's request. `request_id` is None unless it is a request.
    `version` is the protocol version of a 2026-07-28 envelope. `name` is the tool, prompt or URI. `cancels`
    is the request id that a cancellation names. `ordinal` orders messages and, for a tool call, makes its
    idempotency key.
    """

    __slots__ = (
        "attempts",
        "cancels",
        "client",
        "internal",
        "method",
        "name",
        "ordinal",
        "raw",
        "request_id",
        "version",
    )

    def __init__(self, raw: bytes, ordinal: int) -> None:
        self.raw = raw
        self.ordinal = ordinal
        self.method: str | None = None
        self.request_id: Id = None
        self.version: str | None = None
        self.client: str | None = None
        self.name: str | None = None
        self.cancels: Id = None
        self.attempts = 0
        self.internal = False


def read_message(line: bytes, ordinal: int) -> Message:
    """Read one line. Raises `Malformed` for what is not one JSON-RPC request, notification or answer."""
    try:
        value = json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as problem:
        raise Malformed(PARSE_ERROR, f"Parse error: {problem}") from None
    if not isinstance(value, dict):
        raise Malformed(INVALID_REQUEST, "A message is one JSON object; batches are not part of this protocol.")
    message = Message(line, ordinal)
    request_id, method = value.get("id"), value.get("method")
    if "id" in value and type(request_id) not in (str, int):
        raise Malformed(INVALID_REQUEST, "The id of a request is a string or an integer.")
    if method is None and ("result" in value or "error" in value):
        return message
    if not isinstance(method, str) or not header_safe(method):
        raise Malformed(INVALID_REQUEST, "A request names its method.", request_id)
    message.method, message.request_id = method, request_id
    params = value.get("params")
    if isinstance(params, dict):
        _read_params(message, params)
    return message


def _read_params(message: Message, params: dict[str, object]) -> None:
    name = params.get(_NAMED_BY.get(message.method or "", ""))
    message.name = name if isinstance(name, str) else None
    if message.method == "notifications/cancelled":
        cancelled = params.get("requestId")
        message.cancels = cancelled if isinstance(cancelled, str | int) else None
    meta = params.get("_meta")
    info: object = params.get("clientInfo") if message.method == "initialize" else None
    if isinstance(meta, dict) and message.method != "initialize":
        version = meta.get(VERSION_KEY)
        if isinstance(version, str) and header_safe(version):
            message.version = version
        info = meta.get(CLIENT_KEY)
    client = info.get("name") if isinstance(info, dict) else None
    message.client = client if isinstance(client, str) else None


def is_answer_to(document: object, request_id: Id) -> bool:
    """Whether a message from the host is the response to that request."""
    return (
        isinstance(document, dict)
        and "method" not in document
        and ("result" in document or "error" in document)
        and document.get("id") == request_id
        and type(document.get("id")) is type(request_id)
    )


def error_line(request_id: Id, code: int, text: str, data: object = None) -> bytes:
    """A JSON-RPC error response without its newline."""
    error: dict[str, object] = {"code": code, "message": text}
    if data is not None:
        error["data"] = data
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}, separators=(",", ":")).encode()


def one_line(document: bytes) -> bytes:
    """The same JSON without line breaks: raw ones can only stand between tokens."""
    return document.replace(b"\r", b" ").replace(b"\n", b" ").strip()


def header_safe(text: str) -> bool:
    """Whether `text` can stand in a header line as it is."""
    return text.isascii() and text.isprintable() and text == text.strip()


def header_text(text: str) -> str:
    """`text` as the protocol writes it into `Mcp-Name`: plain where it survives, else in a base64 wrapper."""
    if header_safe(text) and not (text.startswith("=?base64?") and text.endswith("?=")):
        return text
    return "=?base64?" + b2a_base64(text.encode("utf-8", "surrogatepass"), newline=False).decode() + "?="


def percent(text: str) -> str:
    """`text` as percent-encoded UTF-8, safe in a header line."""
    return "".join(
        chr(byte) if 0x20 < byte < 0x7F and byte != 0x25 else f"%{byte:02X}"
        for byte in text.encode("utf-8", "surrogateescape")
    )
