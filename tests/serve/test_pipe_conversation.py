"""The pipe in ordinary conversations: a real process, the real endpoint, every protocol version in use."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp_pipe import VERSIONS, PipeProcess, logged

MEMORY_LIMIT_KB = 15 * 1024


@pytest.fixture(params=VERSIONS)
def pipe(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PipeProcess]:
    """A pipe on an empty home: its first message starts the host."""
    with PipeProcess(tmp_path / "home", request.param) as process:
        yield process


@pytest.mark.requirement("MCP-01")
def test_the_first_message_starts_a_host_and_is_answered(pipe: PipeProcess) -> None:
    result = pipe.open()["result"]
    assert result["instructions"] == "Tools for tests."
    assert result.get("protocolVersion", pipe.version) == pipe.version
    assert len(logged(pipe.home, "starts")) == 1


def test_a_conversation_lists_calls_reads_and_prompts(pipe: PipeProcess) -> None:
    pipe.open()
    tools = {tool["name"]: tool for tool in pipe.request("tools/list")["result"]["tools"]}
    assert tools["echo"]["annotations"] == {"readOnlyHint": True}
    assert "annotations" not in tools["count"]
    assert "outputSchema" not in tools["count"]
    assert pipe.call("echo", text="two\nlines, é, ☃") == "two\nlines, é, ☃"
    read = pipe.request("resources/read", {"uri": "standin://state"})["result"]
    assert read["contents"] == [{"uri": "standin://state", "mimeType": "text/markdown", "text": "# State"}]
    templates = pipe.request("resources/templates/list")["result"]["resourceTemplates"]
    assert [each["uriTemplate"] for each in templates] == ["standin://item/{id}"]
    prompt = pipe.request("prompts/get", {"name": "greet", "arguments": {"who": "Ada"}})["result"]
    assert prompt["messages"][0]["content"]["text"] == "Greet Ada."


def test_a_refusal_is_a_tool_error_with_text_only(pipe: PipeProcess) -> None:
    pipe.open()
    result = pipe.answer(pipe.start_call("refuse"))["result"]
    assert result["isError"] is True
    assert result["content"] == [{"type": "text", "text": "not_open: send plan_enter first"}]
    assert "structuredContent" not in result


def test_unknown_names_are_protocol_errors_with_their_name(pipe: PipeProcess) -> None:
    pipe.open()
    for method, params, name in (
        ("tools/call", {"name": "nope", "arguments": {}}, "nope"),
        ("prompts/get", {"name": "nope"}, "nope"),
        ("prompts/get", {"name": "greet", "arguments": {}}, "who"),
    ):
        error = pipe.request(method, params)["error"]
        assert error["code"] == -32602
        assert name in error["message"]
    missing = pipe.request("resources/read", {"uri": "standin://nope"})["error"]
    assert missing["code"] == (-32602 if pipe.modern else -32002)
    assert missing["data"] == {"uri": "standin://nope"}


def test_an_inner_failure_says_nothing_of_the_inside(pipe: PipeProcess) -> None:
    pipe.open()
    error = pipe.request("tools/call", {"name": "break", "arguments": {}})["error"]
    assert error["code"] == -32603
    assert "secret" not in error["message"]


def test_the_surface_learns_who_calls(pipe: PipeProcess) -> None:
    pipe.open()
    first, second = json.loads(pipe.call("context")), json.loads(pipe.call("context"))
    assert first["role"] == "agent"
    assert first["client_name"] == "test client é"
    assert first["workspace"] == os.getcwd()
    assert first["parent_pid"] == os.getpid()
    assert first["protocol_version"] == pipe.version
    assert first["client_session"] == second["client_session"]
    assert re.fullmatch(rf"{first['client_session']}-\d+", first["idempotency_key"])
    assert first["idempotency_key"] != second["idempotency_key"]
    assert (first["transport_session"] is None) == pipe.modern


def test_the_environment_names_the_session_and_the_command_line_the_tools(tmp_path: Path) -> None:
    named = {"STANDFAST_CLIENT_SESSION": "session of the hook"}
    with PipeProcess(tmp_path / "home", VERSIONS[-1], arguments=["--tools", "narrow"], environ=named) as pipe:
        assert [tool["name"] for tool in pipe.request("tools/list")["result"]["tools"]] == ["echo"]
        assert json.loads(pipe.call("context"))["client_session"] == "session of the hook"


def test_a_long_call_does_not_stand_in_the_way_of_others(pipe: PipeProcess) -> None:
    pipe.open()
    waiting = pipe.start_call("wait")
    assert "result" in pipe.request("server/discover" if pipe.modern else "ping")
    assert pipe.call("release") == "released"
    assert pipe.answer(waiting)["result"]["content"][0]["text"] == "released"


def test_a_cancelled_call_ends_in_the_host_and_is_answered_by_nobody(pipe: PipeProcess) -> None:
    pipe.open()
    waiting = pipe.start_call("wait")
    while "began" not in logged(pipe.home, "waits"):
        pipe.call("echo", text="is it there yet?")
    pipe.send("notifications/cancelled", {"requestId": waiting}, notify=True)
    while "cancelled" not in logged(pipe.home, "waits"):
        pipe.call("echo", text="has it gone?")
    pipe.close_stdin()
    rest = []
    while (message := pipe.receive()) is not None:
        rest.append(message)
    assert waiting not in [message.get("id") for message in [*rest, *pipe.kept]]


def test_memory_stays_within_its_bound(pipe: PipeProcess) -> None:
    pipe.open()
    for number in range(50):
        assert pipe.call("echo", text=f"{number}") == f"{number}"
    status = Path(f"/proc/{pipe.process.pid}/status")
    if not status.exists():
        pytest.skip("no /proc on this platform to read the memory from")
    found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text())
    assert found is not None
    assert int(found.group(1)) <= MEMORY_LIMIT_KB


@pytest.mark.parametrize("arguments", [["--nonsense"], ["--home"]])
def test_a_wrong_command_line_is_told_on_stderr_with_exit_code_2(tmp_path: Path, arguments: list[str]) -> None:
    with PipeProcess(tmp_path / "home", VERSIONS[0], arguments=arguments) as pipe:
        assert pipe.process.wait(20) == 2
        assert pipe.receive() is None
