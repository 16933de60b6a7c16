"""Everybody can use the page: no serious fault for axe-core, the keyboard alone, a narrow screen, less motion."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.browser import Browser
from tests.support.hosts import Running, running_host
from tests.support.npm import installed
from tests.support.page import approved, log_in, origin, proposed, submitted, tick
from tests.support.processes import wait_until

HERE = Path(__file__).parent
SERIOUS = {"serious", "critical"}
RICH = (
    "# Move\n\nSee [notes](https://example.org/n).\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\ncode\n```\n\n"
    "- [ ] Back up\n  - **Verify:** `pg_restore --list x`\n- [ ] Drop\n  - **Effect:** irreversible\n"
    "- [ ] Release\n  - **Gate:** human\n<!-- hidden -->\n"
)


@pytest.fixture(scope="module")
def axe() -> str:
    """The source of axe-core."""
    return (installed(HERE, "accessibility") / "node_modules" / "axe-core" / "axe.min.js").read_text()


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, dict[str, str]]]:
    """A host where everything is on the page at once, and the places to look at."""
    folder = tmp_path_factory.mktemp("busy")
    with running_host(folder / "home") as host:
        old, token = submitted(host, folder / "one", RICH, title="Move the billing tables")
        approved(host, old)
        tick(host, token, "Release")
        host.done("plan.begin", {"title": "Drop"}, "agent", Standfast_Session=token)
        host.done("plan.enter", {}, "agent", Standfast_Session=token)
        new = proposed(host, token, RICH.replace("Back up", "Back up twice"), title="Move them again")
        gone, _ = submitted(host, folder / "two", title="Rename the package")
        host.done("plan.abort", {"plan": gone["plan"]})
        session = host.done("plan.get", {"plan": new["plan"]})["session"]
        places = {
            "overview": "/",
            "pending plan": f"/plans/{new['plan']}",
            "tracked plan": f"/plans/{old['plan']}",
            "ended plan": f"/plans/{gone['plan']}",
            "session": f"/sessions/{session}",
            "timeline": "/timeline?kind=plan",
            "search": "/search?q=move",
        }
        yield host, places


PLACES = ("overview", "pending plan", "tracked plan", "ended plan", "session", "timeline", "search")


def settled(window: Browser) -> None:
    """Waits until the parts of a page that load by themselves are there."""
    wait_until(
        lambda: not window.run("return document.querySelector('[data-part]:not([data-ui-loaded])')"), "all parts", 20
    )


def faults(window: Browser, axe: str) -> list[Any]:
    """The serious faults that axe-core finds on the page as it is."""
    if not window.run("return 'axe' in window"):
        window.run(axe)
    window.run("axe.run().then((found) => { window.found = found.violations; })")
    wait_until(lambda: window.run("return 'found' in window"), "axe-core", 30)
    found = window.run("const all = window.found; delete window.found; return all")
    return [(each["id"], [node["html"][:200] for node in each["nodes"]]) for each in found if each["impact"] in SERIOUS]


@pytest.mark.requirement("PAGE-07")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_serious_fault_for_people_with_assistive_technology(
    window: Browser, busy: tuple[Running, dict[str, str]], axe: str, scheme: str
) -> None:
    host, places = busy
    window.open(f"{origin(host)}/")
    window.prefers(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
    found = {"login": faults(window, axe)}
    log_in(window, host)
    for name in PLACES:
        window.run("location.hash = arguments[0]", f"#{places[name]}")
        window.has("main h1")
        settled(window)
        found[name] = faults(window, axe)
    window.run("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    window.press("?")
    window.has("#keys[open]")
    found["help"] = faults(window, axe)
    assert {name: each for name, each in found.items() if each} == {}


@pytest.mark.requirement("PAGE-07")
def test_no_page_needs_scrolling_sideways_at_360_pixels(window: Browser, busy: tuple[Running, dict[str, str]]) -> None:
    host, places = busy
    window.size(360, 740)
    log_in(window, host)
    for name in PLACES:
        window.run("location.hash = arguments[0]", f"#{places[name]}")
        window.has("main h1")
        settled(window)
        assert window.run("return document.documentElement.scrollWidth") <= 360, name


@pytest.mark.requirement("PAGE-07")
def test_a_plan_is_found_read_and_approved_with_the_keyboard_alone(
    window: Browser, host: Running, tmp_path: Path
) -> None:
    submitted(host, tmp_path / "w")
    log_in(window, host)
    window.shows("P-1 Move it")
    window.press("j")
    assert window.run("return document.activeElement.textContent").strip().endswith("Move it")
    window.press("j", "k")
    window.press("\ue007")
    window.shows("Your verdict")
    window.press("r")
    assert window.run("return document.activeElement.name") == "note"
    window.press("\ue00c", "a")
    assert window.run("return document.activeElement.dataset.do") == "plan.approve"
    assert host.done("plan.get", {"plan": "P-1"})["status"] == "pending"
    window.press("\ue007")
    window.shows("Approved")
    window.press("o")
    window.shows("Waits for you")
    window.press("/", "M", "o", "v", "e", "\ue007")
    window.shows("Found for “Move”", "P-1")


@pytest.mark.requirement("PAGE-07")
def test_a_from_the_overview_leads_to_the_verdict_of_what_is_marked(
    window: Browser, host: Running, tmp_path: Path
) -> None:
    submitted(host, tmp_path / "w")
    log_in(window, host)
    window.shows("P-1 Move it")
    window.press("j", "a")
    wait_until(lambda: window.run("return document.activeElement.dataset.do") == "plan.approve", "the verdict")


@pytest.mark.requirement("PAGE-07")
def test_nothing_moves_where_a_person_asked_for_less_motion(
    window: Browser, busy: tuple[Running, dict[str, str]]
) -> None:
    host, _ = busy
    window.prefers(prefers_reduced_motion="reduce")
    log_in(window, host)
    window.has(".row")
    assert window.run("return document.getAnimations().length") == 0


@pytest.mark.requirement("PAGE-07")
def test_times_are_local_and_exact_on_a_closer_look(window: Browser, busy: tuple[Running, dict[str, str]]) -> None:
    host, places = busy
    window.devtools("Emulation.setTimezoneOverride", timezoneId="Pacific/Auckland")
    log_in(window, host, places["tracked plan"])
    window.has(".facts time")
    said = window.run(
        "const at = document.querySelector('.facts time'); return [at.textContent, at.title, at.dateTime]"
    )
    window.devtools("Emulation.setTimezoneOverride", timezoneId="")
    assert said[0] in ("just now", "1 min ago", "2 min ago", "3 min ago")
    assert said[2].endswith("Z")
    assert said[2] in said[1]
    options = {"dateStyle": "medium", "timeStyle": "long", "timeZone": "Pacific/Auckland"}
    local = window.run("return new Date(arguments[0]).toLocaleString(undefined, arguments[1])", said[2], options)
    assert said[1].startswith(local)
