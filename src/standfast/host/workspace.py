"""Where a session works: the checkout (one path) and the project (what its worktrees share).

A project is the id in `.standfast/project`, else the git common directory, else the path. Git is read from
its files: a `.git` directory, or a `.git` file that leads to one with a `commondir`.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from standfast.domain.errors import Refusal

MAX_PATH = 4_096
MAX_ID_BYTES = 200


class Located(msgspec.Struct, frozen=True):
    """A workspace on disk: the project's identity and the checkout's resolved path."""

    project: str
    checkout: str


def locate(workspace: str) -> Located:
    """The project and checkout of a directory; a linked workspace is resolved once, here."""
    if not workspace or len(workspace) > MAX_PATH or "\0" in workspace:
        raise Refusal("invalid", f"workspace has 1 to {MAX_PATH} characters.", field="workspace")
    if not workspace.startswith("/"):
        raise Refusal("invalid", "workspace is an absolute path.", field="workspace")
    path = Path(workspace)
    try:
        checkout = path.resolve(strict=True)
        if not checkout.is_dir():
            raise NotADirectoryError
    except (OSError, RuntimeError) as error:
        raise Refusal(
            "workspace_missing",
            f"{workspace} is not a directory that the host can read.",
            workspace=workspace,
        ) from error
    return Located(_project(checkout), str(checkout))


def _project(checkout: Path) -> str:
    declared = _line(checkout / ".standfast" / "project")
    if declared:
        return f"id:{declared}"
    for folder in (checkout, *checkout.parents):
        common = _common_directory(folder / ".git")
        if common is not None:
            return f"git:{common}"
    return f"path:{checkout}"


def _common_directory(git: Path) -> Path | None:
    if git.is_dir():
        return git.resolve()
    pointer = _line(git)
    if not pointer.startswith("gitdir:"):
        return None
    private = (git.parent / pointer.removeprefix("gitdir:").strip()).resolve()
    shared = _line(private / "commondir")
    return (private / shared).resolve() if shared else private


def _line(file: Path) -> str:
    try:
        with file.open("rb") as stream:
            return stream.read(MAX_PATH).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""
