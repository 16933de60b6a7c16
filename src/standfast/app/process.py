"""One host as a process: home, store, fence, surfaces, loops, sockets; and its end.

Order matters: the lock before the store, the fence before the first socket, `host.json` last, when the host
answers. A store that failed ends the process with its message; a signal ends it gracefully.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Final

import uvicorn
import uvloop
from starlette.applications import Starlette

import standfast
from standfast.app.home import Home
from standfast.app.surfaces import build
from standfast.config import Config, system_clock
from standfast.host.door import Host
from standfast.host.fence import raise_fence
from standfast.host.gates import GateFiles
from standfast.host.lock import OperatorLock
from standfast.loops.expire import expire
from standfast.loops.notify import notify
from standfast.loops.prune import prune
from standfast.serve.auth import Keys
from standfast.store.sqlite_open import open_sqlite
from standfast.store.tx import Store, StoreRefused

PORTS_TRIED: Final = 50
LISTEN: Final = 512


def open_store(config: Config) -> Store:
    """The database that the configuration names."""
    if config.database_url is None:
        return open_sqlite(config.database, system_clock)
    try:
        from standfast.store.postgres_open import open_postgres
    except ImportError as error:
        raise StoreRefused(
            "A PostgreSQL database needs the extra `postgres`: install `standfast[postgres]`, "
            "or go back to the embedded database with `standfast up --database-url sqlite`."
        ) from error
    return open_postgres(config.database_url)


def open_host(config: Config, home: Home) -> Host:
    """The host behind its door, fenced off from earlier boots."""
    host = Host(
        open_store(config),
        boot=secrets.token_hex(8),
        secret=home.secret,
        gates=GateFiles(home.gates),
        lock=OperatorLock(home.lock),
    )
    raise_fence(host)
    return host


def run(config: Config) -> int:
    """Runs a host until a signal or a fault; the exit status."""
    home = Home(config.home)
    try:
        host = open_host(config, home)
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(_serve(config, home, host))
        finally:
            host.close()
            _leave_failed(host.store)
    finally:
        home.close()
    return 0


def _leave_failed(store: Store) -> None:
    """After a failure of the store nothing more may be written, not even by closing: the process just ends."""
    if store.failure is not None:
        print(f"standfast: {store.failure}", file=sys.stderr, flush=True)
        os._exit(1)


async def _serve(config: Config, home: Home, host: Host) -> None:
    keys = Keys(home.tokens, home.secret, home.pages)
    local, port = _sockets(config, home)
    surfaces = build(host, keys, home.path)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(job) for job in (expire(host), notify(host), prune(host), surfaces.mcp.warm())]
        async with surfaces.mcp.running():
            yield
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    app = Starlette(routes=surfaces.routes, lifespan=lifespan)
    server = Server(
        uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, timeout_graceful_shutdown=3),
        announce=lambda: home.announce(
            {"pid": os.getpid(), "boot": host.boot, "port": port, "version": standfast.__version__}
        ),
        broken=lambda: host.store.failure is not None,
    )
    await server.serve(sockets=local)


class Server(uvicorn.Server):
    """uvicorn that announces itself when it answers, and ends when the store broke."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None], broken: Callable[[], bool]) -> None:
        super().__init__(config)
        self._announce = announce
        self._broken = broken

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """SIGINT and SIGTERM end the server gracefully; uvicorn's own way would raise them again afterwards."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Opens the sockets, then announces."""
        await super().startup(sockets)
        if self.started:
            self._announce()

    async def on_tick(self, counter: int) -> bool:
        """uvicorn's heartbeat, every 0.1 s."""
        return await super().on_tick(counter) or self._broken()


def _sockets(config: Config, home: Home) -> tuple[list[socket.socket], int]:
    """The unix socket (0600) and loopback TCP on the wished or the next free port."""
    home.socket.unlink(missing_ok=True)
    local = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        local.bind(str(home.socket))
    finally:
        os.umask(before)
    local.listen(LISTEN)
    tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    for port in (*range(config.port, config.port + PORTS_TRIED), 0):
        with suppress(OSError):
            tcp.bind(("127.0.0.1", port))
            break
    tcp.listen(LISTEN)
    return [local, tcp], int(tcp.getsockname()[1])
