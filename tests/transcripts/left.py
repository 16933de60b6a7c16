"""What a synthetic transcript left behind, and two lists to write into it."""

from __future__ import annotations

from pathlib import Path

from standfast import transcripts
from standfast.transcripts import FoundList
from tests.transcripts.written import Todos, save

OPEN: Todos = [("Read the code", "completed"), ("Write the fix", "in_progress"), ("Run the tests", "pending")]
OLDER: Todos = [("Read the code", "in_progress"), ("Write the fix", "pending")]


def left_by(folder: Path, data: bytes, name: str = "session.jsonl") -> transcripts.Report:
    """The report of a transcript with these bytes."""
    return transcripts.restore(save(folder, data, name))


def pairs(found: FoundList | None) -> Todos:
    """A list's contents and statuses."""
    assert found is not None
    return [(item.content, item.status) for item in found.items]


def whys(report: transcripts.Report) -> list[str]:
    """Why calls counted for nothing, the newest first."""
    return [each.why for each in report.ignored]
