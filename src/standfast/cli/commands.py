"""The command line's words: one parser, handlers loaded when they are used.

Exit codes: 0 ok, 1 refused (the code is printed), 2 usage, 3 host unreachable. `--json` prints the answer as
it is. Errors are one line with their code, with `--json` an object; `--debug` shows the trace.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import traceback
from typing import Any

from standfast.client.call import Connection, Refused
from standfast.client.home import home_directory
from standfast.client.start import HostUnavailable
from standfast.domain.clients import CONNECTED, HOOKED

OK, REFUSED, USAGE, UNREACHABLE = 0, 1, 2, 3
MODES = ("ask", "accept_edits", "auto", "client")


class UsageError(Exception):
    """The command line names something that cannot be used; the text says what to give instead."""


def run(words: list[str]) -> int:
    """Parses and runs one command line."""
    parser = build_parser()
    arguments = parser.parse_args(words)
    if getattr(arguments, "handler", None) is None:
        parser.print_help()
        return USAGE
    module, _, name = arguments.handler.partition(":")
    try:
        handler = getattr(importlib.import_module(f"standfast.cli.{module}"), name)
        return int(handler(arguments) or OK)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        if arguments.debug:
            traceback.print_exc()
        return _fail(arguments, error)


def _fail(arguments: argparse.Namespace, error: Exception) -> int:
    """Tells what went wrong on the error stream: one line, or with `--json` the error as the host sends it."""
    status, code, text = REFUSED, "internal", f"{type(error).__name__}: {error} (more with --debug)"
    if isinstance(error, Refused):
        status, code, text = REFUSED, error.code, error.message
    elif isinstance(error, UsageError):
        status, code, text = USAGE, "usage", str(error)
    elif isinstance(error, HostUnavailable):
        status, code, text = UNREACHABLE, "host_unreachable", str(error)
    if arguments.json:
        details = error.details if isinstance(error, Refused) else {}
        text = json.dumps({"error": {"code": code, "message": text, "details": details}}, ensure_ascii=False)
    else:
        text = f"standfast: {code}: {text}"
    print(text, file=sys.stderr)
    return status


def connection(arguments: argparse.Namespace, *, start: bool = True) -> Connection:
    """The connection that the command line asks for; on a terminal the person is asked for the lock's passphrase."""
    door = Connection(home_of(arguments), session=getattr(arguments, "session", None), start=start)
    if sys.stdin.isatty() and sys.stderr.isatty():
        door.passphrase = _passphrase
    return door


def _passphrase(why: str) -> str:
    from getpass import getpass

    return getpass(f"{why}\nPassphrase: ", sys.stderr)


def home_of(arguments: argparse.Namespace) -> str:
    """The home directory: `--home`, else the environment, else the default."""
    return os.path.abspath(arguments.home) if arguments.home else home_directory(os.environ)


def emit(arguments: argparse.Namespace, answer: Any, text: str) -> int:
    """Prints an answer as JSON with `--json`, else as text."""
    print(json.dumps(answer, ensure_ascii=False, indent=2) if arguments.json else text)
    return OK


class Words:
    """A small helper: every command takes the common options and names its handler."""

    def __init__(self, parent: Any) -> None:
        self._parent = parent

    def add(self, name: str, handler: str, summary: str, *options: tuple[str, dict[str, Any]]) -> None:
        """One command."""
        parser = self._parent.add_parser(name, help=summary, description=summary, conflict_handler="resolve")
        common(parser)
        for flag, settings in options:
            parser.add_argument(flag, **settings)
        parser.set_defaults(handler=handler)

    def group(self, name: str, summary: str, handler: str) -> Words:
        """A command with commands of its own; alone it runs `handler`."""
        parser = self._parent.add_parser(name, help=summary, description=summary)
        common(parser)
        parser.set_defaults(handler=handler, limit=50)
        return Words(parser.add_subparsers(metavar="COMMAND"))


def common(parser: argparse.ArgumentParser) -> None:
    """The options that every command takes."""
    for flag, summary in (("--json", "print the answer as JSON"), ("--debug", "show the trace of a fault")):
        parser.add_argument(flag, action="store_true", help=summary)
    parser.add_argument("--home", help="the home directory (default: STANDFAST_HOME)")


