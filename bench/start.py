"""What a start costs: commands against the same interpreter's `python -c pass`, in one run.

Each round starts every row once, in a rotated order; a row's ratio is the median over the rounds of its
time by the floor's time in that round, so that a machine that changes speed changes both. The times are
those of whole processes. Starts are made by a small helper process, because Linux gives a started process
the memory mark of the process that started it; memory below the helper's own (8 to 9 MiB) shows as that.

Rows: the floor, what the cheap start rests on (interpreter flags, imports), and the installed `standfast`
commands. A command that is not installed, or ends with an error, has no figure but a reason. `standfast
hook` and `tasks next` speak to the host of STANDFAST_HOME: start it first (`standfast up`).

Use: python -m bench.start [--runs N] [--only WORD] [--json FILE]
Not here: a verdict; `quality` goals are read off the ratios by a person.
"""

import argparse
import ast
import json
import os
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench import report
from tests.support.hosts import running_host

ROUNDS = 40
FLOOR = "python -c pass"
IMPORTS = (
    *("_socket", "socket", "select", "_json", "json", "threading", "argparse"),
    *("importlib.metadata", "msgspec", "http.client", "asyncio"),
)
HOOK_INPUT = json.dumps(
    {
        "session_id": "bench",
        "hook_event_name": "PreToolUse",
        "cwd": "/",
        "tool_name": "Read",
        "tool_input": {"file_path": "/x" * 500},
    }
)
MCP_INPUT = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "bench", "version": "0"},
        },
    }
)

HELPER = r'''
import posix, sys, time

def memory(pid):
    """Largest resident set so far in KiB, of a process that runs; 0 where there is no /proc."""
    try:
        with open(f"/proc/{pid}/status") as lines:
            return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)
    except OSError:
        return 0

def start(command, given, until_line, sink):
    """Seconds to the exit (or to the first line of output), KiB of memory, and the exit status."""
    stdin, feed = posix.pipe()
    answer, stdout = posix.pipe()
    actions = [(posix.POSIX_SPAWN_DUP2, stdin, 0), (posix.POSIX_SPAWN_DUP2, stdout, 1),
               (posix.POSIX_SPAWN_DUP2, sink, 2)]
    posix.set_inheritable(sink, True)
    begun = time.perf_counter()
    pid = posix.posix_spawnp(command[0], command, posix.environ, file_actions=actions)
    posix.close(stdin)
    posix.close(stdout)
    try:
        posix.write(feed, given)
    except BrokenPipeError:
        pass
    if not until_line:
        posix.close(feed)
    output = b""
    while chunk := posix.read(answer, 65536):
        output += chunk
        if until_line and b"\n" in output:
            break
    spent, used = time.perf_counter() - begun, memory(pid)
    if until_line:
        posix.close(feed)
    _, status, usage = posix.wait4(pid, 0)
    posix.close(answer)
    if until_line:
        return spent, used, 0 if b"\n" in output else posix.waitstatus_to_exitcode(status) or -1
    return time.perf_counter() - begun, usage.ru_maxrss, posix.waitstatus_to_exitcode(status)

def main():
    rows, runs = eval(sys.stdin.read())
    sink = posix.open("/dev/null", posix.O_WRONLY)
    results = {name: [start(*row, sink)] for name, *row in rows}
    good = [row for row in rows if results[row[0]][0][2] == 0]
    for turn in range(runs):
        at = turn % len(good)
        for name, *row in good[at:] + good[:at]:
            results[name].append(start(*row, sink))
    print(results)

main()
'''


@dataclass(frozen=True)
class Row:
    """One command; `until_line` measures to its first line of output instead of to its end."""

    name: str
    command: tuple[str, ...]
    given: str = ""
    until_line: bool = False


@dataclass(frozen=True)
class Figure:
    """What was measured of a row. Medians; times in milliseconds, memory in MiB, ratio to the floor."""

    name: str
    runs: int
    ratio: float = 0.0
    wall_ms: float = 0.0
    memory_mib: float = 0.0
    left_out: str = ""


def interpreter_rows() -> list[Row]:
    """The floor and what the recipe rests on."""
    isolated = (sys.executable, "-I", "-S", "-c")
    package_path = sysconfig.get_path("platlib")
    found = f"import sys; sys.path.append({package_path!r}); import "
    return [
        Row(FLOOR, (sys.executable, "-c", "pass")),
        Row("python -I -c pass", (sys.executable, "-I", "-c", "pass")),
        Row("python -I -S -c pass", (*isolated, "pass")),
        Row("python -I -S, _exit", (*isolated, "import posix; posix._exit(0)")),
        *(Row(f"-I -S, import {name}", (*isolated, found + name)) for name in IMPORTS),
        Row("-I -S, import _socket select json", (*isolated, found + "_socket, select, json")),
        Row("/bin/sh -c :", ("/bin/sh", "-c", ":")),
    ]


