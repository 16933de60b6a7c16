"""The audit: are the chains whole, and do the tables say what the journal says?

Every aggregate's chain is walked from its first event; payload digests are compared where the payload is
still there. Then the patches are folded from the beginning and compared with the tables row by row, long
values by their digests. What does not agree is listed, at most `FINDINGS` items.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import msgspec

from standfast.store.rows import TABLES, journal_value, shape
from standfast.store.sqltx import GENESIS, link, payload_digest
from standfast.store.tx import Recorded, Stamp, Tx

FINDINGS: Final = 50
PAGE: Final = 1_000
Fold = dict[str, dict[tuple[str, ...], dict[str, Any]]]


def verify(tx: Tx) -> dict[str, object]:
    """Counts and findings; `ok` is true when there are none."""
    findings: list[str] = []
    heads: dict[str, tuple[int, str]] = {}
    fold: Fold = {}
    events = 0
    after = 0
    while page := tx.journal("events_after", after=after, most=PAGE):
        for event in page:
            _chain(event, heads, findings)
            _apply(fold, event, findings)
        events += len(page)
        after = page[-1].seq
    rows = _compare(tx, fold, findings)
    return {
        "ok": not findings,
        "events": events,
        "chains": len(heads),
        "rows": rows,
        "findings": findings[:FINDINGS],
        "more": max(0, len(findings) - FINDINGS),
    }


def _chain(event: Recorded, heads: dict[str, tuple[int, str]], findings: list[str]) -> None:
    n, previous = heads.get(event.aggregate, (0, GENESIS))
    where = f"event {event.seq} ({event.aggregate} {event.n})"
    if event.n != n + 1:
        findings.append(f"{where}: {event.n - n - 1} events before it are missing")
    if payload_digest(event.data, event.patch) != event.digest:
        findings.append(f"{where}: its payload was changed")
    stamp = Stamp(event.actor, event.at, event.boot)
    if link(previous, event.aggregate, event.n, event.kind, stamp, event.digest) != event.hash:
        findings.append(f"{where}: its hash does not follow from the one before")
    heads[event.aggregate] = (event.n, event.hash)


def _apply(fold: Fold, event: Recorded, findings: list[str]) -> None:
    for table, key, values in msgspec.json.decode(event.patch):
        rows = fold.setdefault(table, {})
        name = tuple(key)
        if values is None:
            if rows.pop(name, None) is None:
                findings.append(f"event {event.seq}: deletes {table} {'/'.join(name)}, which was not there")
        elif name in rows:
            rows[name] = {**rows[name], **values}
        else:
            rows[name] = _late_columns(table) | values


@cache
def _late_columns(table: str) -> dict[str, Any]:
    """The values of columns that are younger than some rows, whose events do not name them."""
    return next(shape(row).defaults() for row, (name, _) in TABLES.items() if name == table)


def _compare(tx: Tx, fold: Fold, findings: list[str]) -> int:
    count = 0
    for row in TABLES:
        form = shape(row)
        expected = fold.get(form.table, {})
        seen: set[tuple[str, ...]] = set()
        for stored in tx.find(row, f"all_{form.table}"):
            count += 1
            key = form.key_of(stored)
            seen.add(key)
            values = dict(zip(form.columns, map(journal_value, form.to_columns(stored)), strict=True))
            _differs(form.table, key, values, expected.get(key), findings)
        findings += [f"{form.table} {'/'.join(key)}: in the journal, not in the table" for key in set(expected) - seen]
    return count


def _differs(
    table: str,
    key: tuple[str, ...],
    values: Mapping[str, Any],
    expected: Mapping[str, Any] | None,
    findings: list[str],
) -> None:
    where = f"{table} {'/'.join(key)}"
    if expected is None:
        findings.append(f"{where}: in the table, not in the journal")
        return
    fields = sorted(name for name, value in values.items() if expected.get(name) != value)
    if fields:
        findings.append(f"{where}: {', '.join(fields)} differ from the journal")
