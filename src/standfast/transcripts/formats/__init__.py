"""One module per client: its records, read into entries. Nothing here knows what a list is."""

from __future__ import annotations

from typing import Final

from standfast.transcripts.formats.claude import Claude
from standfast.transcripts.formats.codex import Codex
from standfast.transcripts.formats.pi import Pi
from standfast.transcripts.formats.shared import Format

READERS: Final[dict[str, Format]] = {reader.name: reader for reader in (Claude(), Codex(), Pi())}
"""The readers by the client's name."""
