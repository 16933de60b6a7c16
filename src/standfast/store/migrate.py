"""Migrations: what a database may hold, which steps it lacks, and when it is refused.

Migrations are forward-only texts, known by number and digest. Each runs in one transaction and writes its
number last. A database of a newer or unknown schema is not touched: the refusal names what was found, what is
supported, and what to do. An older one is backed up before it is migrated.

Not here: how a database is looked at, made and backed up (`sqlite_open`, `postgres_open`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from standfast.store.queries import schemas
from standfast.store.tx import StoreRefused


class SchemaRefused(StoreRefused):
    """The database has a schema that this version does not open; nothing was written."""


class Migration(msgspec.Struct, frozen=True):
    """One step: the schema's number after it and its SQL text."""

    version: int
    text: str

    @property
    def digest(self) -> str:
        """The text's identity, hex SHA-256."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def migrations() -> tuple[Migration, ...]:
    """All steps of this version, oldest first."""
    return tuple(Migration(version, text) for version, text in enumerate(schemas(), start=1))


def statements(text: str, words: Mapping[str, str]) -> list[str]:
    """A migration's statements in a dialect's words, without comments."""
    for word, own in words.items():
        text = re.sub(rf"\b{word}\b", own, text)
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    return [part.strip() for part in "\n".join(lines).split(";") if part.strip()]


def digests(rows: Iterable[tuple[str, str]]) -> dict[int, str]:
    """The recorded steps, by the rows of `meta` (`migration.N` to digest); other rows are left out."""
    return {int(key.rpartition(".")[2]): value for key, value in rows if key.startswith("migration.")}


def pending(found: Mapping[int, str], wanted: Sequence[Migration], where: object) -> tuple[Migration, ...]:
    """The steps that a database lacks, by its recorded steps (number to digest); refuses what is unknown."""
    supported = wanted[-1].version
    if not found:
        raise SchemaRefused(_refusal(where, "no schema that Standfast knows", supported))
    if max(found) > supported:
        raise SchemaRefused(_refusal(where, f"schema {max(found)}", supported))
    for step in wanted:
        if step.version in found and found[step.version] != step.digest:
            raise SchemaRefused(_refusal(where, f"an unknown form of schema {step.version}", supported))
    return tuple(step for step in wanted if step.version not in found)


def _refusal(where: object, found: str, supported: int) -> str:
    return (
        f"{where} holds {found}; this version supports schema {supported}. Nothing was written. "
        "Make a backup of it (with the host down), then install the version that wrote it."
    )
