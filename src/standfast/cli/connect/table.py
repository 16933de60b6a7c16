"""What each client is given: which files, which entries in them, for a person and for a project.

The names, places and forms are the clients' own, as their versions of late 2026 read them. A client's hooks
are written only if this build hears them. Whole files (an extension, a plugin) come from the package's
`client/assets`, with the home put in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from standfast.cli.connect import calls, toml_spans
from standfast.cli.connect.document import Entry, Syntax
from standfast.cli.connect.json_spans import COMMENTED, RELAXED, STRICT
from standfast.domain.clients import HOOKED

HOOK_SECONDS: Final = 15
TRUST: Final = ("hooks", "state")
NAME: Final = "standfast"
HOME_IN_ASSET: Final = '"@STANDFAST_HOME@"'
EVENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "claude": ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"),
    "codex": ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"),
    "gemini": ("SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent"),
    "qwen": ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"),
    "hermes": ("pre_llm_call", "pre_tool_call", "post_tool_call"),
}
MATCHERS: Final[Mapping[tuple[str, str], str]] = {
    ("claude", "PostToolUse"): "TodoWrite|TaskCreate|TaskUpdate|TaskList|TaskGet",
}
"""Events that are told only of these tools: those of the client's own lists."""
GATES: Final = frozenset({"PreToolUse", "BeforeTool", "pre_tool_call"})
# Hermes looks at what a hook says, whatever its exit status.
_HERMES_NO: Final = '{"decision":"block","reason":"Plan mode: Standfast does not answer."}'
ASSETS: Final[Mapping[str, str]] = {"pi": "pi/standfast.ts", "opencode": "opencode/standfast.js"}


@dataclass(frozen=True)
class Scope:
    """Where a client is connected: a person's folder or a project's, and what is known about it."""

    folder: Path
    home: str | None
    environ: Mapping[str, str]
    hooked: frozenset[str] = frozenset(HOOKED)

    @property
    def project(self) -> bool:
        """Whether it is a project's; its files are shared and name no home."""
        return self.home is None

    def configured(self, variable: str, default: str) -> Path:
        """A client's own folder: what its variable names for a person, else below this scope's folder."""
        named = "" if self.project else self.environ.get(variable, "")
        return Path(named) if named else self.folder / default


@dataclass(frozen=True)
class Settings:
    """Entries in a file that others write as well."""

    path: Path
    syntax: Syntax
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class WholeFile:
    """A file that is ours alone."""

    path: Path
    data: bytes


Part = Settings | WholeFile


class Unavailable(Exception):
    """This client cannot be connected in this scope; the text says why."""


def hooks(client: str, scope: Scope, seconds: int = HOOK_SECONDS) -> tuple[Entry, ...]:
    """The hooks of a client whose settings have the form that Claude Code introduced."""
    entries = []
    for event in EVENTS[client] if client in scope.hooked else ():
        group: dict[str, Any] = {
            "hooks": [{"type": "command", "command": _hook(client, event, scope), "timeout": seconds}]
        }
        if (client, event) in MATCHERS:
            group["matcher"] = MATCHERS[client, event]
        entries.append(Entry(("hooks", event), group, mark=f"standfast hook {client}"))
    return tuple(entries)


def parts(client: str, scope: Scope) -> list[Part]:
    """All that a client is given. Raises `Unavailable`."""
    found = [part for part in _CLIENTS[client](scope) if isinstance(part, WholeFile) or part.entries]
    if not found:
        raise Unavailable(f"This build has nothing for {TITLES[client]} yet.")
    return found


def asset(client: str, scope: Scope, path: Path) -> list[Part]:
    """A client's whole file, if this build has one; the home stands in it as a JSON text, or `null`."""
    source = files("standfast.client").joinpath("assets", *ASSETS[client].split("/"))
    if not source.is_file():
        return []
    text = source.read_text(encoding="utf-8").replace(HOME_IN_ASSET, json.dumps(scope.home))
    return [WholeFile(path, text.encode())]


def _hook(client: str, event: str, scope: Scope) -> str:
    deny = calls.EXIT if client != "hermes" else f"echo '{_HERMES_NO}'"
    return calls.hook(client, scope.home, deny=deny if event in GATES else "")


