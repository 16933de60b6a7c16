"""Drives `standfast mcp` as a client does: a real process, lines in, lines out."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

HERE = Path(__file__).parent
SOURCE = HERE.parents[1] / "src"
PATIENCE_SECONDS = 20.0
VERSIONS = ("2025-06-18", "2025-11-25", "2026-07-28")
RUN_PIPE = "import sys; from standfast.client.pipe import main; sys.exit(main(sys.argv[2:], eval(sys.argv[1])))"


def host_command(home: Path) -> list[str]:
    """The command that starts the stand-in host for a home."""
    path = f"import sys, runpy; sys.path.insert(0, {str(SOURCE)!r}); sys.argv = sys.argv[1:]; "
    return [
        sys.executable,
        "-c",
        path + "runpy.run_path(sys.argv[0], run_name='__main__')",
        str(HERE / "mcp_standin.py"),
        str(home),
    ]


class PipeProcess:
    """One pipe process and its client's side of the conversation."""

    def __init__(
        self,
        home: Path,
        version: str,
        *,
        command: Sequence[str] | None = None,
        arguments: Sequence[str] = (),
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.home = home
        self.version = version
        self.modern = version >= "2026"
        self._next_id = 0
        self.kept: list[Any] = []
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        start = repr(list(command) if command is not None else host_command(home))
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUN_PIPE, start, "--home", str(home), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(SOURCE), **(environ or {})},
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            if stream is self.process.stdout:
                self._reader.join(PATIENCE_SECONDS)
            try:
                stream.close()
            except BrokenPipeError:
                continue
        kill_host(self.home)

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def write(self, line: bytes) -> None:
        """Write raw bytes to the pipe's stdin."""
        assert self.process.stdin is not None
        self.process.stdin.write(line)
        self.process.stdin.flush()

    def send(self, method: str, params: Mapping[str, Any] | None = None, *, notify: bool = False) -> int:
        """Send a request (its id is returned) or a notification, as this protocol version wants it."""
        body: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": dict(params or {})}
        if not notify:
            self._next_id += 1
            body["id"] = self._next_id
            if self.modern:
                body["params"]["_meta"] = {
                    "io.modelcontextprotocol/protocolVersion": self.version,
                    "io.modelcontextprotocol/clientInfo": {"name": "test client é", "version": "1"},
                    "io.modelcontextprotocol/clientCapabilities": {},
                }
        self.write(json.dumps(body).encode() + b"\n")
        return self._next_id

    def receive(self) -> Any:
        """The next message; None at the end of the pipe's output. Fails when nothing comes."""
        line = self._lines.get(timeout=PATIENCE_SECONDS)
        return None if line is None else json.loads(line)

    def answer(self, request_id: int) -> Any:
        """The answer to a request; other messages that come first are kept for their own calls."""
        for kept in self.kept:
            if kept.get("id") == request_id and "method" not in kept:
                self.kept.remove(kept)
                return kept
        while True:
            message = self.receive()
            assert message is not None, "the pipe ended"
            if message.get("id") == request_id and "method" not in message:
                return message
            self.kept.append(message)

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """Send a request and return its answer."""
        return self.answer(self.send(method, params))

    def write_open(self) -> int:
        """Send what a client says first in this version; the request's id."""
        if self.modern:
            return self.send("server/discover")
        info = {"name": "test client é", "version": "1"}
        params = {"protocolVersion": self.version, "capabilities": {}, "clientInfo": info}
        return self.send("initialize", params)

    def open(self) -> Any:
        """Open the conversation; the answer to the first request."""
        answer = self.answer(self.write_open())
        if not self.modern:
            self.send("notifications/initialized", notify=True)
        return answer

    def call(self, tool: str, **arguments: Any) -> str:
        """Call a tool; the text of its answer."""
        return text_of(self.answer(self.start_call(tool, **arguments)))

    def start_call(self, tool: str, **arguments: Any) -> int:
        """Send a tool call and return its id."""
        return self.send("tools/call", {"name": tool, "arguments": arguments})

    def close_stdin(self) -> None:
        """End the pipe's input."""
        assert self.process.stdin is not None
        self.process.stdin.close()


def text_of(answer: Any) -> str:
    """The text of a tool's answer."""
    assert "result" in answer, answer
    [content] = answer["result"]["content"]
    return str(content["text"])


def host_pid(home: Path) -> int:
    """The process id of the host that last started in a home."""
    return int((home / "host.pid").read_text())


def kill_host(home: Path) -> None:
    """SIGKILL every host that was started for a home and is left."""
    for pid in logged(home, "starts"):
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            continue


@contextmanager
def running(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is gone afterwards, however the test ends."""
    with subprocess.Popen(command, **options) as process:
        try:
            yield process
        finally:
            process.kill()


def logged(home: Path, name: str) -> list[str]:
    """The lines of one of the stand-in's logs."""
    file = home / f"{name}.log"
    return file.read_text().splitlines() if file.exists() else []
