"""The page as a person uses it: logging in, and what agents do while somebody looks."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.support.browser import Browser
from tests.support.hosts import PYTHON, Running

STEPS = "## Steps\n\n- [ ] Back up\n- [ ] Release\n  - **Gate:** human\n"


def address(host: Running, *plan: str) -> str:
    """What `standfast web` prints."""
    command = [*PYTHON, "web", *plan, "--json", "--home", str(host.home)]
    done = subprocess.run(command, capture_output=True, check=True, text=True, timeout=60)
    return str(json.loads(done.stdout)["address"])


def origin(host: Running) -> str:
    """The page's own origin."""
    return f"http://127.0.0.1:{host.facts['port']}"


def ticket(host: Running) -> str:
    """What stands behind the `#ticket=`; without a process, as the command gets it."""
    reply = host.request("POST", "/v1/web/ticket", Authorization=f"Bearer {host.token('operator')}")
    return str(reply.json["ticket"])


def bearer(host: Running) -> str:
    """A logged-in page's bearer."""
    reply = host.request("POST", "/v1/web/login", {"ticket": ticket(host)}, tcp=True, Origin=origin(host))
    assert reply.status == 200
    return f"Bearer {reply.json['bearer']}"


def log_in(window: Browser, host: Running, place: str = "/") -> None:
    """Opens the page with a fresh ticket and waits until it is live."""
    window.open("about:blank")
    window.open(f"{origin(host)}/#ticket={ticket(host)}&to={place}")
    window.has("#connection[data-state='live']")


def submitted(host: Running, folder: Path, markdown: str = STEPS, title: str = "Move it") -> tuple[dict[str, Any], str]:
    """A pending plan of a session of its own, and the session's token."""
    _, token = host.session(folder, folder.name)
    return proposed(host, token, markdown, title), token


def proposed(host: Running, token: str, markdown: str = STEPS, title: str = "Move it") -> dict[str, Any]:
    """A pending plan of a session."""
    wish = {"title": title, "question": "Shall I?", "markdown": markdown}
    plan: dict[str, Any] = host.done("plan.submit", wish, "agent", Standfast_Session=token)
    return plan


def approved(host: Running, plan: dict[str, Any], mode: str = "ask") -> None:
    """A person's approval by another surface."""
    seen = {"plan": plan["plan"], "version": plan["version"], "sha256": plan["sha256"]}
    host.done("plan.approve", {**seen, "mode": mode})


def tick(host: Running, token: str, title: str) -> None:
    """An agent's tick."""
    host.done("plan.tick", {"title": title}, "agent", Standfast_Session=token)
