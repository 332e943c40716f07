"""The servers in the namespace: the public origin on its addresses, canaries on all others."""

import base64
import socket
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

from ssrf.names import DROPS

PORTS = [80, 443, 22, 25, 2375, 3000, 3306, 5432, 6379, 8000, 8080, 9200, 11211]
TLS_PORT = 443
IMAGE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP4z8AARAwQCgAf7gP9i18U1AAAAABJRU5ErkJggg=="
)
REDIRECT = "/redirect"


def redirect(status: int, location: str, hops: int = 1) -> str:
    """The path at which the public origin redirects to itself `hops - 1` times and then to the location."""
    return f"{REDIRECT}/{status}/{hops}/{base64.urlsafe_b64encode(location.encode()).decode()}"


class Listeners:
    """One socket per port, for all addresses of both families."""

    def __init__(self, folder: Path) -> None:
        self.svgs: dict[str, bytes] = {}
        self.canary_requests = 0
        for port in PORTS:
            listener = Listener(port, self, tls(folder) if port == TLS_PORT else None)
            threading.Thread(target=listener.serve_forever, daemon=True).start()


class Listener(ThreadingHTTPServer):
    address_family = socket.AF_INET6
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, all_listeners: Listeners, context: ssl.SSLContext | None) -> None:
        self.all, self.context = all_listeners, context
        super().__init__(("::", port), Handler)

    def server_bind(self) -> None:
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        super().server_bind()

    def finish_request(self, request: socket.socket, client_address: tuple) -> None:
        """Runs in the connection's thread, where a handshake may block."""
        if plain(request) == DROPS:
            return
        secured = self.context.wrap_socket(request, server_side=True) if self.context else request
        super().finish_request(secured, client_address)

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignored: clients without TLS, and clients that disconnect."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Listener
    public: set[str] = set()

    def do_GET(self) -> None:
        if plain(self.connection) not in self.public:
            self.server.all.canary_requests += 1
            self.image(IMAGE)
        elif self.path.startswith(REDIRECT):
            self.redirect(*self.path.split("/")[2:])
        elif self.path == "/broken":
            self.answer(500, b"")
        else:
            self.image(self.server.all.svgs.get(self.path, IMAGE))

    def redirect(self, status: str, hops: str, location: str) -> None:
        next_hop = f"{REDIRECT}/{status}/{int(hops) - 1}/{location}".encode()
        self.answer(int(status), b"", next_hop if int(hops) > 1 else base64.urlsafe_b64decode(location))

    def image(self, body: bytes) -> None:
        self.answer(200, body)

    def answer(self, status: int, body: bytes, location: bytes | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        # Every request must begin with a packet that the watch can see.
        self.send_header("Connection", "close")
        if location is not None:
            self._headers_buffer.append(b"Location: " + location + b"\r\n")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


def plain(connection: socket.socket) -> str:
    """The destination address of a connection; IPv4-mapped addresses as IPv4."""
    address = ip_address(connection.getsockname()[0])
    return str(getattr(address, "ipv4_mapped", None) or address)


def tls(folder: Path) -> ssl.SSLContext:
    """A TLS context with a self-signed certificate, which the server is configured to accept."""
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        + ["-subj", "/CN=public.test", "-days", "2", "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context
