"""Clients that read large images slowly or not at all."""

import re
import selectors
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import NamedTuple

from attack.judge import Check
from attack.lab import HOSTILE, LOOPBACK, OTHER, Lab, asked, image
from flat_png import random_pixels
from overload.judge import quantile
from processes import PROC, waited_for
from server import TOKEN, Server

VARIANTS, VARIANT_MIB = 8, 16
SOURCE_SIZE = 2304, 2560
CONNECTIONS = 1024
SMALL_CACHE = "--cache-memory-bytes=8MiB"
"""So that large variants come from disk."""
GROWTH_MIB = 512
"""How much the memory of the server may grow: half a MiB for each connection."""
BUDGET_MIB, BUDGET_GROWTH_MIB = 64, 160
"""The budget of unsent bytes, and how much the memory may grow with it: processing takes some, too."""
KEPT_MIB = 96
"""How much of that may be left after the attack."""
HITS, HIT_GROWTH, HIT_SECONDS = 200, 2.0, 0.005
"""How much the median of other clients' hits may grow: by a factor, and what a busy machine adds."""
STORM_SECONDS, MISS_SECONDS, RETURN_SECONDS = 12, 180, 30
SLOW, STEADY = 4 << 10, 16 << 10
"""Bytes per second of a client that is disconnected, and of one that is not."""
READ_SECONDS = 120
RECEIVE_BUFFER = 64 << 10
"""Small, so that the client's system does not read ahead of it."""


class Storm(NamedTuple):
    """Slow clients, what they read, and how much the memory of the server may grow meanwhile."""

    readers: int
    variants: int
    rate: int
    """Bytes per second of each client."""
    growth_mib: int


def slow_readers(lab: Lab) -> Iterator[Check]:
    """1,024 clients that stop reading images of 16 MiB cost at most 0.5 MiB each, and the memory is returned afterwards."""
    yield from stormed(lab, Storm(CONNECTIONS, VARIANTS, 0, GROWTH_MIB), "--write-timeout=5m")


def trickling_readers(lab: Lab) -> Iterator[Check]:
    """1,024 clients that read 4 KiB/s cost no more, and all of them are disconnected within two minutes."""
    yield from stormed(lab, Storm(CONNECTIONS, VARIANTS, SLOW, GROWTH_MIB), until_ended=True)


