"""The page's first paint against a static file of the same bytes, from the same server, in the same browser.

Both say when they were painted in the same way: a mark set after the first frame that shows the whole content.
The static file holds the shell and the fragment as the host drew it, so that both lay out the same document.
"""

from __future__ import annotations

import http.client
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from statistics import median

from bench.report import Row
from tests.support.browser import Browser, NoBrowser, browser
from tests.support.hosts import Running, running_host
from tests.support.page import approved, bearer, log_in, origin, proposed
from tests.support.processes import wait_until

SESSIONS = 1_000
TASKS = 1_000
ROUNDS = 7
MARK = "<script>requestAnimationFrame(() => setTimeout(() => performance.mark('painted')))</script>"
SCRIPTS = re.compile(r'<(?:link rel="modulepreload"|script)[^>]*>(?:</script>)?\n')
HOST = Path(__file__).with_name("page_host.py")


@contextmanager
def busy_host() -> Iterator[tuple[Running, Path, str]]:
    """A host with many sessions, every tenth at work, and one large plan; its folder of files; the plan's place."""
    with tempfile.TemporaryDirectory(prefix="standfast-bench-") as base:
        root, files = Path(base), Path(base) / "files"
        files.mkdir()
        words = ["up", "--foreground", "--home", str(root / "home"), "--port", "0"]
        with running_host(root / "home", program=[sys.executable, "-P", str(HOST), str(files), *words]) as host:
            for n in range(SESSIONS):
                _, token = host.session(root / f"project{n % 50}", f"s{n}", client=f"client{n % 7}")
                if n % 10 == 0:
                    approved(host, proposed(host, token, title=f"Plan of session {n}"))
            tasks = "".join(f"- [ ] Step {n} of a plan that is long\n" for n in range(TASKS))
            _, token = host.session(root / "large", "large")
            yield host, files, f"/plans/{proposed(host, token, tasks)['plan']}"


def painted(window: Browser) -> float:
    """Milliseconds from the start of the navigation to the first frame with the content."""
    script = "return performance.getEntriesByName('painted')[0]?.startTime"
    return float(wait_until(lambda: window.run(script), "the page to be painted", 60))


def fetched(host: Running, path: str, authorization: str) -> float:
    """Seconds until the server's whole answer is there."""
    with closing(http.client.HTTPConnection("127.0.0.1", host.facts["port"], timeout=60)) as connection:
        begun = time.perf_counter()
        connection.request("GET", path, headers={"Authorization": authorization})
        connection.getresponse().read()
        return time.perf_counter() - begun


def measured(window: Browser, host: Running, files: Path, name: str, place: str) -> list[Row]:
    """First paint and the server's part of one place of the page."""
    fragment = "/page/overview" if place == "/" else f"/page{place}"
    known = bearer(host)
    shell = SCRIPTS.sub("", host.request("GET", "/", tcp=True).body.decode())
    drawn = host.request("GET", fragment, tcp=True, Authorization=known).body.decode()
    head, _, tail = shell.partition('<main id="main" tabindex="-1">')
    _, _, tail = tail.partition("</main>")
    (files / "page.html").write_text(f'{head}<main id="main">{drawn}</main>{tail.replace("</body>", MARK + "</body>")}')
    (files / "fragment.html").write_text(drawn)
    log_in(window, host, place)
    paints, answers = [], []
    for _ in range(ROUNDS):
        window.open("about:blank")
        window.open(f"{origin(host)}/#{place}")
        ours = painted(window)
        window.open(f"{origin(host)}/bench/page.html")
        paints.append(ours / painted(window))
        answers.append(fetched(host, fragment, known) / fetched(host, "/bench/fragment.html", known))
    against = f"a static file of the same {len(drawn) // 1_024} KiB"
    return [
        Row(f"page: {name}, first paint", median(paints), "×", against),
        Row(f"page: {name}, the server's answer", median(answers), "×", against),
    ]


def rows() -> list[Row]:
    """All of them; without a browser none is measured."""
    try:
        with browser() as window, busy_host() as (host, files, plan):
            return [
                *measured(window, host, files, f"overview of {SESSIONS:,} sessions", "/"),
                *measured(window, host, files, f"plan of {TASKS:,} tasks", plan),
            ]
    except NoBrowser as reason:
        return [Row("page: first paint", None, "×", str(reason))]
