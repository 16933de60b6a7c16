"""A real host with one more route, `POST /trivial`: JSON in, JSON out, the floor of what the same server costs.

Run as `python -m bench.host HOME`; a signal ends it, as it ends every host.
"""

from __future__ import annotations

import sys
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from standfast.app import process, surfaces
from standfast.app.surfaces import Surfaces
from standfast.config import read_config
from standfast.host.door import Host
from standfast.serve.auth import Keys
from standfast.serve.http import read_body, respond


async def trivial(request: Request) -> Response:
    """The body, back."""
    return respond(await read_body(request))


def with_floor(host: Host, keys: Keys, home: Path) -> Surfaces:
    """The host's surfaces and the floor."""
    built = surfaces.build(host, keys, home)
    return Surfaces([*built.routes, Route("/trivial", trivial, methods=["POST"])], built.mcp)


if __name__ == "__main__":
    process.build = with_floor
    sys.exit(process.run(read_config(home=Path(sys.argv[1]), port=0)))
