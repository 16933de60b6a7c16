"""A real Chromium, driven over WebDriver by plain HTTP: no library between a test and the browser.

Chromium and its driver come from the machine (`chromium` and `chromium-driver` in Debian's names). Where they
are not, the tests that want them are left out with the reason.
"""

from __future__ import annotations

import base64
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

LOGS = {"performance": "ALL", "browser": "ALL"}
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
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": LOGS}
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
        wait_until(lambda: all(part in self.text() for part in parts), f"the page to show {parts}", 20)

    def has(self, selector: str, many: int = 1) -> None:
        """Waits until at least so many elements are there."""
        script = "return document.querySelectorAll(arguments[0]).length"
        wait_until(lambda: self.run(script, selector) >= many, f"{many} × {selector}", 20)

    def lacks(self, selector: str) -> None:
        """Waits until no such element is there."""
        wait_until(lambda: not self.run("return document.querySelector(arguments[0])", selector), f"no {selector}", 20)

    def click(self, selector: str) -> None:
        """Clicks as a person does: it must be there, visible, and not covered."""
        self._send("POST", f"{self._session}/element/{self._found(selector)}/click", {})

    def write(self, selector: str, text: str) -> None:
        """Types into a field."""
        self._send("POST", f"{self._session}/element/{self._found(selector)}/value", {"text": text})

    def press(self, *keys: str) -> None:
        """Presses keys one after another, wherever the focus is."""
        downs = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._send("POST", f"{self._session}/actions", {"actions": [{"type": "key", "id": "k", "actions": downs}]})

    def _found(self, selector: str) -> str:
        wanted = {"using": "css selector", "value": selector}
        return str(self._send("POST", f"{self._session}/element", wanted)[ELEMENT])

    def devtools(self, command: str, **parameters: Any) -> Any:
        """A command of the browser's own debugging protocol."""
        body = {"cmd": command, "params": parameters}
        return self._send("POST", f"{self._session}/goog/cdp/execute", body)

    def size(self, width: int, height: int, scale: int = 1) -> None:
        """A screen of this size, in CSS pixels; 0 × 0 is the window's own again."""
        size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False}
        self.devtools("Emulation.setDeviceMetricsOverride", **size)

    def prefers(self, **features: str) -> None:
        """What the person's system asks for, such as `prefers_color_scheme="dark"`."""
        named = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.devtools("Emulation.setEmulatedMedia", features=named)

    def picture(self) -> bytes:
        """What is on the screen, as PNG."""
        return base64.b64decode(self._send("GET", f"{self._session}/screenshot"))

    def second(self) -> str:
        """Opens another window, goes there, and gives its name for `turn_to`."""
        made: str = self._send("POST", f"{self._session}/window/new", {"type": "window"})["handle"]
        self.turn_to(made)
        return made

    def turn_to(self, handle: str) -> None:
        """Goes on in another window."""
        self._send("POST", f"{self._session}/window", {"handle": handle})

    def handle(self) -> str:
        """The name of the window in which things happen."""
        return str(self._send("GET", f"{self._session}/window"))

    def alone(self) -> None:
        """Closes every window but one, and forgets what it showed."""
        first, *others = self._send("GET", f"{self._session}/window/handles")
        for other in others:
            self.turn_to(other)
            self._send("DELETE", f"{self._session}/window")
        self.turn_to(first)
        self.prefers()
        self.size(0, 0)
        self.open("about:blank")

    def requested(self) -> list[str]:
        """Every network address that was asked for so far; not the browser's own pages."""
        entries = self._send("POST", f"{self._session}/se/log", {"type": "performance"})
        events = [json.loads(entry["message"])["message"] for entry in entries]
        sent = [event["params"] for event in events if event["method"] == "Network.requestWillBeSent"]
        addresses = [str(params["request"]["url"]) for params in sent]
        return [address for address in addresses if address.startswith(("http", "ws"))]

    def faults(self) -> list[str]:
        """What the page's script or the browser's policy complained about since this was last asked."""
        entries = self._send("POST", f"{self._session}/se/log", {"type": "browser"})
        words = ("Uncaught", "Content Security Policy", "TrustedHTML")
        return [entry["message"] for entry in entries if any(word in entry["message"] for word in words)]

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
