"""Where the pipe ends and what it does not take: end of input, a dead parent, bad and huge messages."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp_pipe import PATIENCE_SECONDS, RUN_PIPE, SOURCE, VERSIONS, PipeProcess, logged, running, text_of

LIMIT = 4 * 1024 * 1024
PARENT = """
import subprocess, sys
subprocess.run([sys.executable, "-c", *sys.argv[1:]])
"""


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[PipeProcess]:
    """A pipe on an empty home."""
    with PipeProcess(tmp_path / "home", VERSIONS[1]) as process:
        yield process


@pytest.mark.requirement("MCP-09")
@pytest.mark.parametrize("version", VERSIONS)
def test_at_the_end_of_input_what_is_in_flight_is_answered_and_the_host_is_told(tmp_path: Path, version: str) -> None:
    with PipeProcess(tmp_path / "home", version) as pipe:
        pipe.open()
        session = json.loads(pipe.call("context"))["client_session"]
        asked = pipe.start_call("count")
        pipe.close_stdin()
        assert text_of(pipe.answer(asked)) == "count 1"
        assert pipe.receive() is None
        assert pipe.process.wait(20) == 0
        assert logged(pipe.home, "closed") == [session]


def test_a_last_line_without_its_newline_is_a_message(pipe: PipeProcess) -> None:
    pipe.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
    pipe.close_stdin()
    assert pipe.receive() == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert pipe.receive() is None


def test_a_signal_ends_the_pipe_and_the_host_is_told(pipe: PipeProcess) -> None:
    pipe.open()
    pipe.start_call("wait")
    pipe.call("echo", text="the wait is under way")
    pipe.process.send_signal(signal.SIGTERM)
    assert pipe.process.wait(20) == 0
    assert len(logged(pipe.home, "closed")) == 1


@pytest.mark.requirement("MCP-09")
def test_the_pipe_ends_when_its_parent_is_gone_though_its_input_stays_open(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PARENT, RUN_PIPE, "None", "--home", str(tmp_path)]
    environ = {**os.environ, "PYTHONPATH": str(SOURCE)}
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "env": environ}
    with running(command, **piped) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        parent.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        parent.stdin.flush()
        assert b'"result"' in parent.stdout.readline()
        os.kill(parent.pid, signal.SIGKILL)
        # Only the pipe still holds the other end of stdout: it becomes readable by its end.
        ended, _, _ = select.select([parent.stdout], [], [], PATIENCE_SECONDS)
        assert ended
        assert parent.stdout.read() == b""


@pytest.mark.parametrize(
    ("line", "code", "request_id"),
    [
        (b'{"jsonrpc":"2.0","id":1,"method":', -32700, None),
        (b"\xff\xfe{}", -32700, None),
        (b"[" * 100_000, -32700, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":7}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":7,"method":"a\\r\\nX-Injected: 1"}', -32600, 7),
    ],
)
def test_a_line_that_is_no_message_is_answered_with_an_error_and_the_pipe_goes_on(
    pipe: PipeProcess, line: bytes, code: int, request_id: int | None
) -> None:
    pipe.write(line + b"\n")
    answer = pipe.receive()
    assert (answer["error"]["code"], answer["id"]) == (code, request_id)
    assert pipe.request("ping")["result"] == {}


@pytest.mark.parametrize(
    ("head", "tail", "request_id"),
    [
        ('{"jsonrpc":"2.0","id":41,"method":"x","params":{"text":"', '"}}', 41),
        ('{"method":"x","params":{"text":"', '"},"jsonrpc":"2.0","id":"late"}', "late"),
        ('{"params":{"text":"', '","id":5},"method":"x"}', None),
    ],
)
def test_a_message_over_the_limit_is_refused_under_its_own_id(
    pipe: PipeProcess, head: str, tail: str, request_id: int | str | None
) -> None:
    pipe.write(head.encode() + b"x" * LIMIT + tail.encode() + b"\n")
    answer = pipe.receive()
    assert answer["id"] == request_id
    assert "4194304 bytes" in answer["error"]["message"]
    assert pipe.request("ping")["result"] == {}


def test_a_message_just_under_the_limit_comes_through_whole(pipe: PipeProcess) -> None:
    pipe.open()
    text = "y" * (LIMIT - 1000)
    assert pipe.call("echo", text=text) == text


def test_a_client_that_does_not_read_for_a_while_loses_nothing(tmp_path: Path) -> None:
    with PipeProcess(tmp_path / "home", VERSIONS[2]) as pipe:
        pipe.open()
        asked = [pipe.start_call("echo", text=f"{number}:" + "z" * 50_000) for number in range(40)]
        assert [text_of(pipe.answer(each)).split(":")[0] for each in asked] == [str(n) for n in range(40)]
