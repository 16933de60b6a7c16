"""The pipe's parts on their own: framing, events, headers, messages from the host, and what is imported."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.inbound import decode_header_value
from mcp_pipe import HERE, SOURCE, PipeProcess, running

from standfast.client.home import home_directory
from standfast.client.http1 import Answer, BadAnswer, Events
from standfast.client.jsonrpc import header_safe, header_text, is_answer_to, percent, read_message
from standfast.client.lines import Lines, Oversize
from standfast.client.start import clean_environment
from standfast.serve.mcp_headers import context_of, text_of

CUTS = st.lists(st.integers(min_value=1, max_value=40), min_size=1)
CHUNKED = (
    b"HTTP/1.1 100 Continue\r\n\r\n"
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"5\r\ndata:\r\n6;x=y\r\n {}\n\r\n\r\n1\r\n\n\r\n0\r\n"
)


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    """`data` cut at the given distances, again and again."""
    found, place, turn = [], 0, 0
    while place < len(data):
        found.append(data[place : place + cuts[turn % len(cuts)]])
        place += cuts[turn % len(cuts)]
        turn += 1
    return found


@given(st.lists(st.binary(max_size=30).filter(lambda line: b"\n" not in line)), CUTS)
def test_lines_are_the_same_however_they_arrive(lines: list[bytes], cuts: list[int]) -> None:
    reader, found = Lines(20), []
    for piece in pieces(b"\n".join(lines), cuts):
        found.extend(reader.feed(piece))
    found.extend(reader.finish())
    whole = [line for line in found if isinstance(line, bytes)]
    assert whole == [line.strip() for line in lines if len(line) <= 20 and line.strip()]
    assert len(found) - len(whole) == sum(len(line) > 20 for line in lines)


@given(CUTS)
def test_an_answer_in_chunks_is_the_same_however_it_arrives(cuts: list[int]) -> None:
    answer, events, found = Answer(), Events(), []
    for piece in pieces(CHUNKED, cuts):
        assert not answer.complete
        found.extend(events.feed(answer.feed(piece)))
    assert (answer.status, answer.complete, found) == (200, True, [b"{}"])


@given(st.integers(min_value=0, max_value=len(CHUNKED) - 1))
def test_an_answer_that_breaks_off_is_never_complete(length: int) -> None:
    answer = Answer()
    answer.feed(CHUNKED[:length])
    answer.end()
    assert not answer.complete


@given(st.binary(max_size=200))
def test_bytes_that_are_no_http_are_refused_or_never_complete(data: bytes) -> None:
    answer = Answer()
    try:
        answer.feed(b"HTTP/1.1 x" + data)
    except BadAnswer:
        return
    assert not answer.complete


@given(st.text(max_size=200).filter(str.isprintable))
def test_a_header_text_arrives_as_it_was_sent(text: str) -> None:
    sent = percent(text)
    assert sent.isascii()
    assert text_of(sent) == (text or None)


@given(st.text(max_size=50))
def test_the_name_header_is_what_the_sdk_reads_back(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    assert header_safe(header_text(text))
    assert decode_header_value(header_text(text)) == text


@pytest.mark.parametrize("value", ["a%0d%0ab", "%ff", "x" * 20_000, "", None])
def test_a_header_with_control_characters_bad_bytes_or_no_end_is_absent(value: str | None) -> None:
    assert text_of(value) is None


def test_a_client_without_the_pipe_is_known_by_its_transport_session_and_its_protocol() -> None:
    headers = {"mcp-session-id": "abc", "standfast-parent-pid": "-5"}
    context = context_of(headers, "profile=codex", client_name="codex", protocol_version="2025-06-18", meta={})
    assert (context.client_session, context.client_name, context.profile) == ("abc", "codex", "codex")
    assert (context.parent_pid, context.role) == (None, "agent")


def test_a_message_is_forwarded_byte_by_byte() -> None:
    line = b'{ "jsonrpc":"2.0", "id" : 1e0, "id": 12345678901234567890, "method":"x" }'
    message = read_message(line, 1)
    assert (message.raw, message.request_id) == (line, 12345678901234567890)


def test_an_oversize_line_keeps_only_its_edges() -> None:
    reader = Lines(1000)
    for _ in range(100):
        assert reader.feed(b"x" * 1000) == []
    [found] = reader.finish()
    assert isinstance(found, Oversize)
    assert len(found.head) + len(found.tail) <= 1024


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"STANDFAST_HOME": "/h", "XDG_STATE_HOME": "/x"}, "/h"),
        ({"XDG_STATE_HOME": "/x"}, "/x/standfast"),
        ({"XDG_STATE_HOME": "relative"}, str(Path.home() / ".local/state/standfast")),
        ({}, str(Path.home() / ".local/state/standfast")),
    ],
)
def test_the_home_is_named_by_the_environment_or_the_xdg_state_directory(
    environ: dict[str, str], expected: str
) -> None:
    assert home_directory(environ) == expected


@pytest.mark.requirement("HOST-04")
def test_a_host_on_demand_inherits_none_of_the_clients_secrets_and_settings() -> None:
    client = {
        "PATH": "/bin",
        "LC_ALL": "C",
        "XDG_STATE_HOME": "/x",
        "ANTHROPIC_API_KEY": "k",
        "PYTHONPATH": "/p",
        "STANDFAST_DATABASE_URL": "u",
        "LD_PRELOAD": "l",
    }
    assert clean_environment(client) == {"PATH": "/bin", "LC_ALL": "C", "XDG_STATE_HOME": "/x"}


@pytest.fixture
def chatty(tmp_path: Path) -> Iterator[PipeProcess]:
    """A pipe in the middle of a conversation with a host that speaks of its own accord."""
    command = [sys.executable, str(HERE / "mcp_chatty.py"), str(tmp_path)]
    with running(command) as host, PipeProcess(tmp_path, "2025-11-25", command=["true"]) as pipe:
        while "error" in pipe.open():
            assert host.poll() is None
        yield pipe


def test_what_the_host_says_reaches_the_client_and_the_clients_answer_the_host(chatty: PipeProcess) -> None:
    assert chatty.receive()["method"] == "notifications/tools/list_changed"
    asked = chatty.start_call("anything")
    assert chatty.receive()["params"] == {"progressToken": 1, "progress": 0.5}
    question = chatty.receive()
    assert question["method"] == "roots/list"
    roots = {"roots": [{"uri": "file:///x"}]}
    reply = {"jsonrpc": "2.0", "id": question["id"], "result": roots}
    chatty.write(json.dumps(reply).encode() + b"\n")
    [content] = chatty.answer(asked)["result"]["content"]
    assert json.loads(content["text"]) == roots


def test_the_whole_handshake_is_said_again_to_a_host_that_forgot_the_session(chatty: PipeProcess) -> None:
    assert chatty.call("forget") == "forgotten"
    assert chatty.call("forget") == "forgotten"


@pytest.mark.parametrize(
    ("document", "answers"),
    [
        ({"id": 1, "result": {}}, True),
        ({"id": 1, "error": {}}, True),
        ({"id": 1, "method": "roots/list"}, False),
        ({"id": True, "result": {}}, False),
        ({"id": "1", "result": {}}, False),
        ({"result": {}}, False),
        ([], False),
    ],
)
def test_only_a_response_with_the_same_id_answers_a_request(document: object, answers: bool) -> None:
    assert is_answer_to(document, 1) is answers


def imported_by(module: str) -> set[str]:
    """The modules that are loaded after importing one in a fresh interpreter."""
    code = f"import sys; sys.path.insert(0, {str(SOURCE)!r}); import {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.split())


@pytest.mark.requirement("MCP-01")
def test_the_pipe_imports_nothing_heavy() -> None:
    loaded = imported_by("standfast.client.pipe")
    heavy = {
        "asyncio",
        "argparse",
        "http",
        "urllib",
        "typing",
        "threading",
        "subprocess",
        "logging",
        "msgspec",
        "mcp",
    }
    assert loaded & heavy == set()
    assert "standfast.client.courier" in loaded


def test_the_endpoint_is_mounted_without_importing_the_sdk() -> None:
    assert "mcp" not in imported_by("standfast.serve.mcp")
    assert "mcp" in imported_by("standfast.serve.mcp_handlers")
