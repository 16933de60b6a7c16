"""Branches and forks: the selected path through a client's history, and what a copy of it inherits.

A report names new entries and the selected leaf. Going on from the old leaf changes nothing that was told;
any other leaf is a switch: every tracker is folded again over the new ancestry and the marker is due. A fork
is a new session that gets what its fork point's ancestry holds (entries, tracker, ticks, the modes that
tighten) and nothing pending: no verdict, execution or message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from standfast.domain import session as domain
from standfast.domain import tracker as tracking
from standfast.domain.change import Change, Event, Put
from standfast.domain.errors import Refusal
from standfast.domain.plan import TRACKER, Tracker
from standfast.domain.session import Entry, Opening, Session
from standfast.domain.tracker import Evidence, Tick
from standfast.host.operation import Input
from standfast.host.sessions import view
from standfast.host.todo_scenes import inherited, selected
from standfast.host.turns import close_active
from standfast.host.work import Work

ENTRIES_PER_REPORT: Final = 1_000
ENTRIES_PER_SESSION: Final = 100_000
MAX_ENTRY: Final = 200


class EntryReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One node of the client's tree, parents before children."""

    id: str
    parent: str | None = None


class SelectBranch(Input, frozen=True):
    """New entries and the selected leaf. `idle` says that nothing runs: an open turn is then lost."""

    leaf: str
    entries: tuple[EntryReport, ...] = ()
    idle: bool = False
    session: str | None = None


def select(work: Work, command: SelectBranch) -> Change:
    """Records entries and selects a leaf; a switch refolds the trackers."""
    session = work.open_session(command.session)
    fresh = _fresh(work, session, command.entries)
    line = _line(fresh, command.leaf)
    top = fresh[line[-1]].parent if line else command.leaf
    if top is not None and work.tx.get(Entry, session.id, top) is None:
        raise Refusal("entry_unknown", f"Session {session.id} has no entry {top!r}; report it with its parent.")
    events: list[Event] = []
    if command.idle:
        events += close_active(work, session, "lost")
    puts = tuple(Put(None, entry) for entry in fresh.values())
    advanced = top == session.leaf_entry or session.leaf_entry in line
    moved = session.leaf_entry != command.leaf
    if not puts and not moved:
        return Change({"leaf": command.leaf, "switched": False}, tuple(events))
    switched = moved and not advanced and session.leaf_entry is not None
    after = msgspec.structs.replace(
        session,
        leaf_entry=command.leaf,
        marker_due=session.marker_due or switched,
        updated_at=work.ctx.now,
    )
    kind = "session.branch_switched" if switched else "session.advanced"
    data: dict[str, object] = {"leaf": command.leaf, "entries": len(puts)}
    put = Put(session, after)
    events.append(Event(kind, domain.aggregate(session.id), session.id, data, (*puts, put)))
    if switched:
        ancestry = frozenset(line) | _ancestry(work, session, top)
        events += _refold(work, session, ancestry)
    return Change({"leaf": command.leaf, "switched": switched}, tuple(events))


def _fresh(work: Work, session: Session, reports: Sequence[EntryReport]) -> dict[str, Entry]:
    if len(reports) > ENTRIES_PER_REPORT:
        raise Refusal("limit", f"At most {ENTRIES_PER_REPORT} entries in one report.", limit=ENTRIES_PER_REPORT)
    fresh: dict[str, Entry] = {}
    for report in reports:
        if not report.id or len(report.id) > MAX_ENTRY:
            raise Refusal("invalid", f"An entry's id has 1 to {MAX_ENTRY} characters.", field="entries")
        known = work.tx.get(Entry, session.id, report.id) or fresh.get(report.id)
        if known is not None:
            if known.parent != report.parent:
                raise Refusal("conflict", f"Entry {report.id!r} is known with another parent; a tree only grows.")
            continue
        parent = report.parent
        if parent is not None and parent not in fresh and work.tx.get(Entry, session.id, parent) is None:
            raise Refusal("entry_unknown", f"Entry {report.id!r} hangs on {parent!r}, which is not known.")
        fresh[report.id] = Entry(session.id, report.id, report.parent, work.ctx.now)
    if fresh and work.tx.number("entries_count", session=session.id) + len(fresh) > ENTRIES_PER_SESSION:
        raise Refusal("limit", f"A session has at most {ENTRIES_PER_SESSION} entries.", limit=ENTRIES_PER_SESSION)
    return fresh


def _line(fresh: dict[str, Entry], leaf: str) -> tuple[str, ...]:
    """The new entries from the leaf upwards, as far as they are new."""
    line: list[str] = []
    at: str | None = leaf
    while at is not None and at in fresh:
        line.append(at)
        at = fresh[at].parent
    return tuple(line)


