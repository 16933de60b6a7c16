"""The pictures of the page in the documents, taken from made-up work by the same browser that the tests use.

`make screenshots` writes them anew below `docs/images`. The host's clock is moved while the work is made, so
that the pictures show ages as a day's work has them.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from tests.support.browser import Browser, NoBrowser, browser
from tests.support.hosts import Running, running_host
from tests.support.late_host import command
from tests.support.page import approved, log_in
from tests.support.processes import wait_until
from tests.support.repository import ROOT

IMAGES: Final = ROOT / "docs" / "images"
MINUTE: Final = 60_000
BILLING: Final = (ROOT / "src" / "standfast" / "cli" / "example_plan.md").read_text(encoding="utf-8")
EXPORT: Final = """# One query for the nightly export

The export reads four tables one by one and takes 40 minutes. One query with the same result takes three.

## Steps

- [ ] Write the query beside the old export
  - **Verify:** `make export-diff DAYS=7`
- [ ] Run both for seven nights and compare
- [ ] Switch the schedule to the query
  - **After:** Run both for seven nights and compare
  - **Gate:** human
- [ ] Delete the old export
  - **Effect:** irreversible
  - **After:** Switch the schedule to the query

## Not part of it

The [report](https://example.org/report) keeps its own reader.
"""
REVISED: Final = EXPORT.replace("seven nights", "fourteen nights").replace("DAYS=7", "DAYS=14")
FONTS: Final = "## Steps\n\n- [ ] Serve the fonts ourselves\n- [ ] Take the third party's links out\n"


class Day:
    """A host, its clock, and the agents of a day's work."""

    def __init__(self, host: Running, folder: Path, clock: Path) -> None:
        self._host = host
        self._folder = folder
        self._clock = clock

    def minutes_ago(self, minutes: float) -> None:
        """What follows happens then."""
        self._clock.write_text(str(int(-minutes * MINUTE)))

    def session(self, project: str, client: str, **more: Any) -> str:
        """A session; its token."""
        (self._folder / project / ".git").mkdir(parents=True, exist_ok=True)
        return self._host.session(self._folder / project, f"{client}-{project}", **{"client": client, **more})[1]

    def agent(self, token: str, operation: str, **wish: Any) -> dict[str, Any]:
        """A step of an agent's."""
        result: dict[str, Any] = self._host.done(operation, wish, "agent", Standfast_Session=token)
        return result


def work(day: Day, host: Running) -> dict[str, str]:
    """The work that the pictures show, in the order of its times; the places to look at."""
    day.minutes_ago(190)
    old = day.session("storefront", "opencode")
    fonts = day.agent(old, "plan.submit", title="Serve our own fonts", question="May I?", markdown=FONTS)
    approved(host, fonts, "auto")
    day.agent(old, "plan.status")
    for title in ("Serve the fonts ourselves", "Take the third party's links out"):
        day.agent(old, "plan.tick", title=title)
    day.minutes_ago(95)
    codex = day.session("billing", "codex")
    title = "Move the billing tables to their own schema"
    question = "Shall I move the billing tables to their own schema tonight? Readers keep working meanwhile."
    billing = day.agent(codex, "plan.submit", title=title, question=question, markdown=BILLING)
    day.minutes_ago(88)
    approved(host, billing)
    day.agent(codex, "plan.status")
    day.minutes_ago(71)
    evidence = [{"kind": "reported", "value": "pg_restore --list backup.dump: 214 entries, exit 0"}]
    day.agent(codex, "plan.tick", title="Back up the database", evidence=evidence)
    day.minutes_ago(52)
    commit = [{"kind": "commit", "value": "4c1f0a9 Create the billing schema"}]
    day.agent(codex, "plan.tick", title="Create the `billing` schema", evidence=commit)
    export = waiting(day, host)
    day.minutes_ago(9)
    day.agent(codex, "plan.begin", title="Copy the tables and compare row counts")
    day.minutes_ago(4)
    day.session("notes", "pi")
    day.minutes_ago(0)
    return {"billing": f"/plans/{billing['plan']}", "export": f"/plans/{export['plan']}"}


def waiting(day: Day, host: Running) -> dict[str, Any]:
    """What waits for the person: a revision of what they rejected, which this gives, and a gate."""
    day.minutes_ago(44)
    claude = day.session("billing", "claude-code", own_plan_mode=True)
    day.agent(claude, "plan.enter")
    asks = {"title": "One query for the nightly export", "question": "May I replace the nightly export by one query?"}
    first = day.agent(claude, "plan.submit", **asks, markdown=EXPORT)
    day.minutes_ago(30)
    host.done("plan.reject", {"plan": first["plan"], "note": "Compare for two weeks, not one."})
    day.minutes_ago(25)
    gemini = day.session("storefront", "gemini-cli")
    gate = "## Steps\n\n- [ ] Raise the cache's size\n- [ ] Release to one region\n  - **Gate:** human\n"
    cache = day.agent(gemini, "plan.submit", title="A larger image cache", question="May I?", markdown=gate)
    approved(host, cache, "accept_edits")
    day.agent(gemini, "plan.status")
    for minutes, title in ((20, "Raise the cache's size"), (14, "Release to one region")):
        day.minutes_ago(minutes)
        day.agent(gemini, "plan.tick", title=title)
    day.minutes_ago(11)
    return day.agent(claude, "plan.submit", **asks, markdown=REVISED)


def whole(window: Browser) -> bool:
    """Whether every part of the page is there."""
    return not window.run("return document.querySelector('[data-part]:not([data-ui-loaded])')")


def take(window: Browser, host: Running, places: dict[str, str], folder: Path) -> None:
    """Every picture."""
    shots = [
        ("overview", "/", 1180, 660, "light"),
        ("plan", places["export"], 1180, 860, "light"),
        ("tracker", places["billing"], 1180, 760, "dark"),
        ("narrow", places["export"], 390, 800, "light"),
    ]
    for name, place, width, height, scheme in shots:
        window.size(width, height)
        window.devtools("Emulation.setScrollbarsHidden", hidden=True)
        window.prefers(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
        log_in(window, host, place)
        window.has("main h1")
        wait_until(lambda: whole(window), "all parts of the page")
        window.run("document.activeElement.blur()")
        (folder / f"{name}.png").write_bytes(window.picture())


def main(folder: Path = IMAGES) -> int:
    """Writes the pictures; 1 where there is no browser."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="standfast-page-") as base:
        root, clock = Path(base), Path(base) / "clock"
        clock.write_text("0")
        try:
            with running_host(root / "home", program=command(clock, root / "home")) as host, browser() as window:
                take(window, host, work(Day(host, root, clock), host), folder)
        except NoBrowser as reason:
            print(f"screenshots: {reason}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
