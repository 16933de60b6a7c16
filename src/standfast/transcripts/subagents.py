"""The files of a Claude Code session's subagents: beside the session's own, or (older) in the same folder by name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from standfast.transcripts.events import MAIN
from standfast.transcripts.reader import Transcript, open_transcript

FILES_LIMIT: Final = 500
"""Subagents' files that are read, and files that are looked at for that."""


def transcripts_of(own: Transcript) -> Iterator[Transcript]:
    """The subagents' transcripts of a session's own file; links are not followed, what cannot be opened is left out."""
    header = own.first_header() if own.format == "claude" else None
    if header is None or header.agent != MAIN:
        return
    for path in islice(_candidates(own.path), FILES_LIMIT):
        try:
            found = open_transcript(path)
        except OSError:
            continue
        theirs = found.first_header() if found.format == "claude" else None
        if theirs is not None and theirs.agent != MAIN and theirs.session == header.session:
            yield found


def _candidates(path: Path) -> Iterator[Path]:
    for folder, names in ((path.with_suffix("") / "subagents", "**/*.jsonl"), (path.parent, "agent-*.jsonl")):
        if folder.is_dir():
            yield from (each for each in sorted(folder.glob(names)) if each != path and not each.is_symlink())
