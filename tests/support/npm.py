"""Installs a folder's npm packages from its lock into the project's cache, once for all workers."""

from __future__ import annotations

import fcntl
import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.repository import ROOT

UNREACHABLE = re.compile(r"ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ENETUNREACH|ERR_SOCKET_TIMEOUT")


def installed(folder: Path, left_out: str) -> Path:
    """The folder with the installed packages of `folder`'s lock.

    Skips with `left_out` as the reason when npm is missing or cannot be reached; fails for any other trouble.
    """
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip(f"{left_out}: there is no npm on this machine")
    cache = ROOT / ".cache" / folder.name
    cache.mkdir(parents=True, exist_ok=True)
    lock = (folder / "package-lock.json").read_bytes()
    stamp, wanted = cache / "installed", hashlib.sha256(lock).hexdigest()
    with (cache / "install.lock").open("w") as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text() != wanted:
            for name in ("package.json", "package-lock.json"):
                shutil.copyfile(folder / name, cache / name)
            # `npm ci` wants every platform's optional packages in the lock, which npm itself leaves out of some.
            command = [npm, "install", "--no-save", "--no-audit", "--no-fund"]
            done = subprocess.run(command, cwd=cache, capture_output=True, text=True, timeout=300, check=False)
            if done.returncode != 0 and (reason := UNREACHABLE.search(done.stderr)):
                pytest.skip(f"{left_out}: npm cannot reach its registry ({reason.group()})")
            assert done.returncode == 0, done.stderr
            stamp.write_text(wanted)
    return cache
