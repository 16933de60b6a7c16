"""Reads the session files of coding agents, and says which list and which plans a session left behind.

Usable alone: no host, no store, nothing of Standfast is imported. Files are read only, from their end where the format
allows that, and nothing that stands in one raises: what is wrong with it is told as a value.

    from standfast import transcripts

    report = transcripts.restore("session.jsonl")     # the list in force, plans, what was ignored and why
    print(report.words())                             # for a person; report.data() is plain data for JSON
    report.main                                       # the newest list of the session's own thread, or None

    transcript = transcripts.open("session.jsonl")    # .format is "claude", "codex", "pi", …
    for event in transcript.events(): ...             # typed events in order; .backwards() gives the newest first

Both functions raise `OSError` for a file that cannot be opened, and nothing else. The types are in
`standfast.transcripts.events` (what a transcript says), `.lists` (`ListItem`) and `.report` (`Report`, `FoundList`,
`FoundPlan`, `Ignored`).
"""

from __future__ import annotations

from standfast.transcripts.reader import Transcript
from standfast.transcripts.reader import open_transcript as open  # noqa: A004 - as gzip.open and tarfile.open
from standfast.transcripts.report import FoundList, FoundPlan, Ignored, Report
from standfast.transcripts.restoring import restore

__all__ = ["FoundList", "FoundPlan", "Ignored", "Report", "Transcript", "open", "restore"]
