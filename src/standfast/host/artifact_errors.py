"""What can go wrong with a workspace file, as codes of refusals and messages that say what to do.

Purpose: one table from `errno` to a code, so that the code that touches files raises plain `OSError`.

Not here: the registry of codes; the door turns an `ArtifactError` into a refusal by its `code`.
"""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from typing import Final, Literal

from standfast.host.artifact_names import UnsafePathError
from standfast.host.folder import WorkspaceGoneError

Code = Literal[
    "artifact_path_unsafe",
    "artifact_write_failed",
    "artifact_limit",
    "artifact_hash_mismatch",
    "workspace_missing",
    "not_found",
    "limit",
    "unavailable",
]
Verb = Literal["write", "read"]

NOT_A_PLAIN_PATH: Final = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.ENXIO})
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_DENIED: Final = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


class ArtifactError(Exception):
    """The file operation was refused or failed; the message says what to do.

    `code` is a refusal's code. `clean` is false where something of the host may be left that could not be
    removed: keep the intent open then, `Artifacts.recover` takes it away later.
    """

    def __init__(self, code: Code, message: str, *, clean: bool = True) -> None:
        super().__init__(message)
        self.code: Final[Code] = code
        self.clean: Final = clean


def failure(error: OSError, verb: Verb, *, clean: bool = True) -> ArtifactError:
    """The error as its code and message."""
    code, message = _told(error, verb)
    return ArtifactError(code, message, clean=clean)


def _told(error: OSError, verb: Verb) -> tuple[Code, str]:
    reason = error.strerror or type(error).__name__
    if isinstance(error, WorkspaceGoneError):
        return (
            "workspace_missing",
            f"The workspace cannot be opened ({reason}). Bring it back, or use another.",
        )
    if error.errno in NOT_A_PLAIN_PATH:
        return (
            "artifact_path_unsafe",
            f"A step of the path is a link, no directory, or was swapped meanwhile ({reason}). "
            "Put a plain directory and a plain file there.",
        )
    if verb == "read":
        if error.errno == errno.ENOENT:
            return "not_found", "The workspace has no such file. Write it first, or send its text."
        return "unavailable", f"The file could not be read ({reason}). Look at it, then try again."
    if error.errno in _FULL:
        return (
            "artifact_write_failed",
            f"The disk or quota is full ({reason}). Free some space, then try again.",
        )
    if error.errno in _DENIED:
        return (
            "artifact_write_failed",
            f"The host may not write the plan's file ({reason}). Give it the right, or set another one.",
        )
    return (
        "artifact_write_failed",
        f"The plan's file could not be written ({reason}). Look at the disk, then try again.",
    )


@contextlib.contextmanager
def explained(verb: Verb) -> Iterator[None]:
    """Turns what the body raises into `ArtifactError`."""
    try:
        yield
    except UnsafePathError as error:
        raise ArtifactError("artifact_path_unsafe", str(error)) from error
    except OSError as error:
        raise failure(error, verb) from error
