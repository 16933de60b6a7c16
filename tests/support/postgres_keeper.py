"""Keeps one PostgreSQL server for as long as a named pipe has a writer, then stops it and removes its folder.

Run as `python postgres_keeper.py FOLDER BIN UID FSYNC`. The test run holds the pipe `FOLDER/alive` open for
writing. The kernel closes it when that process ends, however it ends, so a killed test run leaves no server
behind. `FOLDER/server.json` is written when the server answers; `FOLDER/failed` holds the reason where it
does not come up. UID is the account to run the server as (PostgreSQL refuses root), or -1 for the own one.

Invariants: the server is a child of this process and is signalled by its own id only; the server listens on a
socket inside FOLDER and on no TCP port. Standard library only: it runs under any interpreter.
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

START_SECONDS = 60
STOP_SECONDS = 30
POLL_SECONDS = 0.02

SETTINGS = {
    "listen_addresses": "",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "max_wal_size": "1GB",
    "log_min_messages": "warning",
    "autovacuum": "off",
    "timezone": "UTC",
}
UNSAFE = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
"""Settings that trade durability for speed: a test of crashes of the machine must not use them."""


def account(uid: int) -> dict[str, object]:
    """The arguments of `Popen` that make a child run as `uid`."""
    if uid < 0:
        return {}
    group = pwd.getpwuid(uid).pw_gid
    return {"user": uid, "group": group, "extra_groups": []}


def prepare(folder: Path, binaries: Path, uid: int) -> None:
    """Makes the cluster: `FOLDER/data` and `FOLDER/socket`, owned by the server's account."""
    for name in ("data", "socket"):
        place = folder / name
        place.mkdir(mode=0o700)
        if uid >= 0:
            os.chown(place, uid, pwd.getpwuid(uid).pw_gid)
    (folder / "socket").chmod(0o755)
    command = [binaries / "initdb", "--pgdata", folder / "data", "--username", "standfast", "--auth", "trust"]
    command += ["--encoding", "UTF8", "--locale", "C", "--no-sync", "--no-instructions"]
    done = subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=START_SECONDS,
        **account(uid),
    )  # type: ignore[call-overload]
    if done.returncode != 0:
        raise RuntimeError(f"initdb failed: {done.stderr.strip() or done.stdout.strip()}")


def start(folder: Path, binaries: Path, uid: int, fsync: bool) -> subprocess.Popen[bytes]:
    """Starts the server and returns when its socket takes connections."""
    settings = SETTINGS | {"unix_socket_directories": str(folder / "socket")} | ({} if fsync else UNSAFE)
    command = [str(binaries / "postgres"), "-D", str(folder / "data")]
    for name, value in settings.items():
        command += ["-c", f"{name}={value}"]
    with (folder / "server.log").open("wb") as log:
        server: subprocess.Popen[bytes] = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **account(uid)
        )  # type: ignore[call-overload]
    deadline = time.monotonic() + START_SECONDS
    # The last line of the pid file says "ready" when the server has opened for connections.
    pidfile = folder / "data" / "postmaster.pid"
    while not (pidfile.exists() and pidfile.read_text().rstrip().endswith("ready")):
        if server.poll() is not None or time.monotonic() > deadline:
            stop(server)
            raise RuntimeError(f"the server did not come up: {(folder / 'server.log').read_text().strip()}")
        time.sleep(POLL_SECONDS)
    return server


def stop(server: subprocess.Popen[bytes]) -> None:
    """Stops our own server: fast shutdown first (SIGINT), then immediate (SIGQUIT), then SIGKILL."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        if server.poll() is not None:
            return
        server.send_signal(number)
        try:
            server.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            continue


def tell(path: Path, text: str) -> None:
    """Writes a file that others wait for: it is there with its whole text or not at all."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.rename(path)


def main(folder: Path, binaries: Path, uid: int, fsync: bool) -> int:
    """Runs the server until nobody holds `FOLDER/alive` open for writing any more."""
    # Signals meant for the test run's terminal are not for us: the pipe says when to stop.
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    alive = os.open(folder / "alive", os.O_RDONLY)
    try:
        prepare(folder, binaries, uid)
        server = start(folder, binaries, uid, fsync)
    except (RuntimeError, OSError, subprocess.TimeoutExpired) as trouble:
        tell(folder / "failed", str(trouble))
        return 1
    try:
        told = {"socket": str(folder / "socket"), "pid": server.pid, "keeper": os.getpid()}
        tell(folder / "server.json", json.dumps(told))
        while os.read(alive, 4096):
            continue
    finally:
        stop(server)
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    place, binary_folder, as_uid, safe = sys.argv[1:5]
    sys.exit(main(Path(place), Path(binary_folder), int(as_uid), safe == "fsync"))