def _ancestry(work: Work, session: Session, entry: str | None) -> frozenset[str]:
    if entry is None:
        return frozenset()
    return frozenset(work.tx.texts("entry_ancestry", session=session.id, entry=entry))


def _refold(work: Work, session: Session, ancestry: frozenset[str]) -> list[Event]:
    events: list[Event] = []
    for track in work.tx.find(Tracker, "trackers_of_session", session=session.id):
        if TRACKER.final(track.status):
            continue
        ticks = [tick for tick in _ticks(work, track) if tick.entry is None or tick.entry in ancestry]
        states, begun = tracking.fold(work.text(track.plan_id).checklist, ticks)
        on_branch = track.entry is None or track.entry in ancestry
        event = tracking.refolded(track, states, begun, on_branch, work.ctx)
        if event is not None:
            events.append(event)
    return [*events, *selected(work, session, ancestry)]


def _ticks(work: Work, track: Tracker) -> list[Tick]:
    return work.tx.find(Tick, "ticks_of_tracker", session=track.session_id, plan=track.plan_id)


class Fork(Input, frozen=True):
    """A new session of the same client from a point of this one; `entry` is the fork point, the leaf if absent."""

    client_session_id: str
    entry: str | None = None
    process: str = ""
    session: str | None = None


def fork(work: Work, command: Fork) -> Change:
    """Makes the forked session; made again with the same id, the existing one is answered."""
    parent = work.session(command.session)
    known = work.tx.first(
        Session, "session_by_client", client=parent.client, client_session_id=command.client_session_id
    )
    if known is not None:
        if known.parent_id != parent.id:
            raise Refusal("conflict", f"Session {known.id} has this id and is no fork of {parent.id}.")
        return Change(view(known) | {"created": False})
    point = command.entry or parent.leaf_entry
    if point is not None and work.tx.get(Entry, parent.id, point) is None:
        raise Refusal("entry_unknown", f"Session {parent.id} has no entry {point!r}.")
    ancestry = _ancestry(work, parent, point)
    opening = Opening(
        client=parent.client,
        client_session_id=command.client_session_id,
        project_id=parent.project_id,
        checkout=parent.checkout,
        kind=parent.kind,
        attended=parent.attended,
        own_plan_mode=parent.own_plan_mode,
        process=command.process,
        parent_id=parent.id,
        fork_entry=point,
    )
    child, opened = domain.opened(opening, work.ctx, point)
    child = msgspec.structs.replace(child, mode=parent.mode, permission_mode=parent.permission_mode)
    copies = tuple(
        Put(None, msgspec.structs.replace(entry, session_id=child.id))
        for entry in work.tx.find(Entry, "entries_of_session", session=parent.id)
        if entry.entry_id in ancestry
    )
    forked = msgspec.structs.replace(opened, kind="session.forked", puts=(Put(None, child), *copies))
    lists = inherited(work, parent, child, ancestry if point is not None else None)
    return Change(view(child) | {"created": True}, (forked, *_inherit(work, parent, child, ancestry), *lists))


def _inherit(work: Work, parent: Session, child: Session, ancestry: frozenset[str]) -> tuple[Event, ...]:
    track = work.tx.first(Tracker, "tracker_open", session=parent.id)
    if track is None or (track.entry is not None and track.entry not in ancestry):
        return ()
    visible = [tick for tick in _ticks(work, track) if tick.entry is None or tick.entry in ancestry]
    return (copied(work, track, visible, child.id, "tracker.inherited"),)


def copied(work: Work, track: Tracker, ticks: Sequence[Tick], session_id: str, kind: str) -> Event:
    """A tracker with these ticks and their evidence in another session, as one event."""
    checklist = work.text(track.plan_id).checklist
    puts: list[Put] = []
    renamed: list[Tick] = []
    for n, tick in enumerate(ticks, start=1):
        copy = msgspec.structs.replace(tick, id=work.ctx.new_id("tck"), session_id=session_id, n=n)
        renamed.append(copy)
        puts.append(Put(None, copy))
        for item in work.tx.find(Evidence, "evidence_of_tick", tick=tick.id):
            own = msgspec.structs.replace(item, id=work.ctx.new_id("evd"), tick_id=copy.id)
            puts.append(Put(None, own))
    states, begun = tracking.fold(checklist, renamed)
    status = tracking.status_for("active", states) if states else track.status
    after = msgspec.structs.replace(
        track,
        session_id=session_id,
        status=status,
        states=states,
        begun=begun,
        ticks=len(renamed),
        on_branch=True,
        created_at=work.ctx.now,
        updated_at=work.ctx.now,
    )
    data: dict[str, object] = {"plan": track.plan_id, "from": track.session_id}
    return Event(kind, f"plan:{track.plan_id}", session_id, data, (Put(None, after), *puts))
