"""`standfast connect CLIENT`: gives a client what it needs to work with Standfast, or takes it away again.

All files are read and decided on before the first is written, so that a configuration that cannot be edited
leaves everything as it is. `--dry-run` shows the differences and writes nothing at all.
"""

from __future__ import annotations

import shutil
from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import Any

from standfast.cli.commands import OK, REFUSED, UsageError, emit, home_of
from standfast.cli.connect import listing, plan, plugin, table, trust
from standfast.cli.connect.apply import carried_out, diff, planned, told
from standfast.cli.connect.listing import named, project, user
from standfast.cli.connect.plan import joined, parted
from standfast.cli.connect.record import Record
from standfast.cli.connect.table import Part, Scope, Settings
from standfast.cli.person import Person
from standfast.cli.show import clean
from standfast.client.call import Refused

LATER = {
    "claude": "Start Claude Code anew; it asks once for each tool.",
    "codex": "Start Codex anew.",
    "pi": "Start Pi anew, or `/reload`.",
    "opencode": "Start OpenCode anew.",
    "gemini": "Start Gemini CLI anew.",
    "qwen": "Start Qwen Code anew.",
    "hermes": "Start Hermes anew; it asks once for each hook.",
}


def connect(arguments: Namespace) -> int:
    """Writes, removes, shows the differences, or lists."""
    home = home_of(arguments)
    if arguments.plugin:
        if arguments.client != "claude" or arguments.project:
            raise UsageError("--plugin DIR is a folder for Claude Code: connect claude --plugin DIR.")
        return plugin.connect(arguments, home)
    if arguments.list or arguments.client is None:
        return listing.listed(arguments, home)
    if arguments.user and arguments.project:
        raise UsageError("--user or --project, not both.")
    scope = _scope(arguments, home)
    inside = scope.folder if scope.project else None
    try:
        parts = table.parts(arguments.client, scope)
    except table.Unavailable as error:
        raise Refused({"code": "invalid", "message": str(error)}) from error
    decide = partial(parted if arguments.remove else joined, force=arguments.replace)
    record = Record(Path(home))
    changes = [planned(part, record, inside, decide) for part in parts]
    if arguments.dry_run:
        return _answer(
            arguments, scope, [told(each) for each in changes], "".join(map(diff, changes)) or "No change.\n"
        )
    with record.changing():
        done = [carried_out(part, record, inside, decide) for part in parts]
        notes = [] if arguments.remove else _notes(arguments, scope, parts, record)
    return _answer(arguments, scope, done, "", notes)


def _scope(arguments: Namespace, home: str) -> Scope:
    if not arguments.project:
        return user(home)
    scope = project()
    if scope.folder.resolve() == Path.home().resolve():
        raise UsageError("This is your home directory, no project. Go to the project's directory, or use --user.")
    return scope


def _notes(arguments: Namespace, scope: Scope, parts: list[Part], record: Record) -> list[str]:
    """What the person should know or do next."""
    notes = [LATER[arguments.client]]
    if shutil.which("standfast") is None:
        notes.append("`standfast` is not on your PATH; the client will not find it.")
    if scope.project:
        notes.append(
            "These files may be committed: they name no home, and do nothing where Standfast is not installed."
        )
    other = user(str(home_of(arguments))) if scope.project else project()
    if listing.state(arguments.client, other, record) == plan.CONNECTED:
        notes.append(f"It is connected for the {named(other)} as well: its hooks then run twice for each event.")
    if arguments.client == "codex" and "codex" in scope.hooked:
        notes.append(_trusted(arguments, scope, parts, record))
    return notes


def _trusted(arguments: Namespace, scope: Scope, parts: list[Part], record: Record) -> str:
    """Lets Codex trust our hooks, if the person agrees; says what came of it."""
    if scope.project:
        return "Codex reads a project's files only where the project is trusted, and asks each person for its hooks."
    try:
        hooks = trust.hooks(scope.folder, scope.environ)
        new = [hook for hook in hooks if not hook.trusted]
        if not hooks:
            return "Codex does not list the hooks. It skips hooks that it does not trust: trust them with `/hooks`."
        if new and not (arguments.trust or _agreed(len(new))):
            return "Codex skips these hooks until you trust them: `standfast connect codex` on a terminal, or `/hooks`."
        [config] = [part for part in parts if part.path.name == "config.toml" and isinstance(part, Settings)]
        entries = (*config.entries, *(hook.entry for hook in new))
        carried_out(Settings(config.path, config.syntax, entries), record, None, joined)
        seen = trust.hooks(scope.folder, scope.environ)
    except trust.Silent as error:
        return f"Codex skips hooks that it does not trust, and could not be asked: {error}. Trust them with `/hooks`."
    missing = sum(not hook.trusted for hook in seen)
    return f"Codex trusts {len(seen) - missing} of {len(seen)} hooks."


def _agreed(count: int) -> bool:
    try:
        return Person().agrees(f"Codex skips hooks that you have not trusted. Trust these {count} hooks of Standfast?")
    except (Refused, KeyboardInterrupt):
        return False


def _answer(
    arguments: Namespace, scope: Scope, done: list[dict[str, Any]], text: str, notes: list[str] | None = None
) -> int:
    """Prints what was done; 1 where something that a person altered was left."""
    altered = [name for each in done for name in each["altered"]]
    lines = [text] if text else []
    for each in done if not text else []:
        copy = f" (before: {clean(each['backup'])})" if each["backup"] else ""
        lines.append(f"{_DID[each['action']]} {clean(each['path'])}{copy}")
    lines += notes or []
    if altered:
        names = clean(", ".join(altered))
        lines.append(f"Left as it is, because it is not what this home wrote: {names}. --replace changes it as well.")
    answer = {"client": arguments.client, "scope": named(scope), "files": done, "notes": notes or []}
    if text:
        answer["diff"] = text
    emit(arguments, answer, "\n".join(lines).rstrip("\n"))
    return REFUSED if altered else OK


_DID = {"nothing": "Unchanged:", "create": "Wrote", "change": "Changed", "remove": "Removed"}
