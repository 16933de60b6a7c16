"""`POST /v1/hooks/{client}`: a client's hook event in, the client's own answer out.

The body is what the hook process wraps around the event's bytes: `{"process", "attended", "event"}`. A hook
runs as the person whose client it is and carries the operator's token; what it does is a coordinator's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from standfast.domain.errors import Refusal
from standfast.serve.auth import PAGE, Keys, identify
from standfast.serve.conversations import Conversations
from standfast.serve.hooks.claude import Claude
from standfast.serve.hooks.coordinator import Coordinator
from standfast.serve.hooks.vocabulary import Client, Sent
from standfast.serve.http import Api, guarded, read_body, respond


class Hooks:
    """The endpoint of all clients' hooks."""

    def __init__(self, api: Api, keys: Keys, conversations: Conversations) -> None:
        self._keys: Final = keys
        self._coordinator: Final = Coordinator(api, conversations)
        self._clients: Final[Mapping[str, Client]] = {"claude": Claude()}

    def routes(self) -> list[Route]:
        """The one route."""
        return [Route("/v1/hooks/{client}", guarded(self.receive), methods=["POST"])]

    async def receive(self, request: Request) -> Response:
        """One event."""
        actor = identify(request.headers, self._keys)
        if actor.role != "operator" or actor.name == PAGE:
            raise Refusal("forbidden", "Hooks of a client are a person's own; send the operator's token.")
        client = self._clients.get(request.path_params["client"])
        if client is None:
            known = ", ".join(self._clients)
            raise Refusal("not_found", f"No hooks are known for this client; known are: {known}.")
        body = await read_body(request)
        event, process = body.get("event"), body.get("process")
        if not isinstance(event, dict) or not (process is None or isinstance(process, int)):
            raise Refusal("invalid", "A hook sends an object with `event`, `process` and `attended`.")
        sent = Sent(event, process, attended=body.get("attended") is not False)
        report = client.read(sent)
        if report is None:
            return respond({})
        return respond(client.write(sent, await self._coordinator.heard(client, report, sent)))