def _server(scope: Scope, **more: Any) -> dict[str, Any]:
    """A server in the form that most clients read; `more` is what only a person may grant."""
    command, *words = calls.server(scope.home)
    return {"command": command, "args": words, **({} if scope.project else more)}


def _claude(scope: Scope) -> list[Part]:
    folder = scope.configured("CLAUDE_CONFIG_DIR", ".claude")
    named = not scope.project and scope.environ.get("CLAUDE_CONFIG_DIR")
    servers = scope.folder / ".mcp.json" if scope.project else (folder if named else scope.folder) / ".claude.json"
    server = Entry(("mcpServers", NAME), {"type": "stdio", **_server(scope), "alwaysLoad": True})
    return [
        Settings(servers, STRICT, (server,)),
        Settings(folder / "settings.json", STRICT, hooks("claude", scope)),
    ]


def _codex(scope: Scope) -> list[Part]:
    folder = scope.configured("CODEX_HOME", ".codex")
    server = _server(scope, required=True, default_tools_approval_mode="approve")
    return [
        Settings(folder / "config.toml", toml_spans, (Entry(("mcp_servers", NAME), server),)),
        Settings(folder / "hooks.json", STRICT, hooks("codex", scope)),
    ]


def _pi(scope: Scope) -> list[Part]:
    folder = scope.folder / ".pi" if scope.project else scope.configured("PI_CODING_AGENT_DIR", ".pi/agent")
    return asset("pi", scope, folder / "extensions" / "standfast.ts")


def _opencode(scope: Scope) -> list[Part]:
    config = scope.environ.get("XDG_CONFIG_HOME") or str(scope.folder / ".config")
    folder = scope.folder if scope.project else Path(config, "opencode")
    plugins = (scope.folder / ".opencode" if scope.project else folder) / "plugin"
    # It merges both; a file that is there is preferred to a new one.
    commented, plain = folder / "opencode.jsonc", folder / "opencode.json"
    server = {"type": "local", "command": calls.server(scope.home), "enabled": True}
    return [
        Settings(commented if commented.exists() else plain, RELAXED, (Entry(("mcp", NAME), server),)),
        *asset("opencode", scope, plugins / "standfast.js"),
    ]


def _gemini(scope: Scope) -> list[Part]:
    # Its timeouts are milliseconds.
    server = Entry(("mcpServers", NAME), _server(scope, trust=True))
    entries = (server, *hooks("gemini", scope, HOOK_SECONDS * 1000))
    home = scope.configured("GEMINI_CLI_HOME", "")
    return [Settings(home / ".gemini" / "settings.json", COMMENTED, entries)]


def _qwen(scope: Scope) -> list[Part]:
    entries = (Entry(("mcpServers", NAME), _server(scope, trust=True)), *hooks("qwen", scope))
    return [Settings(scope.configured("QWEN_HOME", ".qwen") / "settings.json", COMMENTED, entries)]


def _hermes(scope: Scope) -> list[Part]:
    if scope.project:
        raise Unavailable("Hermes reads no configuration of a project. Use --user.")
    from standfast.cli.connect import yaml_spans

    heard = EVENTS["hermes"] if "hermes" in scope.hooked else ()
    # It splits a hook's command into words and starts it without a shell.
    ours = [
        Entry(
            ("hooks", event),
            {"command": calls.in_shell(_hook("hermes", event, scope)), "timeout": HOOK_SECONDS},
            mark="standfast hook hermes",
        )
        for event in heard
    ]
    entries = (Entry(("mcp_servers", NAME), _server(scope)), *ours)
    return [Settings(scope.configured("HERMES_HOME", ".hermes") / "config.yaml", yaml_spans, entries)]


_CLIENTS: Final[Mapping[str, Callable[[Scope], list[Part]]]] = {
    "claude": _claude,
    "codex": _codex,
    "pi": _pi,
    "opencode": _opencode,
    "gemini": _gemini,
    "qwen": _qwen,
    "hermes": _hermes,
}
TITLES: Final[Mapping[str, str]] = {
    "claude": "Claude Code",
    "codex": "Codex",
    "pi": "Pi",
    "opencode": "OpenCode",
    "gemini": "Gemini CLI",
    "qwen": "Qwen Code",
    "hermes": "Hermes",
}
