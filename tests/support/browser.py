"""A real Chromium, driven over WebDriver by plain HTTP: no library between a test and the browser.

Chromium and its driver come from the machine (`chromium` and `chromium-driver` in Debian's names). Where they
are not, the tests that want them are left out with the reason.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.processes import running, wait_until

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
)


class NoBrowser(Exception):
    """There is no Chromium here; the message is the reason, for people."""


class Browser:
    """One window."""

    def __init__(self, port: int, folder: Path, chromium: str) -> None:
        self._port = port
        options = {"binary": chromium, "args": [*OPTIONS, f"--user-data-dir={folder}", "--window-size=1000,900"]}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"performance": "ALL"}}
        answer = self._send("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._session = f"/session/{answer['sessionId']}"

    def _send(self, verb: str, path: str, body: Any = None) -> Any:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)) as connection:
            connection.request(verb, path, None if body is None else json.dumps(body))
            value = json.loads(connection.getresponse().read())["value"]
        assert not (isinstance(value, dict) and "error" in value), value
        return value

    def open(self, address: str) -> None:
        """Goes to an address."""
        self._send("POST", f"{self._session}/url", {"url": address})

    def run(self, script: str, *arguments: Any) -> Any:
        """The value of a script's `return`."""
        return self._send("POST", f"{self._session}/execute/sync", {"script": script, "args": list(arguments)})

    def text(self) -> str:
        """What a person reads on the page."""
        return str(self.run("return document.body.innerText"))

    def shows(self, *parts: str) -> None:
        """Waits until all of these can be read."""
        wait_until(lambda: all(part in self.text() for part in parts), f"the page to show {parts}: {self.text()}", 15)

    def click(self, selector: str) -> None:
        """Clicks as a person does: it must be there, visible, and not covered."""
        found = self._send("POST", f"{self._session}/element", {"using": "css selector", "value": selector})
        self._send("POST", f"{self._session}/element/{found[ELEMENT]}/click", {})

    def write(self, selector: str, text: str) -> None:
        """Types into a field."""
        found = self._send("POST", f"{self._session}/element", {"using": "css selector", "value": selector})
        self._send("POST", f"{self._session}/element/{found[ELEMENT]}/value", {"text": text})

    def requested(self) -> list[str]:
        """Every network address that was asked for so far; not the browser's own pages."""
        entries = self._send("POST", f"{self._session}/se/log", {"type": "performance"})
        events = [json.loads(entry["message"])["message"] for entry in entries]
        sent = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
        addresses = [str(params["request"]["url"]) for params in sent]
        return [address for address in addresses if address.startswith(("http", "ws"))]

    def close(self) -> None:
        """Closes the window and its browser."""
        self._send("DELETE", self._session)


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """A browser with an empty profile. Raises `NoBrowser`."""
    driver, chromium = shutil.which("chromedriver"), shutil.which("chromium")
    if driver is None or chromium is None:
        raise NoBrowser("Chromium and its driver are not installed (chromium, chromium-driver)")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    with tempfile.TemporaryDirectory() as folder, running([driver, f"--port={port}"]) as process:

        def ready() -> bool:
            assert process.running(), process.output()
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return True
            return False

        wait_until(ready, "the driver to listen", 30)
        window = Browser(port, Path(folder), chromium)
        try:
            yield window
        finally:
            window.close()
