"""One client that uses up a budget of all clients."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from attack.judge import DELAY_SECONDS, Check
from attack.lab import HOSTILE, LOOPBACK, OTHER, Lab, asked, image
from flat_png import drawn
from server import Answer, Server

STALLED_UPLOADS, STALLED_BYTES = 4, 17 << 20
HANGING_URLS = 6
BUDGET = "--memory-budget=512MiB"
"""Uploads have an eighth of it, which is less than the stalled ones together."""
SETTLE_SECONDS = 2


def stalled_uploads(lab: Lab) -> Iterator[Check]:
    """Four uploads of 17 MB that stall before their last byte delay another client's small upload by less than 1 s."""
    body = drawn((20, 10), b"\x20\x40\x80", bytes(200))
    with lab.server(BUDGET, "--uploads=true") as server:
        alone = upload(server, body)
        with stalled(server):
            beside = upload(server, body)
    yield delayed(f"POST /image?w=10 of {len(body)} bytes beside {STALLED_UPLOADS} stalled uploads", alone, beside)


def upload(server: Server, body: bytes) -> Answer:
    return asked(server, "/image?w=10", "POST", body=body, headers={"Content-Type": "image/png"}, source=OTHER)


@contextmanager
def stalled(server: Server) -> Iterator[None]:
    """Uploads of the hostile client, complete except for their last byte as far as the server reads them."""
    connect = lambda: socket.create_connection(("127.0.0.1", server.port), source_address=(HOSTILE, 0))
    connections = [connect() for _ in range(STALLED_UPLOADS)]
    fields = f"Host: localhost\r\nContent-Type: image/png\r\nContent-Length: {STALLED_BYTES}"
    head = f"POST /image?w=10 HTTP/1.1\r\n{fields}\r\n\r\n"
    body = drawn((20, 10), b"\x20\x40\x80") + bytes(STALLED_BYTES)

    def send(connection: socket.socket) -> None:
        with suppress(OSError):
            connection.sendall(head.encode() + body[: STALLED_BYTES - 1])

    try:
        for connection in connections:
            threading.Thread(target=send, args=(connection,), daemon=True).start()
        time.sleep(SETTLE_SECONDS)
        yield
    finally:
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()


def hanging_urls(lab: Lab) -> Iterator[Check]:
    """Six URLs of a host that never answer delay another client's image of that host by less than 1 s."""
    with lab.server(LOOPBACK) as server:
        alone = asked(server, image(lab.origin.url("photo/alone.jpg"), "w=40"), source=OTHER)
        for number in range(HANGING_URLS):
            path = image(lab.origin.url(f"hang/{number}"), "w=40")
            threading.Thread(target=asked, args=(server, path), kwargs={"source": HOSTILE}, daemon=True).start()
        time.sleep(SETTLE_SECONDS)
        beside = asked(server, image(lab.origin.url("photo/beside.jpg"), "w=40"), source=OTHER)
    yield delayed(f"GET /image of a photograph beside {HANGING_URLS} hanging URLs of its host", alone, beside)


def delayed(what: str, alone: Answer, beside: Answer) -> Check:
    holds = alone.status == beside.status == 200 and beside.seconds - alone.seconds < DELAY_SECONDS
    seen = f"{beside.status} {beside.problem} after {beside.seconds:.2f} s, {alone.seconds:.2f} s without"
    return Check(holds, f"{what}: {seen} (200, at most {DELAY_SECONDS} s longer)")


ATTACKS = [stalled_uploads, hanging_urls]
