"""An origin of files, and of our results of them, for the browser and for the server."""

import mimetypes
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PAGE = Path(__file__).resolve().parent / "show.html"
SVG = "image/svg+xml"
TYPES = {".avif": "image/avif", ".heic": "image/heic", ".jxl": "image/jxl", ".webp": "image/webp"}


class Origin(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.bodies: dict[str, tuple[str, bytes]] = {"/": ("text/html", PAGE.read_bytes())}
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that disconnects is no event."""


class Handler(BaseHTTPRequestHandler):
    server: Origin

    def do_GET(self) -> None:
        kind, body = self.server.bodies.get(self.path, ("", b""))
        self.send_response(200 if kind else 404)
        self.send_header("Content-Type", kind or "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        with suppress(OSError):
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


def media_type(path: Path, body: bytes) -> str:
    """The media type of the file's name, since servers send that. Browsers draw an SVG by it only, and detect the rest."""
    known = TYPES.get(path.suffix.lower()) or mimetypes.guess_type(path.name)[0]
    return known or (SVG if b"<svg" in body[:4096] else "application/octet-stream")
