"""The scripted model's HTTP server: one thread per request, bodies decoded, answers as JSON or as a stream."""

from __future__ import annotations

import contextlib
import gzip
import json
import threading
import zlib
from collections.abc import Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from tests.clients.model import dialects
from tests.clients.model.script import Script

HOLD_SECONDS = 60.0


class Handler(BaseHTTPRequestHandler):
    """One request of a client."""

    protocol_version = "HTTP/1.1"
    script: Script

    def log_message(self, *_: Any) -> None:
        """Says nothing."""

    def do_HEAD(self) -> None:
        """A client looks whether somebody is there."""
        self._json({})

    def do_GET(self) -> None:
        """The list of models, where a client asks for it."""
        self._json({"object": "list", "data": [{"id": "fake-model", "object": "model", "display_name": "Fake"}]})

    def do_POST(self) -> None:
        """A question to the model."""
        path = urlsplit(self.path).path
        raw = self._body()
        dialect = dialects.of(path)
        body = json.loads(raw) if raw.strip() else {}
        if dialect is None or not isinstance(body, dict):
            return self._json({})
        if dialect is dialects.COUNT:
            return self._json({"input_tokens": len(raw) // 4, "totalTokens": len(raw) // 4})
        say = self.script.reply(dialect.name, body, dialect.facts(body))
        if say.hold is not None:
            say.hold.wait(HOLD_SECONDS)
        calls = self.script.resolved(say, dialect.facts(body)[0])
        whole, events = dialect.answer(body, say, calls)
        if dialect.streams(path, body):
            return self._stream(events)
        return self._json(whole)

    def _json(self, value: Any) -> None:
        data = json.dumps(value).encode()
        with contextlib.suppress(OSError):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

    def _stream(self, events: Iterable[tuple[str, Any]]) -> None:
        """Server-sent events; a name may be empty, a text is sent as it is."""
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            for name, value in events:
                data = value if isinstance(value, str) else json.dumps(value)
                self.wfile.write((f"event: {name}\n" if name else "").encode() + f"data: {data}\n\n".encode())
                self.wfile.flush()

    def _body(self) -> bytes:
        if "chunked" in (self.headers.get("Transfer-Encoding") or ""):
            data = b"".join(self._chunks())
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        match self.headers.get("Content-Encoding"):
            case "gzip":
                return gzip.decompress(data)
            case "deflate":
                return zlib.decompress(data)
        return data

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()


@contextlib.contextmanager
def serving(script: Script) -> Iterator[str]:
    """Serves a script on a free port of loopback for the length of the block; the address."""
    handler = type("Bound", (Handler,), {"script": script})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
