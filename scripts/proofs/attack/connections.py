"""Thousands of clients at the same time."""

import resource
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

from attack.judge import Check
from attack.lab import LOOPBACK, Lab, asked, image
from attack.readers import rss_mib
from processes import waited_for
from server import Server

CONNECTIONS, CLIENTS = 5_000, 20
"""The connections, and the addresses that they come from: each may have 1,024."""
DESCRIPTORS = 2 * CONNECTIONS
GROWTH_MIB = 192
"""How much the memory of the server may grow: about twice what 5,000 connections take."""
KEPT_MIB = 32
"""How much of that may be left 30 s after the last client has left."""
RETURN_SECONDS = 30


def connection_storm(lab: Lab) -> Iterator[Check]:
    """5,000 clients that request an image at the same time cost at most 192 MiB, and the memory is returned afterwards."""
    allow_descriptors()
    with lab.server(LOOPBACK, "--log-hits=false") as server:
        path = image(lab.origin.url("photo/small.jpg"), "w=40")
        asked(server, path)
        before = rss_mib(server)
        with clients(server, path) as held:
            answered = sum(head.startswith(b"HTTP/1.1 200 ") for head in map(answer, held))
            most = rss_mib(server)
        yield Check(answered == CONNECTIONS, f"answers to {CONNECTIONS:,} clients: {answered:,} (all)")
        text = f"{CONNECTIONS:,} connections: {most} MiB resident, {before} before"
        yield Check(most - before <= GROWTH_MIB, f"{text} (at most {GROWTH_MIB} more)")
        began = time.monotonic()
        returned = waited_for(lambda: rss_mib(server) - before <= KEPT_MIB, RETURN_SECONDS)
        text = f"{time.monotonic() - began:.0f} s after the attack: {rss_mib(server)} MiB resident, {before} before"
        yield Check(returned, f"{text} (at most {KEPT_MIB} more within {RETURN_SECONDS} s)")


def allow_descriptors() -> None:
    """For this process and the server that it starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < DESCRIPTORS:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(DESCRIPTORS, hard), hard))


@contextmanager
def clients(server: Server, path: str) -> Iterator[list[socket.socket]]:
    """Connections that are all open when each of them requests a path."""
    held: list[socket.socket] = []
    try:
        for number in range(CONNECTIONS):
            source = f"127.0.1.{1 + number % CLIENTS}"
            held.append(socket.create_connection(("127.0.0.1", server.port), 10, (source, 0)))
        for one in held:
            one.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        yield held
    finally:
        for one in held:
            one.close()


def answer(client: socket.socket) -> bytes:
    try:
        return client.recv(4_096)
    except OSError:
        return b""


ATTACKS = [connection_storm]
