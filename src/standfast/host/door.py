"""The one door: every change and every reading of state is `Host.call(operation, payload, actor, key)`.

authorise (one policy table, the operator lock) -> check the input -> [prepare outside the transaction] -> begin ->
replay the receipt if the key was answered -> sweep what is due -> load and decide -> save rows and events ->
commit -> wake the waiters.

Invariants: nothing is published before the commit; a handler has no effect but its change; a refusal writes
nothing of the operation (what was due anyway, such as an expiry, stays written); the same key with the same
payload gives the stored answer, with another payload `idempotency_conflict`.

The core is synchronous and colourless: `submit` gives a future that a thread or an event loop can wait for.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, TypeVar

import msgspec

from standfast.domain.change import Actor, Change, Context
from standfast.domain.errors import Refusal
from standfast.host.artifacts import Artifacts
from standfast.host.catalogue import CATALOGUE
from standfast.host.gates import GateFiles
from standfast.host.hub import Hub, Listener
from standfast.host.lock import OperatorLock
from standfast.host.operation import WAIT_LIMIT_SECONDS, Answer, Operation, Prepared
from standfast.host.policy import authorise
from standfast.host.sweep import overdue, sweep
from standfast.host.texts import Texts
from standfast.host.work import Work
from standfast.store.tx import Receipt, Stamp, StorageFailed, Store, Tx

MAX_NUMBER: Final = 2**53
"""The largest whole number that every JSON reader keeps exactly."""
MAX_KEY: Final = 200
CLOCK: Final = Actor(role="host", name="clock")
T = TypeVar("T")
_encode: Final = msgspec.json.Encoder(order="deterministic").encode


def random_id(kind: str) -> str:
    """A fresh opaque id: a readable kind and 100 random bits."""
    return f"{kind}_{secrets.token_hex(13)[:25]}"


class Host:
    """A store behind its door.

    `home` identifies this installation (its secret signs session tokens), `boot` this run of the host.
    `new_id` is replaced by a counter in simulations. Close it with `close()`.
    """

    def __init__(
        self,
        store: Store,
        *,
        boot: str,
        secret: bytes = b"",
        artifacts: Artifacts | None = None,
        gates: GateFiles | None = None,
        lock: OperatorLock | None = None,
        new_id: Callable[[str], str] = random_id,
        workers: int = 4,
    ) -> None:
        self.store: Final = store
        self.boot: Final = boot
        self.secret: Final = secret
        self.artifacts: Final = artifacts or Artifacts()
        self.gates: Final = gates or GateFiles(None)
        self.lock: Final = lock or OperatorLock(None)
        self.hub: Final = Hub()
        self.texts: Final = Texts()
        self._new_id: Final = new_id
        self._pool: Final = ThreadPoolExecutor(workers, thread_name_prefix="standfast-work")

    def call(self, operation: str, payload: Mapping[str, Any], actor: Actor, key: str | None = None) -> Answer:
        """Runs one operation and waits for its answer. Raises `Refusal`, also when the store broke."""
        seconds = payload.get("wait_seconds")
        if isinstance(seconds, int) and seconds > 0:
            self._patience(operation, payload, actor, min(seconds, WAIT_LIMIT_SECONDS))
        return self.submit(operation, payload, actor, key).result()

    def _patience(self, operation: str, payload: Mapping[str, Any], actor: Actor, seconds: int) -> None:
        """Returns when the operation would no longer ask to wait, at most after `seconds`."""
        woken = threading.Event()
        forget = self.listen(lambda last, sessions: woken.set())
        deadline = time.monotonic() + seconds
        try:
            while self.still_waiting(operation, payload, actor):
                if not woken.wait(max(0.0, deadline - time.monotonic())):
                    return
                woken.clear()
        finally:
            forget()

    def submit(
        self, operation: str, payload: Mapping[str, Any], actor: Actor, key: str | None = None
    ) -> Future[Answer]:
        """As `call`, without waiting. Whatever goes wrong is the future's exception."""
        try:
            entry = CATALOGUE.get(operation)
            if entry is None:
                raise Refusal("unknown_operation", f"There is no operation {operation!r}.")
            authorise(actor, entry.name)
            self.lock.demand(actor, entry.name)
            command = read_input(entry, payload)
            checked = _checked_key(key)
            return self._start(entry, command, actor, checked)
        except Exception as error:
            failed: Future[Answer] = Future()
            failed.set_exception(error)
            return failed

    def _start(self, entry: Operation, command: Any, actor: Actor, key: str | None) -> Future[Answer]:
        if entry.effect == "read":
            return self._pool.submit(_telling, lambda: self._read(entry, command, actor))
        if entry.prepare is not None:
            return self._pool.submit(_telling, lambda: self._prepared(entry, command, actor, key))
        return self._write(entry, command, actor, key, None)

    def _read(self, entry: Operation, command: Any, actor: Actor) -> Answer:
        def work(tx: Tx) -> Answer:
            return Answer(entry.handler(Work(self, tx, self.context(tx, actor)), command).result)

        return self.store.read(work)

    def _prepared(self, entry: Operation, command: Any, actor: Actor, key: str | None) -> Answer:
        if key is not None:
            stored = self.store.read(lambda tx: self._replay(tx, entry, command, actor, key))
            if stored is not None:
                return stored
        assert entry.prepare is not None, "only operations with a preparation come here"
        if self.store.read(overdue):
            self.submit("plans.expire", {}, CLOCK).result()
        prepared = entry.prepare(self, command, actor, key)
        try:
            answer = self._write(entry, command, actor, key, prepared).result()
        except BaseException:
            prepared.settle(None)
            raise
        prepared.settle(None if answer.replayed else answer.result)
        return answer

    def _write(
        self, entry: Operation, command: Any, actor: Actor, key: str | None, prepared: Prepared | None
    ) -> Future[Answer]:
        outer: Future[Answer] = Future()
        published: list[tuple[int, Change]] = []

        def work(tx: Tx) -> Answer | Refusal:
            published.clear()
            return self._transact(tx, entry, command, Work(self, tx, self.context(tx, actor), prepared), key, published)

        def done(inner: Future[Answer | Refusal]) -> None:
            error = inner.exception()
            if error is None:
                self._publish(published)
            settle(outer, self._revealed(entry, inner.result()) if error is None else _told(error))

        self.store.write(work, actor.session or "").add_done_callback(done)
        return outer

    def _revealed(self, entry: Operation, outcome: Answer | Refusal) -> Answer | Refusal:
        """The answer with what is computed for its caller and never stored (tokens)."""
        if entry.reveal is None or isinstance(outcome, Refusal):
            return outcome
        return msgspec.structs.replace(outcome, result=entry.reveal(self, outcome.result))

    def _transact(
        self,
        tx: Tx,
        entry: Operation,
        command: Any,
        work: Work,
        key: str | None,
        published: list[tuple[int, Change]],
    ) -> Answer | Refusal:
        ctx = work.ctx
        clock = self.stamp(ctx, "clock")
        published.extend((tx.append(due.events, clock), due) for due in sweep(tx, ctx))
        try:
            if key is not None:
                stored = self._replay(tx, entry, command, ctx.actor, key)
                if stored is not None:
                    return stored
            change = entry.handler(work, command)
        except Refusal as refusal:
            return refusal
        if change.events:
            published.append((tx.append(change.events, self.stamp(ctx, ctx.actor.key)), change))
        if key is None:
            return Answer(change.result)
        return self._receipt(tx, entry, command, ctx, key, change)

    def _receipt(self, tx: Tx, entry: Operation, command: Any, ctx: Context, key: str, change: Change) -> Answer:
        receipt = Receipt(
            actor=ctx.actor.key,
            operation=entry.name,
            key=key,
            id=ctx.new_id("rcp"),
            digest=payload_digest(command),
            answer=_encode(change.result).decode(),
            kept=entry.verdict,
            at=ctx.now,
        )
        tx.save_receipt(receipt)
        return Answer(change.result, receipt.id)

    def _replay(self, tx: Tx, entry: Operation, command: Any, actor: Actor, key: str) -> Answer | None:
        stored = tx.receipt(actor.key, entry.name, key)
        if stored is None:
            return None
        if stored.digest != payload_digest(command):
            raise Refusal(
                "idempotency_conflict",
                f"The key {key!r} was used for {entry.name} with another payload; use a fresh key.",
                receipt=stored.id,
            )
        return Answer(msgspec.json.decode(stored.answer), stored.id, replayed=True)

    def _publish(self, published: list[tuple[int, Change]]) -> None:
        for last, change in published:
            self.gates.follow(change)
            if last:
                self.hub.publish(last, frozenset(e.session for e in change.events if e.session))

    def context(self, tx: Tx, actor: Actor) -> Context:
        """What a decision may know in this transaction."""
        return Context(now=tx.now(), actor=actor, new_id=self._new_id, boot=self.boot)

    def stamp(self, ctx: Context, actor: str) -> Stamp:
        """What the journal notes beside an event."""
        return Stamp(actor=actor, at=ctx.now, boot=self.boot)

    def still_waiting(self, operation: str, payload: Mapping[str, Any], actor: Actor) -> bool:
        """Whether a caller who sent `wait_seconds` should go on waiting. Raises `Refusal` as the call would."""
        entry = CATALOGUE.get(operation)
        if entry is None or entry.waiting is None:
            return False
        authorise(actor, operation)
        command, waiting = read_input(entry, payload), entry.waiting
        return self.look(lambda work: waiting(work, command), actor)

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Adds a listener of commits; the result removes it."""
        return self.hub.listen(listener)

    def new_id(self, kind: str) -> str:
        """A fresh opaque id."""
        return self._new_id(kind)

    def look(self, read: Callable[[Work], T], actor: Actor) -> T:
        """Reads on a snapshot, for preparations and for the host itself."""
        return self.store.read(lambda tx: read(Work(self, tx, self.context(tx, actor))))

    def write_change(self, decide: Callable[[Work], Change], actor: Actor) -> Mapping[str, Any]:
        """A write of the host's own (fence, intents, upkeep) through the same transaction path."""
        published: list[tuple[int, Change]] = []

        def work(tx: Tx) -> Mapping[str, Any]:
            published.clear()
            run = Work(self, tx, self.context(tx, actor))
            change = decide(run)
            if change.events:
                published.append((tx.append(change.events, self.stamp(run.ctx, actor.key)), change))
            return change.result

        result = self.store.write(work).result()
        self._publish(published)
        return result

    def close(self) -> None:
        """Finishes what runs, then closes the store."""
        self._pool.shutdown(wait=True)
        self.store.close()