def command_rows(command: str) -> list[Row]:
    """The commands of the product that have a goal."""
    return [
        Row("standfast --version", (command, "--version")),
        Row("standfast hook claude", (command, "hook", "claude"), HOOK_INPUT),
        Row("standfast tasks next", (command, "tasks", "next")),
        Row("standfast mcp, first answer", (command, "mcp"), MCP_INPUT + "\n", until_line=True),
    ]


def measure(rows: Sequence[Row], runs: int) -> list[Figure]:
    """Figures in the order of `rows`, whose first is the floor. Raises on a helper that fails."""
    given = [(row.name, list(row.command), row.given.encode(), row.until_line) for row in rows]
    ended = subprocess.run(
        [sys.executable, "-I", "-S", "-c", HELPER],
        input=repr((given, runs)),
        capture_output=True,
        text=True,
        check=True,
    )
    results: dict[str, list[tuple[float, int, int]]] = ast.literal_eval(ended.stdout)
    floor = [seconds for seconds, _, _ in results[rows[0].name][1:]]
    return [figure(row.name, results[row.name], floor) for row in rows]


def figure(name: str, starts: list[tuple[float, int, int]], floor: list[float]) -> Figure:
    """One row's medians; the first start only warmed up and told whether the command works."""
    failed = next((status for _, _, status in starts if status != 0), 0)
    if failed:
        return Figure(name, 0, left_out=f"exit status {failed}")
    times = [seconds for seconds, _, _ in starts[1:]]
    return Figure(
        name,
        len(times),
        statistics.median(time / base for time, base in zip(times, floor, strict=True)),
        statistics.median(times) * 1000,
        statistics.median(used for _, used, _ in starts[1:]) / 1024,
    )


def table(figures: Sequence[Figure]) -> str:
    """The figures as text, one row a line."""
    lines = [f"{'':36} {'ratio':>6} {'ms':>7} {'MiB':>6} {'runs':>5}"]
    for row in figures:
        if row.left_out:
            lines.append(f"{row.name:36} left out: {row.left_out}")
        else:
            numbers = f"{row.ratio:6.2f} {row.wall_ms:7.2f} {row.memory_mib:6.1f} {row.runs:5}"
            lines.append(f"{row.name:36} {numbers}")
    return "\n".join(lines)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Ratios of process starts to `python -c pass`.")
    parser.add_argument("--runs", type=int, default=ROUNDS, help=f"rounds (default {ROUNDS})")
    parser.add_argument("--only", default="", help="only rows whose name contains this, and the floor")
    parser.add_argument("--json", type=Path, help="write the figures here as well")
    return parser.parse_args(arguments)


def rows() -> list[report.Row]:
    """The host's readiness and the commands with a goal, against the floor."""
    script = str(Path(sysconfig.get_path("scripts")) / "standfast")
    with tempfile.TemporaryDirectory(prefix="standfast-bench-") as folder:
        home = Path(folder) / "home"
        begun = time.perf_counter()
        with running_host(home):
            ready = time.perf_counter() - begun
            wanted = [
                *interpreter_rows()[:1],
                Row("standfast --version", (script, "--version")),
                Row("standfast status", (script, "status", "--home", str(home))),
                Row("standfast hook claude", (script, "hook", "claude", "--home", str(home)), HOOK_INPUT),
            ]
            floor, version, status, hook = measure(wanted, ROUNDS)
    against = f"{FLOOR} ({floor.wall_ms:.0f} ms)"
    return [
        report.Row("host ready, empty home", ready * 1000, "ms", f"{ready * 1000 / floor.wall_ms:.0f} × {FLOOR}"),
        report.Row(version.name, version.ratio, "×", against, 3),
        report.Row(status.name, status.ratio, "×", against),
        report.Row(hook.name, hook.ratio, "×", against, 2.2),
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 0 also if commands were left out, since the table says so."""
    chosen = parse(arguments)
    script = Path(sysconfig.get_path("scripts")) / "standfast"
    rows = interpreter_rows()
    missing: list[Figure] = []
    if os.access(script, os.X_OK):
        rows += command_rows(str(script))
    else:
        missing = [Figure(row.name, 0, left_out="not installed") for row in command_rows("")]
    kept = [row for row in rows if row.name == FLOOR or chosen.only in row.name]
    figures = measure(kept, chosen.runs) + missing
    print(table(figures))
    if chosen.json:
        records = [vars(row) for row in figures]
        chosen.json.write_text(json.dumps({"floor": FLOOR, "python": sys.version, "rows": records}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
