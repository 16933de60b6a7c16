"""`standfast mcp`: the stdio MCP server, a thin pipe to the host's `/mcp` endpoint that outlives the host.

Theory of operation
-------------------
One thread, one poll loop. Lines from stdin become messages and go to the courier; what the courier brings
back goes to stdout. Each message travels on a connection of its own, so a call that waits for a person does
not stand in the way of a ping, and a host that dies takes nothing with it that could not be sent again.

Invariants
- The loop never blocks: not on stdout (written as far as the reader takes it), not on a host that starts.
- It ends when stdin ends (after what is in flight, for `DRAIN_SECONDS`), on a signal, when nobody reads
  stdout any more, or when its parent is gone. Then it tells the host, for `FAREWELL_SECONDS`.
- Nothing but protocol messages is written to stdout.

Not here: the ways of a message (`courier`), starting a host (`start`). No argparse, no asyncio, no
http.client: their import would cost more than everything else this process does before its first answer.
"""

import os
import select
import signal
import sys
import time
from collections.abc import Mapping, Sequence

from standfast.client.courier import Courier
from standfast.client.home import SOCKET, home_directory, switched_off
from standfast.client.http1 import OPEN, Exchange
from standfast.client.jsonrpc import INVALID_REQUEST, Malformed, error_line, read_message
from standfast.client.lines import Lines, Oversize, oversize_id

MESSAGE_LIMIT = 4 * 1024 * 1024
DRAIN_SECONDS = 5.0
FAREWELL_SECONDS = 0.2
PARENT_SECONDS = 1.0
_WRITE = 4096
_READ = 65536
USAGE = "usage: standfast mcp [--home DIR] [--profile NAME] [--tools GROUP,...]"


class Pipe:
    """The loop between two file descriptors and a courier."""

    def __init__(self, courier: Courier, stdin: int = 0, stdout: int = 1) -> None:
        self._courier = courier
        self._stdin = stdin
        self._stdout = stdout
        self._lines = Lines(MESSAGE_LIMIT)
        self._pending = bytearray()
        self._ordinal = 0
        self._parent = os.getppid()
        self._ended_at: float | None = None

    def run(self) -> None:
        """Serve until there is nobody left to serve."""
        while True:
            now = time.monotonic()
            self._courier.step(now)
            self._collect()
            if self._over(now):
                return
            try:
                self._wait(now)
            except (BrokenPipeError, ConnectionResetError):
                return

    def _over(self, now: float) -> bool:
        if os.getppid() != self._parent:
            return True
        if self._ended_at is None:
            return False
        return (self._courier.idle and not self._pending) or now > self._ended_at + DRAIN_SECONDS

    def _wait(self, now: float) -> None:
        """Poll once and move what is ready."""
        poll = select.poll()
        if self._ended_at is None and not self._courier.full:
            poll.register(self._stdin, select.POLLIN)
        if self._pending:
            poll.register(self._stdout, select.POLLOUT)
        self._courier.register(poll)
        seconds = min(PARENT_SECONDS, self._courier.patience(now))
        for number, event in poll.poll(seconds * 1000):
            if number == self._stdin:
                self._read()
            elif number == self._stdout and self._pending:
                self._write(event)
            else:
                self._courier.advance(number, time.monotonic())

    def _read(self) -> None:
        try:
            data = os.read(self._stdin, _READ)
        except OSError:
            data = b""
        found = self._lines.feed(data) if data else self._lines.finish()
        for line in found:
            self._take(line)
        if not data:
            self._ended_at = time.monotonic()

    def _take(self, line: bytes | Oversize) -> None:
        self._ordinal += 1
        if isinstance(line, Oversize):
            text = f"The message is larger than {MESSAGE_LIMIT} bytes; send less at once."
            self._courier.out.append(error_line(oversize_id(line), INVALID_REQUEST, text))
            return
        try:
            self._courier.accept(read_message(line, self._ordinal))
        except Malformed as bad:
            self._courier.out.append(error_line(bad.request_id, bad.code, bad.text))

    def _collect(self) -> None:
        for line in self._courier.out:
            self._pending += line
            self._pending += b"\n"
        self._courier.out.clear()

    def _write(self, event: int) -> None:
        # A ready pipe takes this many bytes without blocking; O_NONBLOCK might be shared with others.
        if event & (select.POLLERR | select.POLLNVAL):
            raise BrokenPipeError
        written = os.write(self._stdout, self._pending[:_WRITE])
        del self._pending[:written]


def say_goodbye(home: str, courier: Courier) -> None:
    """Tell the host that this client has gone; best effort, bounded by `FAREWELL_SECONDS`."""
    if not courier.served:
        return
    deadline = time.monotonic() + FAREWELL_SECONDS
    try:
        path = os.path.join(home, SOCKET)
        leaving = {each.fileno: each for each in [Exchange(path, one) for one in courier.conversation.farewell()]}
    except OSError:
        return
    while leaving and time.monotonic() < deadline:
        poll = select.poll()
        for number, exchange in leaving.items():
            poll.register(number, select.POLLIN | (select.POLLOUT if exchange.sending else 0))
        for number, _ in poll.poll(max(0.0, deadline - time.monotonic()) * 1000):
            leaving[number].advance()
            if leaving[number].state != OPEN:
                del leaving[number]


def options(arguments: Sequence[str], environ: Mapping[str, str]) -> tuple[str, str]:
    """The home and the tool profile of a command line. Raises ValueError with the usage."""
    home, words = home_directory(environ), []
    rest = list(arguments)
    while rest:
        name, _, value = rest.pop(0).partition("=")
        if name not in ("--home", "--profile", "--tools"):
            raise ValueError(f"unknown argument {name!r}\n{USAGE}")
        if not value:
            if not rest:
                raise ValueError(f"{name} needs a value\n{USAGE}")
            value = rest.pop(0)
        if name == "--home":
            home = os.path.abspath(value)
        else:
            words.append(value)
    return home, ",".join(words)


def main(arguments: Sequence[str], command: Sequence[str] | None = None) -> int:
    """Run the pipe; the exit code. `command` is what starts a host, by default this installation's."""
    try:
        home, profile = options(arguments, os.environ)
    except ValueError as problem:
        sys.stderr.write(f"standfast mcp: {problem}\n")
        return 2
    if switched_off(os.environ, os.getcwd()):
        from standfast.client.silence import serve_nothing

        serve_nothing(sys.stdout.buffer)
        return 0
    courier = Courier(home, os.environ, profile, command)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _leave)
    try:
        Pipe(courier).run()
    finally:
        say_goodbye(home, courier)
    return 0


def _leave(number: int, frame: object) -> None:
    raise SystemExit(0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
