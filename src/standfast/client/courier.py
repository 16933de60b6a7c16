"""Carries messages to the host and their answers back, however often the host has to be found again.

Theory of operation
-------------------
Messages wait in the order of their ordinals. `step()` sends what may go, each on a connection of its own;
`advance()` moves one connection; what is to be said to the client collects in `out`. A message whose
connection breaks, or whose session is unknown, goes back to its place in the queue. Before the first message
of the handshake era goes to a host that does not know the session, the remembered handshake is said again.

Invariants
- Every request gets exactly one answer, unless the client cancelled it: the host's, or an error that says
  what to do.
- A message is sent at most `ATTEMPTS` times, a handshake repeated at most as often in a row.
- Nothing of the handshake era overtakes a handshake that is under way.
- A missing host is only looked for on behalf of a client's message, never to keep a stream of the host's
  open.

Not here: stdin and stdout (`pipe`), headers and handshake memory (`conversation`), the bytes of HTTP
(`http1`).
"""

import json
import os
import select
import time
from collections.abc import Mapping, Sequence

from standfast.client import jsonrpc
from standfast.client.conversation import Conversation
from standfast.client.home import SOCKET
from standfast.client.http1 import BROKEN, COMPLETE, OPEN, Exchange
from standfast.client.jsonrpc import Message, error_line, is_answer_to, one_line
from standfast.client.start import HostDown, HostUnavailable, Starter

ATTEMPTS = 4
IN_FLIGHT = 64
QUEUE_LIMIT = 1024
_DOWN_GRACE_SECONDS = 5.0
_REFUSE_SECONDS = 1.0
_LISTEN_AGAIN_SECONDS = 5.0
_SOON_SECONDS = 0.02
_LISTENS_FOR_EVER = "subscriptions/listen"


class Flight:
    """One message on its way; `message` is None for the stream of the host's own messages."""

    __slots__ = ("answered", "cancelled", "exchange", "message", "modern", "session")

    def __init__(self, message: Message | None, exchange: Exchange, session: str | None, modern: bool) -> None:
        self.message = message
        self.exchange = exchange
        self.session = session
        self.modern = modern
        self.answered = False
        self.cancelled = False


