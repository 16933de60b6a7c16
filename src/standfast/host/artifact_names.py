"""Names of artifacts and of the steps that lead to them. Pure text, no file is looked at.

Invariants: a name fits into 255 bytes with its longest suffix; a path made of checked parts stays below its
workspace as long as no step is a link, which whoever opens it sees to.

Not here: whether a name is free (`publishing`).
"""

from __future__ import annotations

import os
import re
import time
import unicodedata
from pathlib import PurePosixPath
from typing import Final

MAX_SLUG: Final = 64
MAX_SLUG_BYTES: Final = 200
MAX_NAME_BYTES: Final = 255
MAX_STEPS: Final = 32
MAX_SAME_NAME: Final = 1_000

_ARTIFACT: Final = re.compile(r"[^/]+-\d{8}-\d{6}(-[1-9]\d{0,3})?\.md", re.ASCII)
_TEMP: Final = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)


class UnsafePathError(ValueError):
    """The path leaves the workspace or names nothing in it; the message says which part."""


def slug(title: str) -> str:
    """The title's lower-case alphanumerics, also non-ASCII ones, in NFC, anything between them one `-`.

    At most 64 characters and 200 bytes of UTF-8, never cut inside a character; `plan` if nothing is left.
    """
    text = unicodedata.normalize("NFC", title.lower())
    words = "".join(letter if letter.isalnum() else " " for letter in text).split()
    cut = "-".join(words)[:MAX_SLUG].encode("utf-8", "ignore")[:MAX_SLUG_BYTES].decode("utf-8", "ignore")
    return cut.strip("-") or "plan"


def artifact_name(title: str, at_ms: int, n: int) -> str:
    """`<slug>-<UTC yyyymmdd-hhmmss>[-n].md`; the first of its second (`n` = 1) has no suffix."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(at_ms // 1_000))
    suffix = "" if n == 1 else f"-{n}"
    return f"{slug(title)}-{stamp}{suffix}.md"


def is_artifact_name(name: str) -> bool:
    """Whether `artifact_name` can have made this name."""
    return _ARTIFACT.fullmatch(name) is not None


def temp_file(temp_name: str) -> str:
    """The file name of an announced temp name: ASCII letters, digits, `_` and `-`, at most 128 characters."""
    if _TEMP.fullmatch(temp_name) is None:
        raise UnsafePathError(f"{temp_name!r} is not a name for a temporary file.")
    return f".{temp_name}.tmp"


def path_parts(path: str) -> tuple[str, ...]:
    """The steps of a path relative to the workspace; at least one, none of them `..`, at most 32."""
    pure = PurePosixPath(path)
    parts = pure.parts
    if pure.is_absolute() or not parts or ".." in parts or "\0" in path:
        raise UnsafePathError(f"{path!r} is not a path below the workspace; name one without `..` or a leading `/`.")
    try:
        too_long = any(len(os.fsencode(part)) > MAX_NAME_BYTES for part in parts)
    except UnicodeEncodeError as error:
        raise UnsafePathError(f"{path!r} holds what no file name can hold.") from error
    if too_long or len(parts) > MAX_STEPS:
        raise UnsafePathError(f"The path has more than {MAX_STEPS} steps or a step over {MAX_NAME_BYTES} bytes.")
    return parts
