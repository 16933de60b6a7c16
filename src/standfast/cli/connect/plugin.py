"""Claude Code's plugin folder, for `claude --plugin-dir DIR`: the MCP server and the hooks in a place of their own.

Every command is guarded, so that a teammate or a CI without Standfast notices nothing, and names this home, so
that an environment cannot lead it elsewhere.
"""

from __future__ import annotations

import json
import shlex
from argparse import Namespace
from pathlib import Path
from typing import Any, Final

import standfast
from standfast.cli.commands import UsageError, emit
from standfast.cli.connect import calls
from standfast.cli.connect.table import Scope, hooks

MANIFEST: Final = Path(".claude-plugin", "plugin.json")


def connect(arguments: Namespace, home: str) -> int:
    """Writes the plugin folder, or takes it away again."""
    folder = Path(arguments.plugin).absolute()
    files = plugin(home)
    if arguments.remove:
        return _remove(arguments, folder, files)
    _ours_or_free(folder)
    for name, content in files.items():
        if not arguments.dry_run:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(_text(content), encoding="utf-8")
    answer = {"client": "claude", "folder": str(folder), "files": sorted(map(str, files))}
    did = "Would write" if arguments.dry_run else "Wrote"
    text = (
        f"{did} {len(files)} files to {folder}.\nStart the client with: claude --plugin-dir {shlex.quote(str(folder))}"
    )
    return emit(arguments, answer, text)


def plugin(home: str) -> dict[Path, dict[str, Any]]:
    """The plugin's files: what to call, when, and under which guard."""
    command, *words = calls.server(home)
    server = {"command": command, "args": words, "alwaysLoad": True}
    manifest = {
        "name": "standfast",
        "version": standfast.__version__,
        "description": "Keeps approved plans and their progress through compaction, crash and restart.",
    }
    return {
        MANIFEST: manifest,
        Path("hooks", "hooks.json"): {
            "hooks": {entry.path[-1]: [entry.value] for entry in hooks("claude", Scope(Path(), home, {}))}
        },
        Path(".mcp.json"): {"mcpServers": {"standfast": server}},
    }


def _text(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _ours_or_free(folder: Path) -> None:
    """A folder that holds something else is not written into."""
    if not folder.exists():
        return
    try:
        ours = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["name"] == "standfast"
    except (OSError, ValueError, KeyError, TypeError):
        ours = folder.is_dir() and not any(folder.iterdir())
    if not ours:
        raise UsageError(f"{folder} holds something else. Name a folder that is new, empty or this plugin's.")


def _remove(arguments: Namespace, folder: Path, files: dict[Path, dict[str, Any]]) -> int:
    """Removes the files that are as they were written; what a person changed stays and is named."""
    _ours_or_free(folder)
    kept = []
    for name, content in files.items():
        path = folder / name
        if not path.exists():
            continue
        if path.read_text(encoding="utf-8") != _text(content):
            kept.append(str(name))
        elif not arguments.dry_run:
            path.unlink()
    for each in (*sorted({(folder / name).parent for name in files}, reverse=True), folder):
        if not arguments.dry_run and each.is_dir() and not any(each.iterdir()):
            each.rmdir()
    answer = {"client": "claude", "folder": str(folder), "changed_and_kept": kept}
    left = f" Changed and kept: {', '.join(kept)}." if kept else ""
    return emit(
        arguments, answer, f"{'Would remove' if arguments.dry_run else 'Removed'} the plugin from {folder}.{left}"
    )
