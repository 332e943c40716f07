"""Headless Chromium, driven over a pipe in the DevTools protocol."""

import itertools
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from typing import Any

FLAGS = [
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--force-color-profile=srgb", "--no-first-run",
    "--disable-extensions", "--disable-background-networking", "--remote-debugging-pipe",
]  # fmt: skip
START_SECONDS = 60
SCRIPTS_PER_PAGE = 100
"""A page keeps decoded images; a new one frees them."""


class ChromiumError(Exception):
    """The browser, or its page, did not answer in time or has ended."""


class Chromium:
    def __init__(self, page: str, flags: tuple[str, ...] = ()) -> None:
        """Starts the browser with these flags in addition to `FLAGS`; its pages show the URL `page`."""
        self.page, self.flags = page, flags
        self.profile = tempfile.mkdtemp(prefix="darkroom-browser-")
        self.numbers = itertools.count(1)
        self.session, self.target, self.evaluated = "", "", 0
        self.unread = b""
        self._start()

    def evaluate(self, expression: str, seconds: float) -> Any:
        """The value of a script, or of its promise. After an error, the next script gets a new page or browser."""
        options = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        try:
            if self.evaluated % SCRIPTS_PER_PAGE == 0:
                self._open_page()
            self.evaluated += 1
            answer = self._ask("Runtime.evaluate", options, seconds, self.session)
        except ChromiumError:
            self._restart()
            raise
        if "exceptionDetails" in answer:
            error = answer["exceptionDetails"].get("exception", {}).get("description", "the script failed")
            raise ChromiumError(error.partition("\n")[0])
        return answer["result"].get("value")

    @property
    def version(self) -> str:
        return self._ask("Browser.getVersion", {}, START_SECONDS)["product"]

    def stop(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.sends)
        os.close(self.receives)
        shutil.rmtree(self.profile, ignore_errors=True)

    def _start(self) -> None:
        executable = shutil.which("chromium") or shutil.which("google-chrome")
        if not executable:
            raise ChromiumError("no Chromium found; scripts/setup-browser.sh installs it")
        reads, self.sends = os.pipe()
        self.receives, writes = os.pipe()
        # Chromium reads commands from descriptor 3 and writes to 4.
        script = f'exec "$@" 3<&{reads} 4>&{writes}'
        self.process = subprocess.Popen(
            ["sh", "-c", script, "sh", executable, *FLAGS, *self.flags, f"--user-data-dir={self.profile}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            pass_fds=(reads, writes), start_new_session=True,
        )  # fmt: skip
        os.close(reads)
        os.close(writes)
        self.unread, self.target, self.evaluated = b"", "", 0

    def _restart(self) -> None:
        self.stop()
        self.profile = tempfile.mkdtemp(prefix="darkroom-browser-")
        self._start()

    def _open_page(self) -> None:
        if self.target:
            self._ask("Target.closeTarget", {"targetId": self.target}, START_SECONDS)
        self.target = self._ask("Target.createTarget", {"url": "about:blank"}, START_SECONDS)["targetId"]
        attached = self._ask("Target.attachToTarget", {"targetId": self.target, "flatten": True}, START_SECONDS)
        self.session = attached["sessionId"]
        self._ask("Page.enable", {}, START_SECONDS, self.session)
        self._ask("Page.navigate", {"url": self.page}, START_SECONDS, self.session)
        self._wait_for(lambda message: message.get("method") == "Page.loadEventFired", START_SECONDS)

    def _ask(self, method: str, options: dict[str, Any], seconds: float, session: str = "") -> dict[str, Any]:
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": options} | ({"sessionId": session} if session else {})
        try:
            os.write(self.sends, json.dumps(message).encode() + b"\0")
        except BrokenPipeError:
            raise ChromiumError("the browser has ended") from None
        answer = self._wait_for(lambda message: message.get("id") == number, seconds)
        if "error" in answer:
            raise ChromiumError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _wait_for(self, is_expected: Any, seconds: float) -> dict[str, Any]:
        deadline = time.monotonic() + seconds
        while True:
            message = self._next(deadline)
            if message.get("method") == "Inspector.targetCrashed":
                raise ChromiumError("the page crashed")
            if is_expected(message):
                return message

    def _next(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self.unread:
            ready, _, _ = select.select([self.receives], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise ChromiumError("no answer in time")
            if not (data := os.read(self.receives, 1 << 20)):
                raise ChromiumError("the browser has ended")
            self.unread += data
        text, _, self.unread = self.unread.partition(b"\0")
        return json.loads(text)
