"""A running server, and requests to it."""

import os
import re
import subprocess
import threading
import time
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent.parent
CORPUS = ROOT.parent / "shared/corpus"
"""Images and URLs of other projects, if present next to the repository."""
TOKEN = "proof-token-0123456789abcdef"
START_SECONDS, END_SECONDS = 60, 40
LISTENS = re.compile(r"http://127\.0\.0\.1:(\d+)")


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes
    seconds: float

    @property
    def problem(self) -> str:
        """The last segment of the problem's type; empty if the response is not a problem document."""
        found = re.search(rb'"type"\s*:\s*"[^"]*?problems\\?/([a-z-]+)"', self.body)
        is_problem = self.headers.get("content-type", "").startswith("application/problem+json")
        return found[1].decode() if is_problem and found else ""


class Server:
    def __init__(self, binary: Path, folder: Path, *settings: str, prefix: tuple[str, ...] = ()) -> None:
        command = [*prefix, str(binary), "serve", "--port=0", f"--cache-dir={folder / 'cache'}", *settings]
        # Settings from the caller's environment must not reach the server.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("DARKROOM_")}
        self.log = folder / "server.log"
        with self.log.open("ab") as errors:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, env=environment | {"DARKROOM_ADMIN_TOKEN": TOKEN}
            )
        self.port = 0

    def wait_until_it_listens(self) -> None:
        watchdog = threading.Timer(START_SECONDS, self.process.kill)
        watchdog.start()
        line = self.process.stdout.readline().decode()
        watchdog.cancel()
        if not (found := LISTENS.search(line)):
            self.kill()
            raise ChildProcessError(f"the server did not start: {self.log_end()}")
        self.port = int(found[1])

    def ask(
        self, path: str, method: str = "GET", headers: dict[str, str] | None = None, body: bytes | None = None,
        *, timeout: float = 60, source: str = "127.0.0.1",
    ) -> Answer:
        """Sends one request on a new connection; raises OSError or HTTPException if no complete response arrives."""
        began = time.monotonic()
        connection = HTTPConnection("127.0.0.1", self.port, timeout=timeout, source_address=(source, 0))
        with closing(connection):
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            fields = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, fields, response.read(), time.monotonic() - began)

    def stop(self) -> int:
        """Sends SIGTERM and returns the exit status."""
        self.process.terminate()
        try:
            return self.process.wait(END_SECONDS)
        finally:
            self.kill()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def log_end(self) -> str:
        return self.log.read_text(errors="replace")[-2000:]


def knows(binary: Path, setting: str) -> bool:
    """Whether the executable has this setting; older versions can be tested too."""
    shown = subprocess.run([str(binary), "serve", "--help"], capture_output=True, text=True)
    return re.search(rf"--{setting}\b", shown.stdout) is not None


def encoded(url: str) -> str:
    return quote(url, safe="")