def many_variants(lab: Lab) -> Iterator[Check]:
    """120 clients that stop reading 24 images of 16 MiB, and 60 that stop reading one, cost at most 0.5 MiB each."""
    yield from stormed(lab, Storm(120, 24, 0, 120 // 2), "--write-timeout=5m")
    yield from stormed(lab, Storm(60, 1, 0, 60 // 2 + VARIANT_MIB), "--write-timeout=5m")


def stormed(lab: Lab, storm: Storm, *settings: str, until_ended: bool = False) -> Iterator[Check]:
    with lab.server(LOOPBACK, SMALL_CACHE, "--log-hits=false", *settings) as server:
        paths = stored_variants(lab, server, storm.variants)
        small = image(lab.origin.url("photo/small.jpg"), "w=40")
        alone = hit_seconds(server, small)
        before = most = rss_mib(server)
        with stalled_readers(server, [paths[number % storm.variants] for number in range(storm.readers)]) as readers:
            with trickle(readers, storm.rate) as ended:
                deadline = time.monotonic() + STORM_SECONDS
                while time.monotonic() < deadline:
                    most = max(most, rss_mib(server))
                    time.sleep(0.1)
                beside = hit_seconds(server, small)
                most = max(most, rss_mib(server))
                text = f"{len(readers)} clients of {storm.variants} images at {storm.rate >> 10} KiB/s: {most} MiB resident, {before} before"
                yield Check(most - before <= storm.growth_mib, f"{text} (at most {storm.growth_mib} more)")
                if until_ended:
                    waited_for(lambda: len(ended) == len(readers), READ_SECONDS - STORM_SECONDS)
                    text = f"disconnected within {READ_SECONDS} s: {len(ended)}"
                    yield Check(len(ended) == len(readers), f"{text} (all {len(readers)})")
        old, new = quantile(alone, 0.5), quantile(beside, 0.5)
        text = f"hits of another client: p50 {new * 1000:.1f} ms, {old * 1000:.1f} ms without the attack"
        yield Check(new <= old * HIT_GROWTH + HIT_SECONDS, f"{text} (at most {HIT_GROWTH:g} times that)")
        returned = waited_for(lambda: rss_mib(server) - before <= KEPT_MIB, RETURN_SECONDS)
        text = f"after the attack: {rss_mib(server)} MiB resident, {before} before"
        yield Check(returned, f"{text} (at most {KEPT_MIB} more within {RETURN_SECONDS} s)")


def slow_misses(lab: Lab) -> Iterator[Check]:
    """With a budget of 64 MiB, eight clients that let new images of 16 MiB wait lose most of them."""
    with lab.server(LOOPBACK, SMALL_CACHE, f"--memory-budget={2 * BUDGET_MIB}MiB", "--write-timeout=5m") as server:
        paths = variants(lab, 0)
        asked(server, image(lab.origin.url("photo/first.jpg"), "w=40"))
        before = most = rss_mib(server)
        with stalled_readers(server, paths) as readers:
            ended = len(readers) - BUDGET_MIB // 2 // VARIANT_MIB
            deadline = time.monotonic() + MISS_SECONDS
            while (seen := cut_off(server)) < ended and time.monotonic() < deadline:
                most = max(most, rss_mib(server))
                time.sleep(0.1)
            most = max(most, rss_mib(server))
        text = f"{len(readers)} clients that let new images wait: {most} MiB resident, {before} before"
        yield Check(most - before <= BUDGET_GROWTH_MIB, f"{text} (at most {BUDGET_GROWTH_MIB} more)")
        yield Check(seen >= ended, f"clients cut off: {seen} (at least {ended})")


def slow_and_steady(lab: Lab) -> Iterator[Check]:
    """A client that reads 4 KiB/s is disconnected within two minutes, and one that reads 16 KiB/s is not."""
    with lab.server(LOOPBACK, SMALL_CACHE) as server, ThreadPoolExecutor() as pool:
        path = stored_variants(lab, server, 1)[0]
        lives = list(pool.map(lambda rate: seconds_connected(server, path, rate), (SLOW, STEADY)))
    for rate, is_kept, seconds in zip((SLOW, STEADY), (False, True), lives):
        seen = f"disconnected after {seconds:.0f} s" if seconds < READ_SECONDS else f"still connected after {READ_SECONDS} s"
        yield Check((seconds >= READ_SECONDS) == is_kept, f"{rate >> 10} KiB/s: {seen} ({'kept' if is_kept else 'disconnected'})")


def variants(lab: Lab, first: int, count: int = VARIANTS) -> list[str]:
    """Paths of large variants."""
    source = random_pixels(SOURCE_SIZE, 7)
    lab.origin.documents["random"] = lambda _: source
    numbers = range(first, first + count)
    return [image(lab.origin.url(f"random/{number}.png"), "output=jpeg&q=100") for number in numbers]


def stored_variants(lab: Lab, server: Server, count: int = VARIANTS) -> list[str]:
    """Paths of large variants that are on disk, were verified, and are not in memory."""
    paths = variants(lab, VARIANTS, count)
    for path in paths:
        answer = asked(server, path)
        if answer.status != 200 or len(answer.body) < VARIANT_MIB << 20:
            raise ValueError(f"{path}: {answer.status} {answer.problem}, {len(answer.body)} bytes")
    for path in paths:
        if not waited_for(lambda: "hit" in asked(server, path).headers.get("cache-status", ""), 30):
            raise ValueError(f"{path} is not cached")
    return paths


@contextmanager
def stalled_readers(server: Server, paths: list[str]) -> Iterator[list[socket.socket]]:
    """Connections of the hostile client, each of which requests a path and reads nothing."""
    readers = [request(server, path) for path in paths]
    try:
        yield readers
    finally:
        for reader in readers:
            reader.close()


def request(server: Server, path: str) -> socket.socket:
    reader = socket.socket()
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
    reader.bind((HOSTILE, 0))
    reader.connect(("127.0.0.1", server.port))
    reader.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return reader


@contextmanager
def trickle(readers: list[socket.socket], rate: int) -> Iterator[set[int]]:
    """Reads this many bytes per second from each connection; yields the numbers of connections that the server has ended."""
    ended: set[int] = set()
    is_over = threading.Event()

    def read() -> None:
        while not is_over.wait(1):
            for number in set(range(len(readers))) - ended:
                with suppress(BlockingIOError):
                    try:
                        if not readers[number].recv(rate, socket.MSG_DONTWAIT):
                            ended.add(number)
                    except ConnectionResetError:
                        ended.add(number)

    thread = threading.Thread(target=read)
    if rate:
        thread.start()
    try:
        yield ended
    finally:
        is_over.set()
        if rate:
            thread.join()


def hit_seconds(server: Server, path: str) -> list[float]:
    return [asked(server, path, source=OTHER).seconds for _ in range(HITS)]


def seconds_connected(server: Server, path: str, rate: int) -> float:
    """How long a client that reads so many bytes per second keeps its connection; at most a fixed time."""
    began, received = time.monotonic(), 0
    with request(server, path) as reader, selectors.DefaultSelector() as selector:
        selector.register(reader, selectors.EVENT_READ)
        while (seconds := time.monotonic() - began) < READ_SECONDS:
            time.sleep(0.1)
            want = int(seconds * rate) - received
            if want <= 0 or not selector.select(0.1):
                continue
            with suppress(ConnectionResetError):
                if data := reader.recv(want):
                    received += len(data)
                    continue
            break
    return time.monotonic() - began


def cut_off(server: Server) -> int:
    """The clients that lost their response because the budget was exceeded."""
    answer = server.ask("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    found = re.search(rb'darkroom_http_slow_readers_total\{reason="budget"\} (\d+)', answer.body)
    return int(found[1]) if found else 0


def rss_mib(server: Server) -> int:
    lines = (PROC / str(server.process.pid) / "status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) // 1024


ATTACKS = [slow_readers, trickling_readers, many_variants, slow_misses, slow_and_steady]
