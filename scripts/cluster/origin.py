"""An origin with images that identify themselves and their version. It records when each version was current."""

import bisect
import socket
import threading
import time
from contextlib import suppress
from typing import NamedTuple

from chaos.images import VERSIONS, Code, image

HOSTS, GROUPS, TAGS = 4, 5, 7
HEAD_BYTES = 65_536
PATIENCE_SECONDS = 60


class Freshness(NamedTuple):
    """How long a version may be served after it was current, and how often the origin has another."""

    max_age: int
    stale_while_revalidate: int
    changes_each: float
    """Seconds; 0 if only an edit makes a version."""

    @property
    def field(self) -> str:
        stale = f", stale-while-revalidate={self.stale_while_revalidate}" if self.stale_while_revalidate else ""
        return f"max-age={self.max_age}{stale}"


FRESHNESS = [Freshness(3_600, 0, 0), Freshness(5, 0, 7), Freshness(4, 3, 11)]


class Download(NamedTuple):
    at: float
    source: int
    version: int
    is_full: bool
    """Not an answer without the image, 304."""


class Origin:
    """Answers `/GROUP/SOURCE.png` on several addresses, which are the hosts."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.edits: dict[int, list[float]] = {}
        self.downloads: list[Download] = []
        self.lock = threading.Lock()
        self.delay_seconds = 0.0
        self.listener = socket.create_server(("0.0.0.0", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    # Sources and versions.

    @staticmethod
    def freshness(source: int) -> Freshness:
        return FRESHNESS[source % len(FRESHNESS)]

    def host(self, source: int) -> str:
        return f"127.0.3.{source // len(FRESHNESS) % HOSTS + 1}:{self.port}"

    @staticmethod
    def tag(source: int) -> str:
        return f"tag{source % TAGS}"

    def folder(self, source: int) -> str:
        return f"http://{self.host(source)}/group{source % GROUPS}/"

    def url(self, source: int) -> str:
        return f"{self.folder(source)}{source}.png"

    def edit(self, sources: list[int]) -> None:
        """Each of them has a new version now, unless its versions follow the clock."""
        with self.lock:
            for source in sources:
                if not self.freshness(source).changes_each:
                    self.edits.setdefault(source, []).append(time.monotonic())

    def version(self, source: int, when: float) -> int:
        if changes_each := self.freshness(source).changes_each:
            return int(max(0.0, when - self.began) / changes_each)
        with self.lock:
            return bisect.bisect_right(self.edits.get(source, []), when)

    def ended(self, source: int, version: int) -> float:
        """When a version stopped being current; in the future, or never, for the current one."""
        if changes_each := self.freshness(source).changes_each:
            return self.began + (version + 1) * changes_each
        with self.lock:
            edits = self.edits.get(source, [])
            return edits[version] if version < len(edits) else float("inf")

    # Counting.

    def full_downloads(self, since: float = 0) -> list[Download]:
        with self.lock:
            return [one for one in self.downloads if one.is_full and one.at >= since]

    def requests(self, since: float = 0) -> int:
        with self.lock:
            return sum(one.at >= since for one in self.downloads)

    # Serving.

    def accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def close(self) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def serve(self, connection: socket.socket) -> None:
        connection.settimeout(PATIENCE_SECONDS)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection, suppress(OSError, ValueError):
            received = b""
            while True:
                while b"\r\n\r\n" not in received and len(received) < HEAD_BYTES:
                    if not (more := connection.recv(4_096)):
                        return
                    received += more
                head, _, received = received.partition(b"\r\n\r\n")
                connection.sendall(self.answer(head.decode("latin-1")))

    def answer(self, head: str) -> bytes:
        lines = head.split("\r\n")
        source = int(lines[0].split()[1].rpartition("/")[2].removesuffix(".png"))
        fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
        # The version is taken at the moment when the request arrives: what the purge proof relies on.
        now = time.monotonic()
        version, freshness = self.version(source, now), self.freshness(source)
        if self.delay_seconds:
            time.sleep(self.delay_seconds)
        tag = f'"{source}-{version}"'
        is_full = fields.get("if-none-match") != tag
        with self.lock:
            self.downloads.append(Download(now, source, version, is_full))
        body = image(Code(source, version)) if is_full else b""
        length = f"Content-Length: {len(body)}\r\nContent-Type: image/png\r\n" if is_full else ""
        return (
            f"HTTP/1.1 {'200 OK' if is_full else '304 Not Modified'}\r\n{length}ETag: {tag}\r\n"
            f"Cache-Tag: {self.tag(source)}\r\nCache-Control: {freshness.field}\r\n\r\n"
        ).encode() + body


def full_version(low_bits: int, at_most: int) -> int:
    """The version that a color names: colors have the low bits only."""
    return low_bits + (at_most - low_bits) // VERSIONS * VERSIONS
