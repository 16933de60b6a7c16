"""A host on a folder with a clock that stands still, for kits that prepare, break off and look again.

Everything is kept in the folder: the database and the workspace. A new `Play` on the same folder goes on in the
same boot, or in a new one, which raises the fence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from standfast.domain.change import Actor
from standfast.host.artifacts import Artifacts
from standfast.host.door import Host
from standfast.host.fence import raise_fence
from standfast.host.files import Files
from standfast.store.sqlite_open import open_sqlite

NOW: Final = 1_790_000_000_000
OPERATOR: Final = Actor(role="operator", name="operator")
STEPS: Final = "- [ ] one\n- [ ] two\n- [ ] three\n"


class Call(msgspec.Struct, frozen=True):
    """One call as data: who, what, with which input."""

    role: str
    session: str | None
    operation: str
    payload: Mapping[str, Any]

    @property
    def actor(self) -> Actor:
        """The caller."""
        name = "operator" if self.role == "operator" else self.session or self.role
        return Actor(role=self.role, session=self.session, name=name, connection=name)


class Play:
    """An open host on a folder. Close it; the folder stays. `hook` sees every statement, `files` every file step."""

    def __init__(
        self, folder: Path, boot: str = "first", hook: Callable[[str], None] | None = None, files: Files | None = None
    ) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        store = open_sqlite(folder / "standfast.db", lambda: NOW, hook=hook)
        self.host = Host(store, boot=boot, secret=b"k" * 32, artifacts=Artifacts(files))
        raise_fence(self.host)

    def close(self) -> None:
        """Closes the host."""
        self.host.close()

    def call(self, call: Call, key: str | None = None) -> Mapping[str, Any]:
        """A call that must not be refused; its result."""
        return self.host.call(call.operation, call.payload, call.actor, key).result

    def person(self, operation: str, **payload: Any) -> Mapping[str, Any]:
        """A step of the operator's."""
        return self.call(Call("operator", None, operation, payload))

    def session(self, name: str = "one", **more: Any) -> str:
        """A started session; its id."""
        place = self.folder / "project"
        place.mkdir(exist_ok=True)
        payload = {"client": "kit", "client_session_id": name, "workspace": str(place), **more}
        return str(self.call(Call("agent", None, "session.start", payload))["session"])

    def agent(self, session: str, operation: str, **payload: Any) -> Mapping[str, Any]:
        """A step of an agent's."""
        return self.call(Call("agent", session, operation, payload))

    def pending(self, session: str, markdown: str = STEPS) -> Mapping[str, Any]:
        """A pending plan: what a verdict names of it."""
        plan = self.agent(session, "plan.submit", title="Plan", question="Go?", markdown=markdown)
        return {"plan": plan["plan"], "version": plan["version"], "sha256": plan["sha256"]}

    def approved(self, session: str, markdown: str = STEPS) -> Mapping[str, Any]:
        """An approved plan whose execution was handed out."""
        seen = self.pending(session, markdown)
        self.person("plan.approve", **seen, mode="ask")
        self.agent(session, "plan.status")
        return seen
