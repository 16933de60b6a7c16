"""Commands that read: sessions, events, audit, settings, backup, and any operation by name."""

from __future__ import annotations

import json
import os
import sys
import time
from argparse import Namespace

from standfast.cli.commands import OK, REFUSED, UsageError, connection, emit, home_of
from standfast.cli.show import clean, table, when
from standfast.client.call import Connection

FOLLOW_SECONDS = 0.5


def list_sessions(arguments: Namespace) -> int:
    """The newest sessions."""
    answer = connection(arguments).call("session.list", {"limit": arguments.limit})
    rows = [
        (item["session"], item["client"], item["mode"], when(item["updated_at"]), item["checkout"] or "-")
        for item in answer["sessions"]
    ]
    text = table(rows, ("SESSION", "CLIENT", "MODE", "CHANGED", "WORKSPACE")) if rows else "No sessions."
    return emit(arguments, answer, text)


def show_session(arguments: Namespace) -> int:
    """One session."""
    answer = connection(arguments).call("session.get")
    return emit(arguments, answer, "\n".join(f"{name}: {clean(value)}" for name, value in answer.items()))


def close_session(arguments: Namespace) -> int:
    """Closes a session."""
    answer = connection(arguments).call("session.close")
    return emit(arguments, answer, f"{answer['session']} {answer['status']}.")


def resume(arguments: Namespace) -> int:
    """The resume view of a session, or of what a client's session file left behind."""
    if os.path.exists(arguments.session):
        from standfast.cli.todos import resume_file

        return resume_file(arguments)
    answer = connection(arguments).call("context.resume")
    return emit(arguments, answer, clean(answer["text"], lines=True))


def events(arguments: Namespace) -> int:
    """The journal, a line for each event; with `--follow` without end."""
    door, after = connection(arguments), arguments.after
    while True:
        answer = door.call("events.list", {"after": after, "limit": 500})
        for event in answer["events"]:
            line = f"{event['seq']:>7}  {when(event['at'])}  {event['kind']:<22} {clean(event['data'])}"
            print(json.dumps(event) if arguments.json else line, flush=True)
        after = answer["last"]
        if not answer["events"]:
            if not arguments.follow:
                return OK
            time.sleep(FOLLOW_SECONDS)


def audit(arguments: Namespace) -> int:
    """The audit; status 1 when something does not agree."""
    answer = connection(arguments).call("audit.verify")
    head = f"{answer['events']} events in {answer['chains']} chains, {answer['rows']} rows: "
    text = head + ("all agree." if answer["ok"] else f"{len(answer['findings']) + answer['more']} findings.")
    emit(arguments, answer, "\n".join([text, *map(clean, answer["findings"])]))
    return OK if answer["ok"] else REFUSED


def backup(arguments: Namespace) -> int:
    """A copy of the database."""
    answer = connection(arguments).call("host.backup", {"path": os.path.abspath(arguments.path)})
    return emit(arguments, answer, f"{clean(answer['path'])}: {answer['size']} bytes.")


def verify_file(arguments: Namespace) -> int:
    """Checks a backup file as the host would check its own database, without writing to it."""
    from standfast.app.verify import verify_database

    answer = verify_database(arguments.path)
    head = f"{answer['events']} events, {answer['rows']} rows: "
    emit(arguments, answer, head + ("all agree." if answer["ok"] else "\n".join(map(clean, answer["findings"]))))
    return OK if answer["ok"] else REFUSED


def show_settings(arguments: Namespace) -> int:
    """Every setting with its value."""
    answer = connection(arguments).call("settings.get")
    rows = [(key, json.dumps(value)) for key, value in answer["settings"].items()]
    return emit(arguments, answer, table(rows, ("SETTING", "VALUE")))


def set_setting(arguments: Namespace) -> int:
    """Changes one setting; the value is JSON, or a plain word."""
    try:
        value = json.loads(arguments.value)
    except ValueError:
        value = arguments.value
    wish = {"key": arguments.key, "value": value, "project": arguments.project}
    answer = connection(arguments).call("settings.set", wish)
    return emit(arguments, answer, f"{answer['key']} = {json.dumps(answer['value'])}")


def call(arguments: Namespace) -> int:
    """Any operation, its answer as JSON."""
    door = Connection(home_of(arguments), arguments.role, session=arguments.session)
    try:
        given = json.loads(sys.stdin.read() if arguments.json == "-" else arguments.json)
    except ValueError as error:
        raise UsageError(f"The input is not JSON: {error}. Give an object, as in --json '{{}}'.") from error
    if not isinstance(given, dict):
        raise UsageError("The input is a JSON object, as in --json '{}'.")
    answer = door.call(arguments.operation, given, arguments.key)
    print(json.dumps(answer, ensure_ascii=False, indent=2))
    return OK
