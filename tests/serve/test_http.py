"""The HTTP surface of a real host: who gets in, what is answered, what is streamed."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import socket
import stat
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response

from standfast import config
from standfast.host.catalogue import CATALOGUE
from standfast.host.policy import POLICY
from standfast.serve.http import guarded
from tests.support.hosts import PLAN, PYTHON, Running, running_host
from tests.support.processes import wait_until


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running_host(tmp_path_factory.mktemp("h") / "home") as running:
        yield running


def test_health_needs_no_token_and_everything_else_does(host: Running) -> None:
    assert host.request("GET", "/healthz").json["ok"] is True
    for verb, path in (
        ("POST", "/v1/op/host.status"),
        ("GET", "/v1/operations"),
        ("GET", "/v1/openapi.json"),
        ("GET", "/v1/events"),
        ("GET", "/v1/artifacts/P-1"),
        ("POST", "/mcp"),
        ("POST", "/v1/connection/closed"),
    ):
        reply = host.request(verb, path)
        assert (reply.status, reply.code) == (401, "unauthenticated"), path


def test_a_wrong_token_and_one_of_another_home_are_refused(host: Running, tmp_path: Path) -> None:
    with running_host(tmp_path / "other") as other:
        for token in ("wrong", other.token("operator"), "", "co.ses_x.0123"):
            reply = host.request("POST", "/v1/op/host.status", {}, Authorization=f"Bearer {token}")
            assert reply.status == 401


@pytest.mark.requirement("HTTP-03")
@pytest.mark.parametrize("name", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80"])
def test_a_rebound_host_name_is_refused(host: Running, name: str) -> None:
    headers = {"Authorization": f"Bearer {host.token('operator')}"}
    reply = host.request("POST", "/v1/op/host.status", {}, tcp=True, Host=name, **headers)
    assert reply.status == 403


@pytest.mark.requirement("HTTP-03")
def test_a_request_of_another_site_is_refused(host: Running) -> None:
    headers = {"Authorization": f"Bearer {host.token('operator')}"}
    port = host.facts["port"]
    for origin in ("http://evil.example", f"http://localhost:{port + 1}", "null", f"https://127.0.0.1:{port}"):
        reply = host.request("POST", "/v1/op/host.status", {}, tcp=True, Origin=origin, **headers)
        assert reply.status == 403, origin
    same = host.request("POST", "/v1/op/host.status", {}, tcp=True, Origin=f"http://127.0.0.1:{port}", **headers)
    assert same.status == 200


@pytest.mark.parametrize("operation", sorted(name for name, roles in POLICY.items() if "agent" not in roles))
def test_an_agent_is_refused_every_operation_that_is_not_its_own(host: Running, tmp_path: Path, operation: str) -> None:
    _, token = host.session(tmp_path / "w", f"policy-{operation}")
    reply = host.op(operation, {}, "agent", Standfast_Session=token)
    assert (reply.status, reply.code) == (403, "forbidden")


def test_an_agent_cannot_speak_for_a_session_without_its_token(host: Running, tmp_path: Path) -> None:
    mine, _ = host.session(tmp_path / "w", "mine")
    for false in (mine, f"{mine}.00000000000000000000000000000000"):
        reply = host.op("plan.tasks", {}, "agent", Standfast_Session=false)
        assert (reply.status, reply.code) == (403, "forbidden")


@pytest.mark.requirement("HTTP-02")
@pytest.mark.parametrize(
    ("body", "code"),
    [(b"{", "invalid"), (b"[]", "invalid"), (b'{"plan": 7}', "invalid"), (b'{"plan": "P-1", "x": 1}', "invalid")],
)
def test_a_body_that_does_not_fit_is_refused_with_what_is_wrong(host: Running, body: bytes, code: str) -> None:
    reply = host.request("POST", "/v1/op/plan.get", body, Authorization=f"Bearer {host.token('operator')}")
    assert (reply.status, reply.code) == (400, code)
    assert reply.json["error"]["message"]


def test_a_body_beyond_the_limit_is_refused(host: Running) -> None:
    body = b'{"plan": "' + b"x" * 2_200_000 + b'"}'
    reply = host.request("POST", "/v1/op/plan.get", body, Authorization=f"Bearer {host.token('operator')}")
    assert (reply.status, reply.code) == (413, "limit")


def test_an_unknown_operation_is_not_found(host: Running) -> None:
    assert host.op("plan.sing", {}).code == "unknown_operation"


@pytest.mark.requirement("HTTP-01")
def test_the_same_key_gives_the_stored_answer_and_another_payload_a_conflict(host: Running, tmp_path: Path) -> None:
    _, token = host.session(tmp_path / "w", "keys")
    wish = {"title": "Plan", "question": "Go?", "markdown": PLAN}
    sent = {"Standfast_Session": token, "Idempotency_Key": "k-1"}
    first = host.op("plan.submit", wish, "agent", **sent).json
    again = host.op("plan.submit", wish, "agent", **sent).json
    assert again == {**first, "replayed": True}
    other = host.op("plan.submit", {**wish, "title": "Other"}, "agent", **sent)
    assert (other.status, other.code) == (409, "idempotency_conflict")


@pytest.mark.requirement("HTTP-05")
def test_the_catalogue_and_the_openapi_document_name_every_operation(host: Running) -> None:
    headers = {"Authorization": f"Bearer {host.token('observer')}"}
    listed = host.request("GET", "/v1/operations", **headers).json["operations"]
    assert {entry["name"] for entry in listed} == set(CATALOGUE)
    paths = host.request("GET", "/v1/openapi.json", **headers).json["paths"]
    assert set(paths) == {f"/v1/op/{name}" for name in CATALOGUE}


@pytest.mark.requirement("HTTP-08")
def test_an_artifact_is_the_exact_bytes_under_their_digest(host: Running, tmp_path: Path) -> None:
    markdown = "# Plan\r\n\r\n- [ ] päck\t it \u202e\r\n"
    plan, _ = host.approved(tmp_path / "w", markdown, "bytes")
    headers = {"Authorization": f"Bearer {host.token('operator')}"}
    reply = host.request("GET", f"/v1/artifacts/{plan['plan']}", **headers)
    assert reply.body == markdown.encode()
    assert reply.headers["etag"] == f'"{plan["sha256"]}"'
    fresh = host.request("GET", f"/v1/artifacts/{plan['plan']}", If_None_Match=reply.headers["etag"], **headers)
    assert (fresh.status, fresh.body) == (304, b"")


@pytest.mark.requirement("DOOR-07")
def test_a_verdict_ends_a_wait_at_once(host: Running, tmp_path: Path) -> None:
    _, token = host.session(tmp_path / "w", "waits")
    wish = {"title": "Plan", "question": "Go?", "markdown": PLAN}
    plan = host.done("plan.submit", wish, "agent", Standfast_Session=token)
    answers: list[str] = []

    def wait() -> None:
        result = host.done("plan.status", {"wait_seconds": 50}, "agent", Standfast_Session=token)
        answers.append(result["status"])

    waiting = threading.Thread(target=wait)
    waiting.start()
    wish = {"plan": plan["plan"], "version": plan["version"], "sha256": plan["sha256"], "mode": "auto"}
    host.done("plan.approve", wish)
    waiting.join(20)
    assert answers == ["approved"]


@pytest.mark.requirement("HTTP-06")
def test_a_stream_resumes_after_the_last_event_without_loss(host: Running, tmp_path: Path) -> None:
    host.approved(tmp_path / "w", name="stream-1")
    first = _read_events(host, 0, 3)
    host.approved(tmp_path / "w", name="stream-2")
    rest = _read_events(host, first[-1], 5)
    numbers = first + rest
    assert numbers == list(range(1, len(numbers) + 1))


def _read_events(host: Running, after: int, count: int) -> list[int]:
    connection = http.client.HTTPConnection("127.0.0.1", host.facts["port"], timeout=20)
    headers = {"Authorization": f"Bearer {host.token('observer')}", "Last-Event-ID": str(after)}
    connection.request("GET", "/v1/events", headers=headers)
    answer = connection.getresponse()
    assert answer.getheader("content-type", "").startswith("text/event-stream")
    numbers: list[int] = []
    while len(numbers) < count:
        line = answer.readline()
        if line.startswith(b"id: "):
            numbers.append(int(line[4:]))
        elif line.startswith(b"data: "):
            assert json.loads(line[6:])["seq"] == numbers[-1]
    connection.close()
    return numbers


@pytest.mark.requirement("HTTP-07")
def test_a_reader_that_fell_behind_is_told_where_it_stands_and_misses_nothing(host: Running, tmp_path: Path) -> None:
    _, token = host.session(tmp_path / "w", "busy")
    for n in range(120):
        host.done("turn.start", {"turn": f"t{n}"}, "agent", Standfast_Session=token)
        host.done("turn.end", {"turn": f"t{n}", "stop_reason": "completed"}, "agent", Standfast_Session=token)
    connection = http.client.HTTPConnection("127.0.0.1", host.facts["port"], timeout=20)
    connection.request("GET", "/v1/events", headers={"Authorization": f"Bearer {host.token('observer')}"})
    answer = connection.getresponse()
    seen, behind = 0, []
    while seen < 240:
        line = answer.readline()
        if line.startswith(b"id: "):
            assert int(line[4:]) == seen + 1
            seen += 1
        elif line == b"event: behind\n":
            behind.append((seen, json.loads(answer.readline().removeprefix(b"data: "))["after"]))
    connection.close()
    assert behind == [(200, 200)]


@pytest.mark.requirement("HOST-03")
def test_the_port_is_announced_and_is_the_next_free_one(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with running_host(tmp_path / "home", "--port", str(port)) as host:
            assert port < host.facts["port"] < port + 50
            assert host.request("GET", "/healthz", tcp=True).json["ok"] is True
    assert config.DEFAULT_PORT == 4747


@pytest.mark.requirement("HOST-09")
def test_a_home_whose_socket_path_would_be_too_long_is_refused_with_what_to_do(tmp_path: Path) -> None:
    home = tmp_path / ("h" * 100)
    done = subprocess.run([*PYTHON, "up", "--home", str(home)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (1, 3)
    assert "100 bytes" in done.stderr
    assert "STANDFAST_HOME" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.requirement("HOST-02")
def test_everything_in_a_home_is_its_owners_alone(host: Running) -> None:
    for path in (host.home, *host.home.rglob("*")):
        assert stat.S_IMODE(path.lstat().st_mode) & 0o077 == 0, path


@pytest.mark.requirement("HOST-01")
def test_a_second_host_on_the_same_home_cannot_start(host: Running) -> None:
    with pytest.raises(AssertionError, match="Another host holds"), running_host(host.home):
        pass
    assert host.process.running()


def test_a_terminated_host_ends_cleanly_and_takes_its_announcement_away(tmp_path: Path) -> None:
    with running_host(tmp_path / "home") as host:
        host.process.child.terminate()
        assert host.process.ended(20) == 0
        wait_until(lambda: not (host.home / "host.json").exists(), "the announcement to go")
        assert not (host.home / "host.sock").exists()


def test_a_fault_of_the_program_is_told_as_one_and_kept_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    async def broken(request: Request) -> Response:
        raise ZeroDivisionError

    scope = {"type": "http", "method": "GET", "path": "/v1/op/x", "headers": [(b"host", b"localhost")]}
    answer = asyncio.run(guarded(broken)(Request(scope)))
    assert answer.status_code == 500
    assert json.loads(bytes(answer.body))["error"]["code"] == "internal"
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.parametrize("operation", ["session.start", "plan.submit"])
def test_a_store_that_broke_is_told_with_what_to_do(tmp_path: Path, operation: str) -> None:
    with running_host(tmp_path / "home") as host:
        _, token = host.session(tmp_path / "w")
        for file in host.home.glob("*.db*"):
            file.unlink()
        wishes: dict[str, dict[str, object]] = {
            "session.start": {"client": "c", "client_session_id": "x", "workspace": str(tmp_path / "w")},
            "plan.submit": {"title": "T", "question": "?", "markdown": PLAN},
        }
        reply = host.op(operation, wishes[operation], "agent", Standfast_Session=token)
        assert (reply.status, reply.code) == (503, "storage_failed")
        assert re.search("deleted or replaced|cannot be read", reply.json["error"]["message"])
    assert list((tmp_path / "w").rglob("*.md")) == []
