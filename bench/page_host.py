"""A host that also serves the files of a folder, at `/bench/NAME`: the floor that the page is measured against.

`python bench/page_host.py FOLDER up --foreground …`: the rest is the command line of the product.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from standfast.app import process
from standfast.app.surfaces import Surfaces, build
from standfast.cli.main import main
from standfast.host.door import Host
from standfast.serve.auth import Keys

if __name__ == "__main__":
    folder = Path(sys.argv.pop(1))

    async def serve(request: Request) -> Response:
        """One file, read for each request as the page's own files are."""
        return Response((folder / request.path_params["name"]).read_bytes(), media_type="text/html; charset=utf-8")

    def with_files(host: Host, keys: Keys, home: Path) -> Surfaces:
        """The product's surfaces and the folder."""
        made = build(host, keys, home)
        return msgspec.structs.replace(made, routes=[*made.routes, Route("/bench/{name}", serve)])

    vars(process)["build"] = with_files
    sys.exit(main())