def build_parser() -> argparse.ArgumentParser:
    """All commands."""
    parser = argparse.ArgumentParser(prog="standfast", description="Keeps what a coding agent must not lose.")
    parser.add_argument("--version", "-V", action="store_true", help="print the version")
    words = Words(parser.add_subparsers(metavar="COMMAND"))
    _hosting(words)
    _plans(words.group("plans", "Plans: list, show, decide", "plans:list_plans"))
    sessions = words.group("sessions", "Sessions: list, show, close", "readings:list_sessions")
    sessions.add("list", "readings:list_sessions", "The newest sessions", ("--limit", {"type": int, "default": 50}))
    sessions.add("show", "readings:show_session", "One session", ("session", {}))
    sessions.add("close", "readings:close_session", "Close a session", ("session", {}))
    words.add("resume", "readings:resume", "The resume view of a session or a session file", ("session", {}))
    _todos(words)
    follow = {"action": "store_true", "help": "go on as events come"}
    words.add(
        "events", "readings:events", "The journal", ("--follow", follow), ("--after", {"type": int, "default": 0})
    )
    audit = words.group("audit", "Check the journal against the tables", "readings:audit")
    audit.add("verify", "readings:audit", "Check the journal against the tables")
    words.add("backup", "readings:backup", "Copy the database to a new file", ("path", {}))
    words.add("verify", "readings:verify_file", "Check a backup file", ("path", {}))
    operator = words.group("operator", "The operator lock: protect, unprotect", "operator:show")
    operator.add("protect", "operator:protect", "Ask for a passphrase wherever a person decides; or change it")
    operator.add("unprotect", "operator:unprotect", "Take the operator lock away")
    settings = words.group("settings", "Settings: show, set", "readings:show_settings")
    settings.add("set", "readings:set_setting", "Change one", ("key", {}), ("value", {}), ("--project", {}))
    given = "the input as JSON, or - to read it (the answer is JSON in any case)"
    words.add(
        "call",
        "readings:call",
        "Call any operation",
        ("operation", {}),
        ("--json", {"nargs": "?", "default": "{}", "const": "{}", "metavar": "INPUT", "help": given}),
        ("--session", {"help": "the session to act on"}),
        ("--role", {"default": "operator", "choices": ["operator", "observer", "agent", "worker"]}),
        ("--key", {"help": "idempotency key"}),
    )
    plan = {"nargs": "?", "help": "a plan file (default: the built-in example)"}
    words.add("demo", "demo:demo", "Play the main job on a temporary home", ("plan", plan))
    return parser


def _hosting(words: Words) -> None:
    words.add(
        "up",
        "hosting:up",
        "Start the host",
        ("--foreground", {"action": "store_true"}),
        ("--port", {"type": int}),
        ("--database-url", {"help": "a PostgreSQL URL, or `sqlite`; the home remembers it"}),
    )
    words.add("down", "hosting:down", "Stop the host; it stays down until `up`")
    words.add("status", "hosting:status", "Is a host running, and what waits")
    words.add("doctor", "hosting:doctor", "Check this installation", ("--policy", {"action": "store_true"}))
    where = ("plan", {"nargs": "?", "help": "open this plan, by number (P-3) or id"})
    words.add("web", "hosting:web", "Print a one-time address of the web page", where)
    _connecting(words)
    client = ("client", {"choices": list(HOOKED)})
    words.add("hook", "main:main", "What a client's hooks run: an event on stdin, the client's answer out", client)
    words.add("mcp", "main:main", "The stdio MCP server: a pipe to the host (takes --home, --profile, --tools)")


def _todos(words: Words) -> None:
    words.add("todos", "todos:show", "The todo lists of a session, or of all", ("session", {"nargs": "?"}))
    words.add(
        "restore",
        "todos:restore",
        "Read a client's session file: its todo list, its plans, what was ignored and why; take the list",
        ("file", {}),
        ("--session", {"help": "which session, where the file holds several"}),
        ("--whole", {"action": "store_true", "help": "read also what is older than the newest list"}),
        ("--dry-run", {"action": "store_true", "help": "say what is there, and store nothing"}),
    )


def _connecting(words: Words) -> None:
    def flag(summary: str) -> dict[str, Any]:
        return {"action": "store_true", "help": summary}

    words.add(
        "connect",
        "connect.command:connect",
        "Connect a client: its MCP server and its hooks; alone: what is connected",
        ("client", {"nargs": "?", "choices": CONNECTED}),
        ("--user", flag("in your own configuration, for all projects (the default)")),
        ("--project", flag("in the files of the project in the current directory, to be shared")),
        ("--plugin", {"metavar": "DIR", "help": "for claude: a plugin folder instead"}),
        ("--dry-run", flag("show the differences and write nothing")),
        ("--remove", flag("take away what was written")),
        ("--replace", flag("also what a person altered")),
        ("--trust", flag("for codex: let it trust the hooks without asking here")),
        ("--list", flag("what is connected where, and in which state")),
    )


def _plans(words: Words) -> None:
    plan = ("plan", {"help": "number (P-3) or id"})
    task = ("task", {"help": "task id (P-3.4)"})
    modes = {"choices": MODES}
    words.add("list", "plans:list_plans", "The newest plans", ("--limit", {"type": int, "default": 50}))
    words.add("show", "plans:show", "A plan's card", plan)
    words.add("open", "plans:show_text", "A plan's exact text", plan)
    words.add("approve", "plans:approve", "Approve, after looking", plan, ("--mode", modes))
    words.add("reject", "plans:reject", "Reject", plan, ("--note", {}))
    words.add("abort", "plans:abort", "Take a pending plan off the table", plan)
    words.add("reoffer", "plans:reoffer", "Offer an expired or interrupted plan again", plan)
    words.add("abort-execution", "plans:abort_execution", "Interrupt a live execution", plan)
    words.add("abandon", "plans:abandon", "End a tracker for good", plan)
    words.add(
        "adopt",
        "plans:adopt",
        "Approve a plan of your own",
        ("file", {}),
        ("--session", {"required": True}),
        ("--mode", {**modes, "required": True}),
        ("--title", {}),
    )
    words.add("attach", "plans:attach", "Move a tracker to a session", plan, ("--session", {"required": True}))
    words.add("ticks", "plans:ticks", "A plan's recorded ticks", plan)
    words.add("tasks", "plans:tasks", "A plan's tasks", plan)
    of = ("--plan", {"help": "the plan's id, where several projects have its number"})
    words.add("confirm", "plans:confirm", "Confirm a task that waits for you", task, of, ("--note", {}))
    became = ("outcome", {"choices": ["done", "open"]})
    words.add("resolve", "plans:resolve", "Say what became of an uncertain task", task, became, of)