class Courier:
    """The queue, the connections and the search for a host. Not thread-safe; driven by one poll loop."""

    def __init__(
        self, home: str, environ: Mapping[str, str], profile: str = "", command: Sequence[str] | None = None
    ) -> None:
        self.conversation = Conversation(home, environ, profile)
        self.out: list[bytes] = []
        self.served = False
        self._home = home
        self._path = os.path.join(home, SOCKET)
        self._command = command
        self._waiting: list[Message] = []
        self._flights: dict[int, Flight] = {}
        self._starter: Starter | None = None
        self._lost_at = 0.0
        self._not_before = 0.0
        self._refuse_until = 0.0
        self._refusal = ""
        self._listen_at = 0.0
        self._replays = 0

    @property
    def full(self) -> bool:
        """Whether no more messages should be taken in for now."""
        return len(self._waiting) >= QUEUE_LIMIT

    @property
    def idle(self) -> bool:
        """Whether nothing that ends by itself is waiting or under way."""
        return not self._waiting and not any(
            flight.message is not None and flight.message.method != _LISTENS_FOR_EVER
            for flight in self._flights.values()
        )

    def register(self, poll: "select.poll") -> None:
        """Add every connection to a poll object."""
        for number, flight in self._flights.items():
            poll.register(number, select.POLLIN | (select.POLLOUT if flight.exchange.sending else 0))

    def patience(self, now: float) -> float:
        """Seconds until `step` has something to do by itself."""
        if self._waiting and (self._starter is not None or self._not_before > now):
            return max(_SOON_SECONDS, self._not_before - now)
        return 3600.0

    def accept(self, message: Message) -> None:
        """Take a message of the client's."""
        talk = self.conversation
        if message.method == "ping" and talk.initialize is None and not talk.is_modern(message):
            # Allowed before the handshake, when no transport session can carry it yet.
            self.out.append(b'{"jsonrpc":"2.0","id":%s,"result":{}}' % json.dumps(message.request_id).encode())
            return
        if message.cancels is not None and self._cancel(message):
            return
        talk.note(message)
        self._waiting.append(message)

    def _cancel(self, message: Message) -> bool:
        """Drop or mark the request that is cancelled; True when the host need not hear of it."""
        for waiting in self._waiting:
            if _same_id(waiting.request_id, message.cancels) and waiting.method != "initialize":
                self._waiting.remove(waiting)
                return True
        for number, flight in self._flights.items():
            target = flight.message
            if target is None or target.method == "initialize":
                continue
            if not _same_id(target.request_id, message.cancels):
                continue
            flight.cancelled = True
            if flight.modern:
                flight.exchange.close(COMPLETE)
                del self._flights[number]
            return flight.modern
        return self.conversation.is_modern(message)

    def step(self, now: float) -> None:
        """Send what may go now; look for a host if there is none."""
        if not self._waiting:
            self._end_search()
        while self._waiting and now >= self._not_before and len(self._flights) < IN_FLIGHT:
            message = self._next()
            if message is None:
                break
            try:
                exchange = Exchange(self._path, self.conversation.post(message))
            except BlockingIOError:
                self._not_before = now + _SOON_SECONDS
                break
            except OSError:
                if not self._find_host(now):
                    break
                continue
            if message is self._waiting[0]:
                self._waiting.pop(0)
            self._fly(message, exchange)
        self._listen(now)

    def _next(self) -> Message | None:
        """The message to send now: the first that waits, or the handshake that must come before it."""
        first, talk = self._waiting[0], self.conversation
        if talk.is_modern(first):
            return first
        if any(flight.message and _handshakes(flight.message) for flight in self._flights.values()):
            return None
        if talk.stale and talk.initialize is not None and first.method != "initialize":
            return _copy(talk.initialize)
        return first

    def _fly(self, message: Message | None, exchange: Exchange) -> None:
        modern = message is not None and self.conversation.is_modern(message)
        session = None if modern else self.conversation.session
        self._flights[exchange.fileno] = Flight(message, exchange, session, modern)
        self._end_search()

    def _listen(self, now: float) -> None:
        """Open the stream of the host's own messages, if this host has said that there may be any."""
        talk = self.conversation
        if not talk.listens or talk.initialized is None or talk.stale or now < self._listen_at:
            return
        if any(flight.message is None for flight in self._flights.values()):
            return
        self._listen_at = now + _LISTEN_AGAIN_SECONDS
        try:
            self._fly(None, Exchange(self._path, talk.listen()))
        except OSError:
            return

    def _find_host(self, now: float) -> bool:
        """One step towards a host: True when one answers. With no hope of one, what waits is refused."""
        if now < self._refuse_until:
            self._give_up(self._refusal)
            return False
        if self._starter is None:
            self._starter = Starter(self._home, self._command)
            self._lost_at = now
        try:
            if self._starter.step():
                self.conversation.read_token()
                return True
        except HostDown as down:
            if not self.served or now > self._lost_at + _DOWN_GRACE_SECONDS:
                self._refuse(str(down), now)
        except HostUnavailable as problem:
            self._refuse(str(problem), now)
        self._not_before = now + _SOON_SECONDS
        return False

    def _end_search(self) -> None:
        # Its lock would keep every other client from starting a host.
        if self._starter is not None:
            self._starter.close()
            self._starter = None

    def _refuse(self, text: str, now: float) -> None:
        """Answer everything that waits, and for a moment what comes, without another try to start a host."""
        self._refusal, self._refuse_until = text, now + _REFUSE_SECONDS
        self._end_search()
        self._give_up(text)

    def _give_up(self, text: str) -> None:
        for message in self._waiting:
            self._fail(message, text)
        self._waiting.clear()

    def _fail(self, message: Message, text: str) -> None:
        if message.method == "initialize":
            self.conversation.stale = True
        if message.request_id is not None and not message.internal:
            self.out.append(error_line(message.request_id, jsonrpc.INTERNAL_ERROR, text))

    def advance(self, number: int, now: float) -> None:
        """Move one connection after its poll event."""
        flight = self._flights.get(number)
        if flight is None:
            return
        for document in flight.exchange.advance():
            self._deliver(flight, document)
            if flight.answered:
                flight.exchange.close(COMPLETE)
        if flight.exchange.state == OPEN:
            return
        del self._flights[number]
        if flight.message is None:
            if flight.exchange.answer.status == 405:
                self.conversation.listens = False
        elif not flight.answered:
            self._settle(flight, flight.message, now)

    def _settle(self, flight: Flight, message: Message, now: float) -> None:
        """Decide what the end of a connection without an answer so far means."""
        exchange, status = flight.exchange, flight.exchange.answer.status
        if exchange.state == BROKEN or (exchange.events and status == 200):
            self._again(flight, message, "The Standfast host broke off this request")
        elif status == 202 and message.request_id is None:
            self.served = True
            if message.method == "notifications/initialized" and not flight.modern:
                self.conversation.initialized = message
        elif status == 404 and flight.session is not None:
            self.conversation.lost(flight.session)
            self._again(flight, message, "The Standfast host does not know this session")
        elif status == 401:
            self.conversation.read_token()
            self._again(flight, message, "The Standfast host does not accept the token of this home")
        elif status in (502, 503):
            self._not_before = now + 5 * _SOON_SECONDS
            self._again(flight, message, "The Standfast host is overloaded or stopping")
        else:
            self._deliver(flight, bytes(exchange.body))

    def _again(self, flight: Flight, message: Message, trouble: str) -> None:
        """Put a message back into its place, or give it up after its last attempt."""
        if flight.cancelled:
            return
        if message.internal:
            self.conversation.stale = True
            self._replay_failed(trouble)
            return
        message.attempts += 1
        if message.attempts >= ATTEMPTS:
            self._fail(message, f"{trouble} {ATTEMPTS} times. Run `standfast status`, then try again.")
            return
        self._waiting.append(message)
        self._waiting.sort(key=lambda each: each.ordinal)

    def _replay_failed(self, trouble: str) -> None:
        self._replays += 1
        if self._replays >= ATTEMPTS:
            self._replays = 0
            text = f"{trouble} while the conversation was taken up again. Run `standfast status`."
            self._refuse(text, time.monotonic())

    def _deliver(self, flight: Flight, document: bytes) -> None:
        """Hand a document of the host's to the client, or keep it if it belongs to a handshake of our own."""
        message = flight.message
        try:
            value = json.loads(document)
        except (ValueError, RecursionError):
            value = None
        if message is None or (isinstance(value, dict) and "method" in value):
            if isinstance(value, dict) and not flight.cancelled:
                self.out.append(one_line(document))
            return
        flight.answered, self.served, request_id = True, True, message.request_id
        if not is_answer_to(value, request_id):
            document = _error_of(value, document, flight.exchange.answer.status, request_id)
        if message.method == "initialize":
            self._handshaken(flight, message, document)
        if request_id is not None and not message.internal and not flight.cancelled:
            self.out.append(one_line(document))

    def _handshaken(self, flight: Flight, message: Message, document: bytes) -> None:
        talk = self.conversation
        if not talk.opened(flight.exchange.answer.headers.get("mcp-session-id"), document):
            if message.internal:
                self._replay_failed("The Standfast host refused the handshake")
            return
        self._replays = 0
        if message.internal and talk.initialized is not None:
            self._waiting.insert(0, _copy(talk.initialized))


def _handshakes(message: Message) -> bool:
    return message.version is None and message.method in ("initialize", "notifications/initialized")


def _same_id(one: object, other: object) -> bool:
    return one is not None and type(one) is type(other) and one == other


def _copy(message: Message) -> Message:
    """The same message as one of ours: its answer is not the client's."""
    copy = Message(message.raw, message.ordinal)
    copy.method, copy.request_id = message.method, message.request_id
    copy.internal = True
    return copy


def _error_of(value: object, body: bytes, status: int, request_id: jsonrpc.Id) -> bytes:
    """What the host said when it was not an answer to this request, as an error that is."""
    error = value.get("error") if isinstance(value, dict) else None
    code, text = (error.get("code"), error.get("message")) if isinstance(error, dict) else (None, None)
    if isinstance(error, dict) and isinstance(code, int) and isinstance(text, str):
        return error_line(request_id, code, text, error.get("data"))
    said = " ".join(body[:200].decode("utf-8", "replace").split())
    return error_line(request_id, jsonrpc.INTERNAL_ERROR, f"The Standfast host answered {status}: {said}")
