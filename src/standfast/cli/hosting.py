"""`up`, `down`, `status`, `doctor`, `web`: the host as a process."""

from __future__ import annotations

import json
import os
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import standfast
from standfast.cli.commands import OK, REFUSED, connection, emit, home_of
from standfast.client.call import Connection, Refused
from standfast.client.home import DOWN_MARKER
from standfast.client.start import HostUnavailable, answers, ensure_host, host_command
from standfast.client.versions import end, version_of

READY_SECONDS = 10.0


def up(arguments: Namespace) -> int:
    """Starts the host, or reports the running one; a newer version takes over from an older host."""
    home = home_of(arguments)
    if arguments.foreground:
        return _foreground(arguments, home)
    if answers(home):
        running = _facts(home)
        _keeps_database(arguments, home)
        if version_of(running) >= version_of({"version": standfast.__version__}):
            return emit(arguments, running, f"Running: {_line(running)}")
        stop(home)
    Path(home, DOWN_MARKER).unlink(missing_ok=True)
    command = [*host_command(home), *(["--port", str(arguments.port)] if arguments.port else [])]
    with _database(arguments, Path(home)):
        ensure_host(home, command)
    facts = _facts(home)
    return emit(arguments, facts, f"Up: {_line(facts)}")


def _chosen(arguments: Namespace) -> str | None:
    return arguments.database_url or os.environ.get("STANDFAST_DATABASE_URL")


def _keeps_database(arguments: Namespace, home: str) -> None:
    """A running host does not change its database."""
    from standfast.config import EMBEDDED, remembered_database

    chosen = _chosen(arguments)
    if chosen is not None and chosen != (remembered_database(home) or EMBEDDED):
        raise HostUnavailable("A host runs on another database. Run `standfast down`, then `up` with the new one.")


@contextmanager
def _database(arguments: Namespace, home: Path) -> Iterator[None]:
    """Lets the home remember the database that was named; if no host comes up with it, the one before."""
    from standfast.config import remember_database, remembered_database

    chosen, before = _chosen(arguments), remembered_database(home)
    if chosen is None:
        yield
        return
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    remember_database(home, chosen)
    try:
        yield
    except HostUnavailable:
        remember_database(home, before)
        raise


def _foreground(arguments: Namespace, home: str) -> int:
    from standfast.app.home import HomeRefused
    from standfast.app.process import run
    from standfast.config import read_config
    from standfast.store.tx import StoreRefused

    try:
        return run(read_config(home=Path(home), port=arguments.port, database_url=arguments.database_url))
    except (HomeRefused, StoreRefused) as error:
        print(f"standfast: {error}", file=sys.stderr)
        return REFUSED


def down(arguments: Namespace) -> int:
    """Stops the host and keeps it down until `up`."""
    home = home_of(arguments)
    if os.path.isdir(home):
        Path(home, DOWN_MARKER).touch(mode=0o600)
    if not answers(home):
        return emit(arguments, {"running": False}, "No host was running; it stays down until `standfast up`.")
    facts = _facts(home)
    stop(home)
    return emit(arguments, facts, f"Down (was pid {facts['pid']}); it stays down until `standfast up`.")


def stop(home: str) -> None:
    """Ends the host that answers on this home's socket, by the process id that it gave itself."""
    end(home, int(Connection(home, start=False).call("host.status")["pid"]))


def status(arguments: Namespace) -> int:
    """The running host and the plans that wait."""
    home = home_of(arguments)
    if not answers(home):
        raise HostUnavailable(f"No host runs on {home}. It starts on demand, or with `standfast up`.")
    facts = _facts(home)
    pending = connection(arguments, start=False).call("plan.list", {"status": "pending"})["plans"]
    waits = ", ".join(plan["number"] for plan in pending) or "nothing"
    return emit(
        arguments, {**facts, "pending": [p["number"] for p in pending]}, f"{_line(facts)}\nWaits for you: {waits}"
    )


def _facts(home: str) -> dict[str, Any]:
    deadline = time.monotonic() + READY_SECONDS
    while True:
        try:
            facts: dict[str, Any] = json.loads(Path(home, "host.json").read_bytes())
            return {**facts, "home": home}
        except (OSError, ValueError) as error:
            if time.monotonic() > deadline:
                raise HostUnavailable(f"{home}/host.json cannot be read: {error}.") from error
            time.sleep(0.02)


def _line(facts: dict[str, Any]) -> str:
    where = f"http://127.0.0.1:{facts['port']}"
    return f"Standfast {facts['version']}, pid {facts['pid']}, {where}, home {facts['home']}"


def doctor(arguments: Namespace) -> int:
    """Checks this installation; with `--policy` prints the policy table."""
    if arguments.policy:
        policy = connection(arguments).call("host.policy")["policy"]
        return emit(arguments, policy, "\n".join(f"{name:<24} {', '.join(roles)}" for name, roles in policy.items()))
    home = Path(home_of(arguments))
    checks = [
        ("Python 3.11 or newer", sys.version_info >= (3, 11), sys.version.split()[0]),
        ("home is private", not home.exists() or home.stat().st_mode & 0o077 == 0, str(home)),
        ("host answers", answers(str(home)), "starts on demand"),
    ]
    if answers(str(home)):
        agreed = connection(arguments, start=False).call("audit.verify")
        checks.append(("journal and tables agree", agreed["ok"], f"{agreed['events']} events"))
        checks += _lock(arguments)
    lines = [f"{'ok  ' if good else 'look'}  {what} ({detail})" for what, good, detail in checks]
    emit(arguments, [{"check": what, "ok": good, "detail": detail} for what, good, detail in checks], "\n".join(lines))
    return OK


def _lock(arguments: Namespace) -> list[tuple[str, bool, str]]:
    """The operator lock is recommended where agents are connected: a shell of theirs can read token files."""
    door = connection(arguments, start=False)
    locked = bool(door.call("host.status")["locked"])
    if not locked and not door.call("session.list", {"limit": 1})["sessions"]:
        return []
    return [("a verdict needs a passphrase", locked, "closed" if locked else "see `standfast operator protect`")]


def web(arguments: Namespace) -> int:
    """Prints a one-time address of the web page, or of one plan on it."""
    door = connection(arguments)
    place = ""
    if arguments.plan is not None:
        from standfast.cli.numbers import ask

        place = f"&to=/plans/{ask(door, 'plan.get', {'plan': arguments.plan})['plan']}"
    code, answer = door.request("POST", "/v1/web/ticket")
    if code != 200:
        raise Refused(answer.get("error", {}))
    port = _facts(door.home)["port"]
    address = f"http://127.0.0.1:{port}/#ticket={answer['ticket']}{place}"
    return emit(arguments, {"address": address}, f"{address}\n(opens once, within 5 minutes)")
