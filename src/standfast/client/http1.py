"""One HTTP/1.1 exchange over the host's unix socket, without blocking and without an HTTP library.

Theory of operation
-------------------
`http.client` costs as much to import as Python costs to start, and it blocks. The pipe needs little: one
request per connection, an answer with a length or in chunks, JSON or server-sent events. `Exchange` owns a
non-blocking socket; the caller polls it and calls `advance()`. Documents (JSON texts) are handed out as they
become whole.

Invariants
- `complete` is only reached when the framing says so. A connection that ends earlier is `broken`: the host
  died in the middle, and what had arrived is not an answer.
- One connection carries one request (`Connection: close`), so nothing of a dead host's connection is ever
  reused.

Not here: which headers are sent (`conversation`), what to do after a broken exchange (`pipe`).
"""

import socket
import time

OPEN, COMPLETE, BROKEN = "open", "complete", "broken"
_CHUNK = 65536
_HEAD_LIMIT = 65536


class BadAnswer(Exception):
    """The peer does not speak HTTP as expected."""


def request_bytes(verb: str, path: str, headers: list[tuple[str, str]], body: bytes = b"") -> bytes:
    """The bytes of one request; header values must be free of line breaks (their makers see to that)."""
    lines = [
        f"{verb} {path} HTTP/1.1",
        "Host: localhost",
        "Connection: close",
        f"Content-Length: {len(body)}",
    ]
    lines.extend(f"{name}: {value}" for name, value in headers)
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body


class Answer:
    """An HTTP response that arrives in pieces: `status`, `headers` (lower case), then payload from `feed`."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.complete = False
        self._buffer = bytearray()
        self._left: int | None = None
        self._chunked = False

    def feed(self, data: bytes) -> bytes:
        """Take bytes from the connection and return the payload bytes they yield. Raises `BadAnswer`."""
        self._buffer += data
        while self.status < 200:
            if not self._read_head():
                return b""
        return self._read_chunks() if self._chunked else self._read_plain()

    def end(self) -> None:
        """The connection has ended: complete only if the answer was framed by its end."""
        self.complete = self.complete or (self.status >= 200 and not self._chunked and self._left is None)

    def _read_head(self) -> bool:
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            if len(self._buffer) > _HEAD_LIMIT:
                raise BadAnswer("endless header")
            return False
        first, *rest = bytes(self._buffer[:end]).decode("latin-1").split("\r\n")
        del self._buffer[: end + 4]
        try:
            self.status = int(first.split(" ", 2)[1])
        except (IndexError, ValueError):
            raise BadAnswer(f"no status line: {first[:80]!r}") from None
        self.headers = {
            name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)
        }
        self._chunked = self.headers.get("transfer-encoding", "").lower() == "chunked"
        if self.status in (202, 204, 304) and not self._chunked:
            self._left = 0
        length = self.headers.get("content-length")
        if length is not None and not self._chunked:
            self._left = int(length) if length.isdecimal() else 0
        return True

    def _read_plain(self) -> bytes:
        payload = bytes(self._buffer)
        self._buffer.clear()
        if self._left is not None:
            payload = payload[: self._left]
            self._left -= len(payload)
            self.complete = self._left == 0
        return payload

    def _read_chunks(self) -> bytes:
        payload = bytearray()
        while not self.complete:
            if self._left is None:
                end = self._buffer.find(b"\r\n")
                if end < 0:
                    break
                try:
                    self._left = int(bytes(self._buffer[:end]).split(b";")[0], 16)
                except ValueError:
                    raise BadAnswer("no chunk size") from None
                del self._buffer[: end + 2]
                self.complete = self._left == 0
            elif len(self._buffer) < self._left + 2:
                break
            else:
                payload += self._buffer[: self._left]
                del self._buffer[: self._left + 2]
                self._left = None
        return bytes(payload)


class Events:
    """The data of server-sent events, as they become whole. Comments, ids and empty events are left out."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._data: list[bytes] = []

    def feed(self, payload: bytes) -> list[bytes]:
        """The data of each event that `payload` completes."""
        self._buffer += payload
        found = []
        *lines, rest = bytes(self._buffer).split(b"\n")
        self._buffer = bytearray(rest)
        for line in lines:
            line = line.rstrip(b"\r")
            if line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
            elif not line and self._data:
                found.append(b"\n".join(self._data))
                self._data = []
        return [data for data in found if data]


class Exchange:
    """One request and its answer on one connection.

    `state` is open, complete or broken. `events` is true when the answer is an event stream. Raises OSError
    from the constructor when there is nobody to connect to (BlockingIOError: the host's queue is full).
    """

    def __init__(self, path: str, request: bytes) -> None:
        self.answer = Answer()
        self.state = OPEN
        self.body = bytearray()
        self._stream = Events()
        self._outgoing = memoryview(request)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.setblocking(False)
        try:
            self._socket.connect(path)
        except OSError:
            self._socket.close()
            raise

    @property
    def fileno(self) -> int:
        """The socket, for polling."""
        return self._socket.fileno()

    @property
    def sending(self) -> bool:
        """Whether request bytes are left to send."""
        return bool(self._outgoing)

    @property
    def events(self) -> bool:
        """Whether the answer is a stream of events."""
        return self.answer.headers.get("content-type", "").startswith("text/event-stream")

    def advance(self) -> list[bytes]:
        """Send and receive what is possible now; the documents of an event stream that became whole.

        A body that is not an event stream collects in `body` and is whole when the state is complete.
        """
        try:
            self._send()
            return self._receive()
        except BlockingIOError:
            return []
        except (OSError, BadAnswer):
            self.close(BROKEN)
            return []

    def close(self, state: str) -> None:
        """Close the connection and settle the state."""
        self.state = state
        self._socket.close()

    def _send(self) -> None:
        while self._outgoing:
            try:
                self._outgoing = self._outgoing[self._socket.send(self._outgoing[:_CHUNK]) :]
            except BlockingIOError:
                break
            except (BrokenPipeError, ConnectionResetError):
                # The host may have answered without reading everything (413): its answer is still to be read.
                self._outgoing = memoryview(b"")

    def _receive(self) -> list[bytes]:
        documents: list[bytes] = []
        while self.state == OPEN:
            try:
                data = self._socket.recv(_CHUNK)
            except BlockingIOError:
                break
            payload = self.answer.feed(data) if data else b""
            if not data:
                self.answer.end()
            if self.events:
                documents.extend(self._stream.feed(payload))
            else:
                self.body += payload
            if self.answer.complete or not data:
                self.close(COMPLETE if self.answer.complete else BROKEN)
        return documents


def exchange(path: str, request: bytes, seconds: float) -> tuple[int, bytes]:
    """One request over the unix socket at `path` and its answer: status and body, within `seconds`.

    Blocks. Raises `OSError` (`TimeoutError` when the time is up) and `BadAnswer`, also where the answer broke off.
    """
    deadline = time.monotonic() + seconds
    answer, received = Answer(), bytearray()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(seconds)
        connection.connect(path)
        connection.sendall(request)
        while not answer.complete:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError(f"no whole answer in {seconds:.0f} s")
            connection.settimeout(left)
            data = connection.recv(_CHUNK)
            received += answer.feed(data)
            if not data:
                answer.end()
                break
    if not answer.complete:
        raise BadAnswer("the answer broke off")
    return answer.status, bytes(received)
