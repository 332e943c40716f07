"""An origin with images, drawings and addresses that never answer."""

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from attack import bombs

HANG_SECONDS = 60


class Origin:
    """Answers `/<kind>/<anything>` with a document of that kind; `/hang/…` is not answered."""

    def __init__(self, address: str = "127.0.0.1", port: int = 0) -> None:
        self.documents: dict[str, Callable[[str], bytes]] = {}
        self.documents["bomb"] = lambda name: bombs.numbered(int(name.partition(".")[0]))
        self.is_over = threading.Event()
        self.listener = Listener((address, port), handler(self))
        self.authority = f"{address}:{self.listener.server_port}"
        threading.Thread(target=self.listener.serve_forever, daemon=True).start()

    def url(self, path: str) -> str:
        return f"http://{self.authority}/{path}"

    def close(self) -> None:
        self.is_over.set()
        self.listener.shutdown()
        self.listener.server_close()


class Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignored: clients that disconnect."""


def handler(origin: Origin) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # A response is written in two parts, and the second must not wait for the confirmation of the first.
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            kind, _, name = self.path.lstrip("/").partition("/")
            if kind == "hang":
                origin.is_over.wait(HANG_SECONDS)
                self.close_connection = True
                return
            make = origin.documents.get(kind)
            self.answer(200 if make else 404, make(name) if make else b"")

        def answer(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "max-age=3600")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    return Handler
