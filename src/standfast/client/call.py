"""One blocking call of one operation over the host's unix socket: what the command line uses.

Starts the host on demand. A `Session` header is a session's id for people and observers, a session's token
for an agent. An answer that broke off is asked for again once with the same key, which makes that safe.
"""

import json
import os
from collections.abc import Callable, Mapping
from typing import Any

from standfast.client.home import SOCKET
from standfast.client.http1 import BadAnswer, exchange, request_bytes
from standfast.client.start import HostUnavailable, ensure_host
from standfast.client.versions import settle

TIMEOUT_SECONDS = 70.0


class Refused(Exception):
    """The host refused; `code`, `message`, `retryable` and `details` as it sent them."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(str(error.get("message", "")))
        self.code = str(error.get("code", "internal"))
        self.message = str(error.get("message", ""))
        self.retryable = bool(error.get("retryable"))
        self.details: Mapping[str, Any] = error.get("details") or {}


class Connection:
    """Calls under one role of one home. `start` says whether a host may be started.

    `passphrase` asks the person for what opens the operator lock, given why it asks; None where nobody can be asked.
    """

    def __init__(self, home: str, role: str = "operator", *, session: str | None = None, start: bool = True) -> None:
        self.home = home
        self.role = role
        self.session = session
        self.passphrase: Callable[[str], str] | None = None
        self._start = start
        self._settled = False

    def call(self, operation: str, payload: Mapping[str, Any] | None = None, key: str | None = None) -> dict[str, Any]:
        """The operation's result. Raises `Refused` and `HostUnavailable`."""
        key = key or f"cli-{os.urandom(12).hex()}"
        body = json.dumps(payload or {}).encode()
        headers = [("Content-Type", "application/json"), ("Idempotency-Key", key)]
        given: list[tuple[str, str]] = []
        while True:
            status, answer = self.request("POST", f"/v1/op/{operation}", headers + given, body)
            if status == 200:
                result: dict[str, Any] = answer["result"]
                return result
            refused = Refused(answer.get("error", {"message": f"the host answered {status}"}))
            if refused.code != "passphrase_required" or self.passphrase is None:
                raise refused
            given = [("Standfast-Passphrase", _percent(self.passphrase(refused.message)))]

    def request(
        self, verb: str, path: str, headers: list[tuple[str, str]] | None = None, body: bytes = b""
    ) -> tuple[int, dict[str, Any]]:
        """One request and its JSON answer; tried twice when the connection broke."""
        if self._start:
            self._reach()
        for last in (False, True):
            try:
                return self._once(verb, path, headers or [], body)
            except (OSError, BadAnswer) as error:
                if last or not self._start:
                    raise HostUnavailable(f"The host does not answer: {error}. Run `standfast up`.") from error
                ensure_host(self.home)
        raise AssertionError("unreachable")

    def _reach(self) -> None:
        """Starts a host where none answers; at the first call settles which version goes on."""
        ensure_host(self.home)
        if not self._settled:
            probe = Connection(self.home, self.role, start=False)
            if settle(self.home, lambda: probe.call("host.status")):
                ensure_host(self.home)
            self._settled = True

    def _once(self, verb: str, path: str, headers: list[tuple[str, str]], body: bytes) -> tuple[int, dict[str, Any]]:
        sent = [("Authorization", f"Bearer {self._token()}"), *headers]
        if self.session is not None:
            sent.append(("Standfast-Session", self.session))
        socket_path = os.path.join(self.home, SOCKET)
        status, received = exchange(socket_path, request_bytes(verb, path, sent, body), TIMEOUT_SECONDS)
        return status, json.loads(received or b"{}")

    def _token(self) -> str:
        try:
            with open(os.path.join(self.home, "tokens", self.role), encoding="ascii") as stream:
                return stream.read().strip()
        except OSError as error:
            raise HostUnavailable(f"No token in {self.home}: {error.strerror}. Run `standfast up`.") from error


def _percent(text: str) -> str:
    """A text as a header can carry it."""
    from urllib.parse import quote

    return quote(text, safe="")
