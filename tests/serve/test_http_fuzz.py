"""No input makes a server error: every operation over HTTP with bodies that follow its schema and that break it."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from schemathesis import GenerationMode

from standfast.domain.errors import CODES
from standfast.host.catalogue import CATALOGUE
from standfast.serve.errors import STATUS
from standfast.serve.schema import openapi
from tests.support.hosts import Reply, Running

logging.getLogger("schemathesis").setLevel(logging.ERROR)
SCHEMA = schemathesis.openapi.from_dict(openapi(CATALOGUE))
EXAMPLES = 12
LEFT_OUT = {"host.backup": "it writes a file wherever it is told to; its paths have tests of their own"}
OPERATIONS = sorted(set(CATALOGUE) - set(LEFT_OUT))


@pytest.fixture(scope="module")
def host(planned: Running) -> Iterator[Running]:
    """A host with something in it to hit."""
    yield planned
    assert planned.done("audit.verify", {})["ok"]


def judge(reply: Reply, operation: str, body: Any) -> None:
    """An answer, or a refusal with a registered code that says something and goes with its status."""
    if reply.status == 200:
        assert set(reply.json) == {"result", "receipt", "replayed"}
        return
    error = reply.json["error"]
    assert reply.status < 500 or error["code"] in ("unavailable", "storage_full"), (operation, body, error)
    assert CODES[error["code"]].kind in STATUS
    assert reply.status == STATUS[CODES[error["code"]].kind]
    assert error["message"].strip()


def send(host: Running, operation: str, body: Any, role: str) -> Reply:
    """The body as JSON, whatever it is; a wait would only cost time."""
    if isinstance(body, dict):
        body.pop("wait_seconds", None)
    headers = {"Authorization": f"Bearer {host.token(role)}", "Content-Type": "application/json"}
    try:
        text = json.dumps(body).encode()
    except (TypeError, ValueError):
        text = repr(body).encode()
    return host.request("POST", f"/v1/op/{operation}", text, **headers)


@pytest.mark.requirement("HTTP-09")
@pytest.mark.parametrize("role", ["operator", "agent"])
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE], ids=["follows", "breaks"])
@pytest.mark.parametrize("operation", OPERATIONS)
def test_no_body_makes_a_server_error(host: Running, operation: str, mode: GenerationMode, role: str) -> None:
    strategy = SCHEMA[f"/v1/op/{operation}"]["POST"].as_strategy(generation_mode=mode)

    @seed(1)
    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(case=strategy)
    def sends(case: Any) -> None:
        judge(send(host, operation, case.body, role), operation, case.body)

    sends()


@pytest.mark.requirement("HTTP-09")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\xff\xfe",
        b"null",
        b"[" * 100_000,
        b'{"a":' * 20_000,
        b'{"session":"' + b"x" * 100_000 + b'"}',
        b'{"after":1e999}',
        b'{"after":123456789012345678901234567890}',
        b'{"session":"\\ud800"}',
        b'{"session":"\\u0000"}',
        b'{"session":1,"session":2}',
    ],
    ids=repr,
)
@pytest.mark.parametrize("operation", ["events.list", "plan.submit", "session.start", "plan.tick"])
def test_no_bytes_make_a_server_error(host: Running, operation: str, body: bytes) -> None:
    headers = {"Authorization": f"Bearer {host.token('operator')}", "Content-Type": "application/json"}
    judge(host.request("POST", f"/v1/op/{operation}", body, **headers), operation, body)


def test_what_is_left_out_is_an_operation() -> None:
    assert set(LEFT_OUT) <= set(CATALOGUE)
