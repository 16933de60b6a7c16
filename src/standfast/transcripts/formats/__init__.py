"""One module per client: its records, read into entries. Nothing here knows what a list is."""

from __future__ import annotations

from typing import Final

from standfast.transcripts.formats.claude import Claude
from standfast.transcripts.formats.codex import Codex
from standfast.transcripts.formats.gemini import Gemini
from standfast.transcripts.formats.hermes import Hermes
from standfast.transcripts.formats.kiro import Kiro
from standfast.transcripts.formats.opencode import OpenCode
from standfast.transcripts.formats.pi import Pi
from standfast.transcripts.formats.qwen import Qwen
from standfast.transcripts.formats.shared import DocumentFormat, Format
from standfast.transcripts.formats.vibe import Vibe

DOCUMENTS: Final[dict[str, DocumentFormat]] = {
    reader.name: reader for reader in (Gemini(), Hermes(), Kiro(), OpenCode(), Vibe())
}
"""The readers of the clients that also keep a session as one JSON text, by the client's name."""

READERS: Final[dict[str, Format]] = {
    **DOCUMENTS,
    **{reader.name: reader for reader in (Claude(), Codex(), Pi(), Qwen())},
}
"""All readers by the client's name."""
