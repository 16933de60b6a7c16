"""What the pipe and the endpoint cost, as ratios measured in one run, alternating.

- pipe: from its start to its answer to `initialize` (host running), against `python -c pass` and against the
  SDK's own stdio server with one trivial tool; and its memory afterwards.
- endpoint: a tool call over one kept-alive HTTP connection, against the SDK's trivial tool served the SDK's
  own way.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from bench.report import Row

ROOT = Path(__file__).parents[1]
STANDIN = ROOT / "tests" / "serve" / "mcp_standin.py"
ENVIRON = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
SDK = """
import sys
from mcp.server import MCPServer
server = MCPServer("sdk")
@server.tool(structured_output=False)
def echo(text: str) -> str:
    "Say it back."
    return text
if len(sys.argv) > 1:
    import socket, uvicorn
    listening = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    app = server.streamable_http_app()
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listening])
else:
    server.run("stdio")
"""
ROUNDS = 15
CLIENT = {"name": "bench", "version": "1"}
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}


def message(method: str, params: object, number: int = 1) -> bytes:
    """One request as a line."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n"


def first_answer(command: list[str]) -> tuple[float, int]:
    """Seconds from the start of a stdio server to its answer to `initialize`, and its memory in kB then."""
    begun = time.perf_counter()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=ENVIRON, **pipes) as server:
        server.stdin.write(message("initialize", INITIALIZE))
        server.stdin.flush()
        assert b'"result"' in server.stdout.readline()
        took = time.perf_counter() - begun
        memory = int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{server.pid}/status").read_text()).group(1))
        server.stdin.close()
        server.stdout.read()
    return took, memory


def nothing() -> float:
    """Seconds that `python -c pass` takes."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", "pass"], env=ENVIRON, check=True)
    return time.perf_counter() - begun


class Client:
    """A kept-alive HTTP client of one endpoint in one era."""

    def __init__(self, url: str, *, modern: bool) -> None:
        self._modern = modern
        self._connection = http.client.HTTPConnection(re.search(r"//(.*)/", url).group(1))
        accept = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        version = "2026-07-28" if modern else "2025-11-25"
        self._headers = {
            **accept,
            "MCP-Protocol-Version": version,
            "Mcp-Method": "tools/call",
            "Mcp-Name": "echo",
        }
        if not modern:
            self._connection.request("POST", "/mcp", message("initialize", INITIALIZE), accept)
            answer = self._connection.getresponse()
            answer.read()
            self._headers["Mcp-Session-Id"] = answer.headers["mcp-session-id"]

    def calls(self, count: int) -> float:
        """Seconds per call."""
        params = {"name": "echo", "arguments": {"text": "hello"}}
        if self._modern:
            params["_meta"] = ENVELOPE
        begun = time.perf_counter()
        for number in range(count):
            self._connection.request("POST", "/mcp", message("tools/call", params, number + 2), self._headers)
            assert b"hello" in self._connection.getresponse().read()
        return (time.perf_counter() - begun) / count


def bench_pipe(home: Path, rounds: int) -> dict[str, float]:
    """The pipe's start against its floor and its peer."""
    run = "import sys; from standfast.client.pipe import main; sys.exit(main(sys.argv[1:], ['false']))"
    pipe, sdk = [sys.executable, "-c", run, "--home", str(home)], [sys.executable, "-c", SDK]
    while (
        b"result"
        not in subprocess.run(
            pipe, input=message("initialize", INITIALIZE), capture_output=True, env=ENVIRON, check=True
        ).stdout
    ):
        continue
    floor, ours, theirs, memory = [], [], [], 0
    for _ in range(rounds):
        floor.append(nothing())
        took, memory = first_answer(pipe)
        ours.append(took)
        theirs.append(first_answer(sdk)[0])
    return {
        "python_pass_ms": median(floor) * 1e3,
        "pipe_ready_ms": median(ours) * 1e3,
        "sdk_stdio_ready_ms": median(theirs) * 1e3,
        "pipe_over_pass": median(ours) / median(floor),
        "pipe_over_sdk": median(ours) / median(theirs),
        "pipe_rss_kb": memory,
    }


def bench_endpoint(ours: str, sdk: str, rounds: int) -> dict[str, float]:
    """A tool call at both endpoints, in both eras."""
    figures = {}
    for era, modern in (("2025", False), ("2026", True)):
        pair = [Client(ours, modern=modern), Client(sdk, modern=modern)]
        for client in pair:
            client.calls(100)
        times = [[client.calls(100) for client in pair] for _ in range(rounds)]
        mine, theirs = (median(column) for column in zip(*times, strict=True))
        figures |= {f"call_{era}_ms": mine * 1e3, f"sdk_call_{era}_ms": theirs * 1e3}
        figures[f"throughput_over_sdk_{era}"] = theirs / mine
    return figures


def figures(rounds: int) -> dict[str, float]:
    """Both, over stand-ins of the host."""
    with tempfile.TemporaryDirectory() as folder:
        home, quiet = Path(folder) / "home", {"stdout": subprocess.PIPE, "text": True}
        with (
            subprocess.Popen([sys.executable, str(STANDIN), str(home)], env=ENVIRON) as host,
            subprocess.Popen([sys.executable, str(STANDIN), folder, "--tcp"], env=ENVIRON, **quiet) as tcp,
            subprocess.Popen([sys.executable, "-c", SDK, "--http"], env=ENVIRON, **quiet) as sdk,
        ):
            found = bench_endpoint(tcp.stdout.readline(), sdk.stdout.readline(), rounds)
            for server in (tcp, sdk):
                server.kill()
            found |= bench_pipe(home, rounds)
            host.kill()
    return found


def rows() -> list[Row]:
    """The pipe and the endpoint against their goals."""
    found = figures(ROUNDS)
    sdk = "the SDK's stdio server"
    trivial = "the SDK's trivial tool over HTTP"
    return [
        Row("standfast mcp: first answer", found["pipe_over_pass"], "×", "python -c pass", 4),
        Row("standfast mcp: first answer, peer", found["pipe_over_sdk"], "×", sdk, 0.1),
        Row("standfast mcp: memory", found["pipe_rss_kb"] / 1000, "MB", "", 15),
        Row("/mcp: tool call, 2025 era", found["throughput_over_sdk_2025"], "×", trivial, 0.7, at_least=True),
        Row("/mcp: tool call, 2026 era", found["throughput_over_sdk_2026"], "×", trivial, 0.7, at_least=True),
    ]