def _told(error: BaseException) -> BaseException:
    """What callers are told of a store that broke; any other error as it is."""
    return Refusal("storage_failed", str(error)) if isinstance(error, StorageFailed) else error


def _telling(call: Callable[[], Answer]) -> Answer:
    try:
        return call()
    except StorageFailed as error:
        raise _told(error) from error


def settle(future: Future[Answer], outcome: Answer | BaseException) -> None:
    """Answers a future that nobody may have cancelled in between."""
    if not future.set_running_or_notify_cancel():
        return
    if isinstance(outcome, BaseException):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)


def read_input(entry: Operation, payload: Mapping[str, Any]) -> Any:
    """The typed input of an operation, or `invalid` with what does not fit."""
    trouble = _unkeepable(payload)
    if trouble is not None:
        raise Refusal("invalid", f"{entry.name}: {trouble}", operation=entry.name)
    try:
        return msgspec.convert(payload, entry.input)
    except msgspec.ValidationError as error:
        raise Refusal("invalid", f"{entry.name}: {error}.", operation=entry.name) from error


def _unkeepable(value: object) -> str | None:
    """What no store keeps, or not exactly, in words; None for what all keep."""
    if isinstance(value, str):
        return "a text holds the character U+0000, which no store keeps; take it out." if "\0" in value else None
    if isinstance(value, int):
        return None if -MAX_NUMBER <= value <= MAX_NUMBER else f"a number lies beyond ±{MAX_NUMBER}."
    if isinstance(value, Mapping):
        parts: Iterable[object] = (*value.keys(), *value.values())
    else:
        parts = value if isinstance(value, list | tuple) else ()
    return next((found for found in map(_unkeepable, parts) if found is not None), None)


def payload_digest(command: msgspec.Struct) -> str:
    """The identity of an input, hex SHA-256 over its canonical JSON."""
    return hashlib.sha256(_encode(command)).hexdigest()


def _checked_key(key: str | None) -> str | None:
    if key is None:
        return None
    if not key.strip() or len(key) > MAX_KEY or not key.isprintable():
        raise Refusal("invalid", f"An idempotency key has 1 to {MAX_KEY} printable characters.", field="key")
    return key
