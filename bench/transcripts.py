"""Restoring from a large transcript: time against a small one, and the memory of a process that does nothing else.

The transcripts are written when they are needed, with one conversation of small and large records, and are removed
afterwards.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.report import Row
from standfast import transcripts

ROUNDS = 7
MEGABYTE = 1024 * 1024
LARGE = 1024 * MEGABYTE
SMALL = 2 * MEGABYTE
AFTER = MEGABYTE
"""What follows the last write of the list."""

PEAK = """
import resource, sys
from standfast import transcripts
report = transcripts.restore(sys.argv[1])
assert report.main is not None
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


class Writer:
    """Writes one conversation of Claude Code into a file, record after record."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._count = 0
        self._parent: str | None = None

    def add(self, kind: str, content: object, details: object = None) -> None:
        """One record after the last."""
        self._count += 1
        own = f"00000000-0000-4000-8000-{self._count:012}"
        record = {
            "parentUuid": self._parent,
            "isSidechain": False,
            "type": kind,
            "message": {"id": f"msg_{self._count}", "role": kind, "content": content},
            "uuid": own,
            "timestamp": "2026-01-01T00:00:00.000Z",
            "sessionId": "c1a0de00-0000-4000-8000-000000000001",
            "version": "2.1.332",
        }
        if details is not None:
            record["toolUseResult"] = details
        self._file.write(json.dumps(record).encode() + b"\n")
        self._parent = own

    def call(self, tool: str, arguments: object, answer: str, details: object) -> None:
        """A call and its result."""
        call = f"toolu_{self._count}"
        self.add("assistant", [{"type": "tool_use", "id": call, "name": tool, "input": arguments}])
        self.add("user", [{"type": "tool_result", "tool_use_id": call, "content": answer}], details)

    def talk(self, length: int) -> None:
        """Prompts, words and results of other tools, about so many bytes."""
        end = self._file.tell() + length
        text = "Some words about the code that was read and changed. " * 20
        while self._file.tell() < end:
            self.add("user", "go on")
            self.add("assistant", [{"type": "text", "text": text}])
            self.call("Read", {"file_path": "/project/a.py"}, text * 8, {"file": {"content": text * 8}})

    def close(self) -> None:
        """Ends the file."""
        self._file.close()


def written(path: Path, length: int) -> Path:
    """A transcript whose last whole-list write stands `AFTER` bytes before its end."""
    todos = [{"content": f"Step {n}", "status": "pending", "activeForm": f"Step {n}"} for n in range(20)]
    writer = Writer(path)
    writer.talk(length - AFTER)
    writer.call("TodoWrite", {"todos": todos}, "Todos have been modified successfully.", {"newTodos": todos})
    writer.talk(AFTER)
    writer.close()
    return path


def patched(path: Path, length: int) -> Path:
    """A transcript whose list is known from changes only, the first of them at its beginning."""
    writer = Writer(path)
    for n in range(1, 21):
        said = {"task": {"id": str(n), "subject": f"Step {n}"}}
        writer.call("TaskCreate", {"subject": f"Step {n}"}, f"Task #{n} created successfully: Step {n}", said)
        writer.talk(length // 20)
        change = {"success": True, "taskId": str(n), "updatedFields": ["status"]}
        writer.call("TaskUpdate", {"taskId": str(n), "status": "completed"}, f"Updated task #{n} status", change)
    writer.close()
    return path


def seconds(action: Callable[[], object]) -> float:
    """How long it takes once."""
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def peak(path: Path) -> float:
    """Megabytes of a process that restores from a file, its interpreter included."""
    done = subprocess.run([sys.executable, "-c", PEAK, str(path)], capture_output=True, text=True, check=True)
    return float(done.stdout)


def read_through(path: Path) -> None:
    """The floor of one pass: the file's bytes."""
    with path.open("rb") as file:
        while file.read(MEGABYTE):
            pass


def rows() -> list[Row]:
    """What restoring costs."""
    with tempfile.TemporaryDirectory(prefix="standfast-bench-") as name:
        folder = Path(name)
        large, small = written(folder / "large.jsonl", LARGE), written(folder / "small.jsonl", SMALL)
        found = median(
            seconds(lambda: transcripts.restore(large)) / seconds(lambda: transcripts.restore(small))
            for _ in range(ROUNDS)
        )
        result = [
            Row("restore from 1 GB, list written 1 MB before end", found, "×", "from 2 MB", 3),
            Row("the same, memory of its process", peak(large), "MB", "", 64),
        ]
        large.unlink()
        changes = patched(folder / "changes.jsonl", LARGE)
        passed = seconds(lambda: read_through(changes)), seconds(lambda: transcripts.restore(changes))
        result += [
            Row("restore from 1 GB of changes without an answer", passed[1], "s", "one pass"),
            Row("the same", passed[1] / passed[0], "×", "reading the bytes"),
            Row("the same, memory of its process", peak(changes), "MB", "", 64),
        ]
        return result
