"""The pipe outlives its host: killed, put down, crashing, missing; the client notices only what it must."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp_pipe import VERSIONS, PipeProcess, host_command, host_pid, kill_host, logged, running, text_of


@pytest.fixture(params=VERSIONS)
def pipe(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PipeProcess]:
    """A pipe in the middle of a conversation."""
    with PipeProcess(tmp_path / "home", request.param) as process:
        process.open()
        yield process


@pytest.mark.requirement("MCP-10")
def test_a_killed_host_is_started_again_and_the_conversation_goes_on(pipe: PipeProcess) -> None:
    assert pipe.call("count") == "count 1"
    before = json.loads(pipe.call("context"))
    os.kill(host_pid(pipe.home), signal.SIGKILL)
    assert pipe.call("count") == "count 2"
    after = json.loads(pipe.call("context"))
    assert after["client_session"] == before["client_session"]
    assert pipe.modern or after["transport_session"] != before["transport_session"]
    assert len(logged(pipe.home, "starts")) == 2


def test_a_call_that_was_done_before_the_host_died_is_answered_by_its_receipt(pipe: PipeProcess) -> None:
    asked = pipe.start_call("count_and_die")
    assert text_of(pipe.answer(asked)) == "count 1"
    assert logged(pipe.home, "calls") == ["count_and_die", "count_and_die"]
    assert pipe.call("count") == "count 2"


def test_a_call_that_was_not_done_before_the_host_died_is_done_afterwards(pipe: PipeProcess) -> None:
    assert pipe.call("die") == "alive"


@pytest.mark.requirement("MCP-10")
def test_every_call_in_flight_is_sent_again_and_answered_once(pipe: PipeProcess) -> None:
    waiting = [pipe.start_call("wait") for _ in range(3)]
    while logged(pipe.home, "waits").count("began") < 3:
        pipe.call("echo", text="are they there yet?")
    os.kill(host_pid(pipe.home), signal.SIGKILL)
    while logged(pipe.home, "waits").count("began") < 6:
        pipe.call("echo", text="are they there again?")
    pipe.call("release")
    for asked in waiting:
        assert text_of(pipe.answer(asked)) == "released"
    pipe.close_stdin()
    assert pipe.receive() is None
    assert pipe.kept == []


@pytest.mark.parametrize("pipe", VERSIONS[:2], indirect=True)
def test_a_session_that_the_host_forgot_is_opened_again(pipe: PipeProcess) -> None:
    session = json.loads(pipe.call("context"))["transport_session"]
    with socket.socket(socket.AF_UNIX) as peer:
        peer.connect(str(pipe.home / "host.sock"))
        token = (pipe.home / "tokens" / "agent").read_text()
        peer.sendall(
            f"DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nMcp-Session-Id: {session}\r\n"
            f"Authorization: Bearer {token}\r\n\r\n".encode()
        )
        assert b" 200 " in peer.recv(4096)
    assert json.loads(pipe.call("context"))["transport_session"] not in (None, session)
    assert len(logged(pipe.home, "starts")) == 1


def test_a_call_that_kills_every_host_is_given_up_and_the_pipe_stays(pipe: PipeProcess) -> None:
    error = pipe.request("tools/call", {"name": "die_always", "arguments": {}})["error"]
    assert "4 times" in error["message"]
    assert pipe.call("echo", text="still here") == "still here"


def test_a_host_that_is_put_down_and_brought_up_again_is_not_noticed(pipe: PipeProcess) -> None:
    (pipe.home / "down").touch()
    os.kill(host_pid(pipe.home), signal.SIGKILL)
    asked = pipe.start_call("count")
    with running(host_command(pipe.home)):
        assert text_of(pipe.answer(asked)) == "count 1"


@pytest.mark.requirement("HOST-05")
def test_a_host_that_is_down_on_purpose_is_not_started(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "down").touch()
    with PipeProcess(home, VERSIONS[1]) as pipe:
        assert "standfast up" in pipe.open()["error"]["message"]
        assert logged(home, "starts") == []


@pytest.mark.requirement("HOST-04")
def test_without_a_host_each_request_is_told_what_to_do_and_the_pipe_stays(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with PipeProcess(home, VERSIONS[1], command=["sh", "-c", "echo no such database >&2; exit 1"]) as pipe:
        message = pipe.open()["error"]["message"]
        assert "no such database" in message
        assert "standfast up" in message
        assert "standfast up" in pipe.request("tools/list")["error"]["message"]
        with running(host_command(home)):
            while "error" in (answer := pipe.request("tools/list")):
                assert "standfast up" in answer["error"]["message"]
            # The handshake that could not be delivered is made up for.
            assert pipe.call("echo", text="hello") == "hello"


def test_a_wrong_token_is_an_error_that_names_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with PipeProcess(home, VERSIONS[1]) as first:
        first.open()
        (home / "tokens" / "agent").write_text("of another home")
        with PipeProcess(home, VERSIONS[1]) as second:
            assert "token" in second.open()["error"]["message"]


@pytest.mark.requirement("HOST-04")
def test_many_clients_at_once_start_one_host(tmp_path: Path) -> None:
    home = tmp_path / "home"
    pipes = [PipeProcess(home, VERSIONS[number % 3]) for number in range(6)]
    try:
        for pipe in pipes:
            pipe.write_open()
        assert ["result" in pipe.receive() for pipe in pipes] == [True] * 6
        assert len(logged(home, "starts")) == 1
    finally:
        for pipe in pipes:
            pipe.__exit__()
        kill_host(home)
