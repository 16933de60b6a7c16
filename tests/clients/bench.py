"""One client at work: a throw-away HOME and project, a real host, a scripted model, nothing else.

The client gets an empty environment plus what its driver names, a dead proxy for everything that is not loopback,
and no key of anybody. It is started in a process group of its own, so that it can be killed with what it started.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients import install
from tests.clients.model.script import Asked, Say, Script
from tests.clients.model.server import serving
from tests.support.hosts import Running, running_host, stop_any
from tests.support.processes import wait_until

SECONDS = 120
DEAD = "http://127.0.0.1:9"


@dataclass(frozen=True)
class Ran:
    """A finished run of a client."""

    code: int
    out: str
    err: str


class Bench:
    """Where a client is driven. `home` is Standfast's, `person` the client's HOME."""

    def __init__(self, root: Path, script: Script, model: str) -> None:
        self.script, self.model = script, model
        self.home, self.person, self.project, self.scratch = (
            root / name for name in ("sf", "person", "project", "scratch")
        )
        for folder in (self.person, self.project, self.scratch):
            folder.mkdir()
        (self.project / "README.md").write_text("# A project\n")
        subprocess.run(["git", "init", "-q", "."], cwd=self.project, check=True)
        self._host = contextlib.ExitStack()
        self.host: Running

    def raise_host(self) -> None:
        """Starts a host on the home; the one before must have ended."""
        self._host.close()
        self.host = self._host.enter_context(running_host(self.home))

    def kill_host(self) -> None:
        """SIGKILL, as a crash would."""
        self.host.process.kill()

    def close(self) -> None:
        """Stops the host, and one that a client started on demand."""
        self._host.close()
        stop_any(self.home)

    def environment(self, **more: object) -> dict[str, str]:
        """What a client's process gets."""
        path = [Path(sys.executable).parent, install.node(), "/usr/local/bin", "/usr/bin", "/bin"]
        proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), DEAD)
        return {
            **proxies,
            "NO_PROXY": "127.0.0.1,localhost",
            "no_proxy": "127.0.0.1,localhost",
            "HOME": str(self.person),
            "PATH": os.pathsep.join(map(str, path)),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "TMPDIR": str(self.scratch),
            **{name: str(value) for name, value in more.items()},
        }

    def run(self, command: Sequence[str | Path], environ: Mapping[str, str], said: str = "") -> Ran:
        """Runs a client to its end; fails with what it wrote when it does not come to one."""
        with self.started(command, environ) as child:
            try:
                out, err = child.communicate(said.encode(), SECONDS)
            except subprocess.TimeoutExpired:
                _kill(child)
                out, err = child.communicate()
                raise AssertionError(f"{command[0]} did not end\n{out[-2000:]!r}\n{err[-2000:]!r}") from None
        return Ran(child.returncode, out.decode(errors="replace"), err.decode(errors="replace"))

    def killed(self, command: Sequence[str | Path], environ: Mapping[str, str]) -> None:
        """Runs a client until it has asked the model, then kills it with all that it started."""
        before = len(self.script.turns())
        with self.started(command, environ) as child:
            assert child.stdin is not None
            child.stdin.close()
            wait_until(lambda: len(self.script.turns()) > before, "the client to ask the model", SECONDS)
            _kill(child)

    @contextlib.contextmanager
    def started(self, command: Sequence[str | Path], environ: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
        """A client as a child with pipes, dead when the block ends."""
        with subprocess.Popen(
            list(map(str, command)), cwd=self.project, env=dict(environ), start_new_session=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        ) as child:  # fmt: skip
            try:
                yield child
            finally:
                if child.poll() is None:
                    _kill(child)

    def standfast(self, *words: str) -> Ran:
        """The command line of Standfast, as a person calls it."""
        return self.run(["standfast", *words, "--home", str(self.home)], self.environment())

    # What a person sees and does.

    def plans(self) -> list[dict[str, Any]]:
        """The plans, newest first."""
        found: list[dict[str, Any]] = self.host.done("plan.list", {})["plans"]
        return found

    def approve(self) -> dict[str, Any]:
        """A person's yes to the one pending plan."""
        [plan] = [each for each in self.plans() if each["status"] == "pending"]
        self.host.done("plan.approve", {key: plan[key] for key in ("plan", "version", "sha256")} | {"mode": "client"})
        return plan

    def view(self, session: str) -> str:
        """The resume view of a session, as a person reads it."""
        return str(self.host.done("context.resume", {"session": session})["text"])

    def play(self, *replies: Say) -> int:
        """Sets what the model says; the number of the next request of the conversation."""
        self.script.play(*replies)
        return len(self.script.turns())

    def asked(self, number: int) -> Asked:
        """A request of the conversation."""
        return self.script.turns()[number]


def _kill(child: subprocess.Popen[bytes]) -> None:
    """Ends a child that is ours, with its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


@contextlib.contextmanager
def bench() -> Iterator[Bench]:
    """A bench for the length of the block. Its folder has a short name: a socket's path is bounded."""
    root = Path(tempfile.mkdtemp(prefix="sfc-"))
    script = Script()
    try:
        with serving(script) as model:
            made = Bench(root, script, model)
            try:
                made.raise_host()
                yield made
            finally:
                made.close()
    finally:
        shutil.rmtree(root, ignore_errors=True)
