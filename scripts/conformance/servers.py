"""The server under test and an origin for it, both on free loopback ports."""

import os
import re
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENT = ROOT / "openapi/openapi.yaml"
FIXTURES = ROOT / "Fixtures/images"
TOKEN = "conformance-token-0123456789"
KEY_ID, SECRET = "k1", "conformance-secret-0123456789abcdef"
START_SECONDS, END_SECONDS = 30, 20
LISTENING = re.compile(r"(http://127\.0\.0\.1:\d+)$")


class RunningServer(NamedTuple):
    """The addresses of a running server and its origin."""

    base: str
    """Base URL of the server."""
    origin: str
    """Base URL of the origin: serves /photo.jpg and /other.jpg, fails for /broken.jpg, 404 otherwise."""
    folder: Path
    """A temporary directory, removed afterwards."""


@contextmanager
def running(executable: Path, **variables: str) -> Iterator[RunningServer]:
    """Runs a server and its origin. The server must shut down cleanly; after any failure its log is printed."""
    with tempfile.TemporaryDirectory(prefix="conformance-") as name, origin() as address:
        folder = Path(name)
        log = folder / "server.log"
        log.touch()
        try:
            with server(executable, folder, log, variables) as base:
                yield RunningServer(base, address, folder)
        except BaseException:
            print(log.read_text(errors="replace")[-4000:])
            raise


@contextmanager
def server(executable: Path, folder: Path, log: Path, variables: dict[str, str]) -> Iterator[str]:
    # Settings from the caller's environment must not reach the server.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("DARKROOM_")}
    with log.open("w") as errors:
        process = subprocess.Popen(
            [str(executable), "serve", *settings(folder)],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=inherited | {"DARKROOM_ADMIN_TOKEN": TOKEN} | variables,
        )
        try:
            yield announced(process)
            process.terminate()
            status = process.wait(END_SECONDS)
            assert status == 0, f"The server exited with status {status}."
        finally:
            process.kill()
            process.wait()


def settings(folder: Path) -> list[str]:
    """Allows only loopback sources, so that no generated URL leaves the machine."""
    return [
        *("--port", "0", "--cache-dir", str(folder / "cache"), "--log-level", "warning", "--uploads", "true"),
        # Long enough for a machine that is busy with other work.
        *("--request-timeout", "2m", "--download-timeout", "2m"),
        *("--local-root", str(FIXTURES), "--allow-networks", "127.0.0.0/8", "--allow-hosts", "127.0.0.1"),
        *("--iiif", "true"),
    ]


def announced(process: subprocess.Popen[str]) -> str:
    """The address in the line that the server prints once it is listening."""
    killer = threading.Timer(START_SECONDS, process.kill)
    killer.start()
    try:
        line = process.stdout.readline() if process.stdout else ""
    finally:
        killer.cancel()
    found = LISTENING.search(line.strip())
    assert found, f"The server did not print its address within {START_SECONDS} s, but: {line!r}"
    return found[1]


class OriginHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    images = {
        "/photo.jpg": FIXTURES / "formats/photo.jpg",
        "/other.jpg": FIXTURES / "orientation/f-6.jpg",
    }

    def do_GET(self) -> None:
        image = self.images.get(self.path)
        status = 200 if image else 500 if self.path == "/broken.jpg" else 404
        body = image.read_bytes() if image else b""
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if image:
            self.send_header("Content-Type", "image/jpeg")
            self.send_header("Cache-Control", "max-age=3600")
            self.send_header("ETag", f'"{image.stem}"')
            self.send_header("Surrogate-Key", image.stem)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def origin() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), OriginHandler) as listener:
        listener.daemon_threads = True
        threading.Thread(target=listener.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listener.server_port}"
        listener.shutdown()
