"""Settings, events, audit, status, backup and retention, as operations of the host itself."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

import standfast
from standfast.domain import settings as rules
from standfast.domain.change import Actor, Change, Event, Put
from standfast.domain.errors import Refusal
from standfast.domain.settings import Setting
from standfast.host.audit import verify as audit_journal
from standfast.host.operation import Input
from standfast.host.policy import POLICY
from standfast.host.tokens import coordinator_token
from standfast.host.work import Work
from standfast.store.tx import Recorded

if TYPE_CHECKING:
    from standfast.host.door import Host

DAY_MS: Final = 86_400_000
RECEIPT_RETENTION_DAYS: Final = 30
EVENTS_PAGE: Final = 500


class Nothing(Input, frozen=True):
    """An operation without input."""


class ShowSettings(Input, frozen=True):
    """The settings of a project, or of the whole home."""

    project: str | None = None


def show_settings(work: Work, command: ShowSettings) -> Change:
    """Every key with the value that holds."""
    held = work.settings(command.project)
    return Change({"project": command.project, "settings": {key: held[key] for key in rules.RULES}})


class ChangeSetting(Input, frozen=True):
    """A new value for one key; `project` limits it to one project."""

    key: str
    value: int | bool | str | list[str]
    project: str | None = None


def change_setting(work: Work, command: ChangeSetting) -> Change:
    """Stores a value within its rule."""
    value = rules.checked(command.key, command.value)
    scope = command.project or ""
    before = work.tx.get(Setting, scope, command.key)
    after = Setting(scope, command.key, msgspec.json.encode(value).decode(), work.ctx.now)
    answer = {"key": command.key, "value": value, "project": command.project}
    if before is not None and before.value == after.value:
        return Change(answer)
    data: dict[str, object] = {"key": command.key, "scope": scope}
    return Change(answer, (Event("setting.changed", f"settings:{scope}", None, data, (Put(before, after),)),))


class ListEvents(Input, frozen=True):
    """Events after `after`, oldest first; with `before`, those before it, newest first and of one `kind` only
    where it is named (the first word of a kind, such as `plan`). Of one session or of all, at most 500."""

    after: int = 0
    before: int | None = None
    kind: str = ""
    session: str | None = None
    limit: int = 100


def list_events(work: Work, command: ListEvents) -> Change:
    """A page of the journal; `last` is where to go on."""
    if not 1 <= command.limit <= EVENTS_PAGE or command.after < 0:
        raise Refusal("limit", f"limit is 1 to {EVENTS_PAGE}, after is not negative.", limit=EVENTS_PAGE)
    if not all(char.isascii() and char.islower() for char in command.kind):
        raise Refusal("invalid", "kind is the first word of a kind, such as plan.", field="kind")
    found = _backwards(work, command) if command.before is not None else _forwards(work, command)
    events = [
        {
            "seq": item.seq,
            "kind": item.kind,
            "aggregate": item.aggregate,
            "n": item.n,
            "session": item.session_id,
            "at": item.at,
            "actor": item.actor,
            "data": msgspec.json.decode(item.data),
        }
        for item in found
    ]
    return Change({"events": events, "last": found[-1].seq if found else command.after})


def _forwards(work: Work, command: ListEvents) -> list[Recorded]:
    if command.session is None:
        return work.tx.journal("events_after", after=command.after, most=command.limit)
    query = "events_after_in_session"
    return work.tx.journal(query, session=command.session, after=command.after, most=command.limit)


def _backwards(work: Work, command: ListEvents) -> list[Recorded]:
    kind = f"{command.kind}.%" if command.kind else "%"
    if command.session is None:
        return work.tx.journal("events_before", before=command.before, kind=kind, most=command.limit)
    query = "events_before_in_session"
    return work.tx.journal(query, session=command.session, before=command.before, kind=kind, most=command.limit)


def audit(work: Work, command: Nothing) -> Change:
    """Checks every hash chain and that folding the journal gives the tables."""
    return Change(audit_journal(work.tx))


def status(work: Work, command: Nothing) -> Change:
    """The host: version, boot, role of the caller, newest event, how many plans wait for a verdict."""
    return Change(
        {
            "version": standfast.__version__,
            "boot": work.ctx.boot,
            "pid": os.getpid(),
            "role": work.actor.role,
            "locked": work.host.lock.closed,
            "events": work.tx.number("events_last"),
            "pending": work.tx.number("plans_pending_count", now=work.ctx.now),
            "now": work.ctx.now,
        }
    )


def show_policy(work: Work, command: Nothing) -> Change:
    """The policy table: operation to roles."""
    return Change({"policy": {name: sorted(roles) for name, roles in sorted(POLICY.items())}})


class Prune(Input, frozen=True):
    """Retention of receipts: those older than 30 days go, receipts of verdicts stay."""


def prune(work: Work, command: Prune) -> Change:
    """Deletes receipts past their retention."""
    before = work.ctx.now - RECEIPT_RETENTION_DAYS * DAY_MS
    return Change({"receipts": work.tx.execute("receipts_prune", before=before)})


def expire(work: Work, command: Nothing) -> Change:
    """Nothing of its own: the sweep at the start of every write does it. Gives the next deadline (0: none)."""
    return Change({"next": work.tx.number("plans_next_due")})


class Backup(Input, frozen=True):
    """A consistent copy of the database in a new file, by absolute path."""

    path: str


class Copied:
    """A backup that was written."""

    def __init__(self, size: int) -> None:
        self.size = size

    def settle(self, result: Mapping[str, Any] | None) -> None:
        """Nothing to undo: the copy is the operation's purpose."""


def prepare_backup(host: Host, command: Backup, actor: Actor, key: str | None) -> Copied:
    """Writes the copy under another name first, so that the name that was asked for is whole or not there.

    Refuses a relative path and a file that exists.
    """
    target = Path(command.path)
    if not target.is_absolute():
        raise Refusal("invalid", "path is absolute.", field="path")
    part = target.with_name(f".{target.name}.{host.new_id('bak')}")
    try:
        host.store.backup(str(part))
        os.link(part, target)
    except FileExistsError as error:
        raise Refusal("conflict", f"{target} exists; a backup never overwrites.", path=str(target)) from error
    except OSError as error:
        raise Refusal("invalid", f"{target} cannot be written: {error.strerror}.", path=str(target)) from error
    finally:
        part.unlink(missing_ok=True)
    return Copied(target.stat().st_size)


def backup(work: Work, command: Backup) -> Change:
    """Notes the backup in the journal."""
    data: dict[str, object] = {"size": work.prepared.size}
    event = Event("host.backed_up", "host:backup", None, data)
    return Change({"path": command.path, "size": work.prepared.size}, (event,))


class NameCredential(Input, frozen=True):
    """The session that a coordinator's credential is for."""

    session: str


def credential(work: Work, command: NameCredential) -> Change:
    """A coordinator's credential is issued for a session that exists."""
    session = work.session(command.session)
    return Change({"session": session.id})


def reveal_credential(host: Host, result: Mapping[str, Any]) -> Mapping[str, Any]:
    """Adds the credential to the answer; it is computed, never stored."""
    return {**result, "token": coordinator_token(host.secret, result["session"])}
