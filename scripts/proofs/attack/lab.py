"""Shared parts of the attacks: servers, an origin, source images, clients, and the processor time of a request."""

import itertools
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from http.client import HTTPException
from pathlib import Path

from attack.judge import Cost
from attack.origin import Origin
from processes import children, cpu_seconds
from server import ROOT, Answer, Server, encoded

HOSTILE, OTHER = "127.0.0.2", "127.0.0.3"
"""The addresses of the client that attacks and of another one, which are told apart by address."""
LOOPBACK = "--allow-networks=127.0.0.0/8"
SAMPLE = ROOT / "Fixtures/images/sample.jpg"
IDLE_SECONDS, MAX_BUSY_SECONDS = 0.5, 90


class Lab:
    """A folder for one theme, and everything that its attacks start."""

    def __init__(self, binary: Path, folder: Path, settings: list[str]) -> None:
        self.binary, self.folder, self.settings = binary, folder, settings
        self.folders = itertools.count()

    @cached_property
    def origin(self) -> Origin:
        """The origin on 127.0.0.1, with small photographs at `/photo/…`."""
        origin = Origin()
        origin.documents["photo"] = lambda _: self.photograph(400, 300)
        return origin

    def photograph(self, width: int, height: int) -> bytes:
        """The sample photograph as a JPEG of this size."""
        file = self.folder / f"{width}x{height}.jpg"
        if not file.exists():
            size = ["--w", str(width), "--h", str(height), "--fit", "fill", "--enlarge"]
            subprocess.run([self.binary, "transform", SAMPLE, file, *size], check=True, capture_output=True)
        return file.read_bytes()

    def new_folder(self) -> Path:
        folder = self.folder / f"server{next(self.folders)}"
        folder.mkdir()
        return folder

    @contextmanager
    def server(self, *settings: str, folder: Path | None = None, prefix: tuple[str, ...] = ()) -> Iterator[Server]:
        """A server with a cache folder of its own unless one is named. It must still run afterwards."""
        folder = folder or self.new_folder()
        server = Server(self.binary, folder, "--log-level=warning", *settings, *self.settings, prefix=prefix)
        server.wait_until_it_listens()
        try:
            yield server
            if server.process.poll() is not None:
                status = server.process.poll()
                raise ChildProcessError(f"the server ended with status {status}: {server.log_end()[-600:]}")
        finally:
            server.stop() if server.process.poll() is None else server.kill()

    def close(self) -> None:
        if "origin" in self.__dict__:
            self.origin.close()


def image(url: str, query: str) -> str:
    return f"/image?url={encoded(url)}&{query}"


def cost(
    server: Server, path: str, method: str = "GET", body: bytes | None = None, kind: str = "image/svg+xml",
) -> Cost:
    """Sends one request and waits until all workers are idle, since work may go on after the response."""
    before = worker_seconds(server)
    answer = asked(server, path, method, body=body, headers={"Content-Type": kind} if body else None)
    return Cost(answer, wait_until_idle(server) - before)


def asked(server: Server, path: str, method: str = "GET", **options: object) -> Answer:
    """The response, with status 0 if there is none."""
    began = time.monotonic()
    try:
        return server.ask(path, method, **options)
    except (OSError, HTTPException) as error:
        return Answer(0, {}, repr(error).encode(), time.monotonic() - began)


def worker_seconds(server: Server) -> float:
    return cpu_seconds(server.process.pid)[1]


def wait_until_idle(server: Server) -> float:
    """The processor time of all workers once they use none, and none waits for a processor."""
    used, deadline = worker_seconds(server), time.monotonic() + MAX_BUSY_SECONDS
    while time.monotonic() < deadline:
        time.sleep(IDLE_SECONDS)
        before, used = used, worker_seconds(server)
        is_waiting = any(process.state in "RD" for process in children(server.process.pid))
        # It falls for a moment when a worker has ended since its parent was read.
        if 0 <= used - before < IDLE_SECONDS / 10 and not is_waiting:
            break
    return used
