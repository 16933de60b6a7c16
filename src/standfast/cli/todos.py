"""Todo lists on the command line, and what a client's transcript says of them."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from standfast.cli.commands import REFUSED, UsageError, connection, emit, home_of
from standfast.cli.show import clean, when
from standfast.client.call import Connection

if TYPE_CHECKING:
    from standfast.transcripts import Report

SESSIONS = 100


def show(arguments: Namespace) -> int:
    """The lists of one session, or of every session that has one."""
    door = connection(arguments)
    if arguments.session:
        found = [door.call("todo.read", {"session": arguments.session})]
    else:
        sessions = door.call("session.list", {"limit": SESSIONS})["sessions"]
        read = [door.call("todo.read", {"session": item["session"]}) for item in sessions]
        found = [each for each in read if each["lists"]]
    text = "\n\n".join(_session(each) for each in found if each["lists"])
    return emit(arguments, found[0] if arguments.session else {"sessions": found}, text or "No todos.")


def _session(answer: dict[str, Any]) -> str:
    lines = [f"Session {answer['session']}"]
    for each in answer["lists"]:
        whose = "" if each["agent"] == "main" else f" of subagent {clean(each['agent'])}"
        flags = "".join(f", {flag.replace('_', ' ')}" for flag in each["flags"])
        head = f"List{whose} ({clean(each['source'])}, {each['provenance']}{flags}): {each['done']}/{each['total']}"
        lines += [f"{head}, revision {each['revision']} of {when(each['at'])}", *map(_item, each["items"])]
    return "\n".join(lines)


def _item(item: dict[str, Any]) -> str:
    notes = [word for word in ("interrupted", "claim") if item[word]]
    return f"  [{clean(item['status'])}] {clean(item['id'])} {clean(item['content'])}" + (
        f" ({', '.join(notes)})" if notes else ""
    )


def restore(arguments: Namespace) -> int:
    """Reads a client's transcript, says what it left behind, and takes its lists into the store."""
    from standfast.serve.restored import captures, client_of

    report = read_file(arguments.file, session=arguments.session, whole=arguments.whole)
    answer = report.data()
    if not report.format:
        emit(arguments, answer | {"taken": None}, report.words())
        return REFUSED
    if arguments.dry_run or not report.lists or not report.session:
        return emit(arguments, answer | {"taken": None}, report.words())
    if not arguments.json:
        print(report.words(), flush=True)
    taken = _take(Connection(home_of(arguments)), client_of(report), report.session, captures(report))
    return emit(arguments, answer | {"taken": taken}, _taken(taken))


def read_file(path: str, *, session: str | None = None, whole: bool = False) -> Report:
    """What a transcript left behind."""
    from standfast import transcripts

    try:
        return transcripts.restore(path, session=session, whole=whole)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}. Name a client's session file.") from error


def resume_file(arguments: Namespace) -> int:
    """What a model would be told of the open items that a transcript left behind."""
    from standfast.serve.restored import view

    report = read_file(arguments.session)
    text = view(report)
    return emit(arguments, {"text": text, "empty": not text}, clean(text or report.words(), lines=True))


def _take(door: Connection, client: str, name: str, lists: list[dict[str, Any]]) -> dict[str, Any]:
    """Stores the lists in the session of this conversation, where nothing newer is known."""
    wish = {"client": client, "client_session_id": name[:200], "source": "connect"}
    session = door.call("session.start", wish)["session"]
    said = [door.call("todo.capture", {**each, "session": session}) for each in lists]
    return {"session": session, "lists": sum(each["taken"] for each in said), "of": len(said)}


def _taken(taken: dict[str, Any]) -> str:
    if not taken["lists"]:
        return f"Nothing to take: session {taken['session']} knows it already."
    return f"Taken into session {taken['session']}: {taken['lists']} of {taken['of']} lists."
