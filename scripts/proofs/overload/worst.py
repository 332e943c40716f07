"""Thumbnails beside the longest valid requests."""

import argparse
import asyncio
import itertools
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from costs.dialects import darkroom
from costs.sources import made
from overload.client import Answer, Client
from overload.judge import quantile
from server import Server

WORST = (
    ("small.avif", "w=2500&enlarge=true&flop=true&output=avif"),
    ("small.png", "w=1600&enlarge=true&max_bytes=5000&output=avif"),
    ("large.jpg", "w=2500&enlarge=true&text=Hello&textsize=40&output=avif"),
    ("small.png", "w=2500&enlarge=true&resample=accurate&output=avif"),
    ("large.png", "filt=sepia&output=avif"),
    ("small.tiff", "w=2500&enlarge=true&output=avif"),
    ("large.tiff", "w=1600&sharp=1&max_bytes=5000&output=avif"),
    ("large.gif", "w=5000&enlarge=true&output=png"),
    ("small.jxl", "w=7000&enlarge=true&flop=true&mod=0.7&gam=3&output=jpg"),
    ("large-alpha.png", "w=4000&enlarge=true&ro=45&output=jpg"),
)
"""Ten of the longest valid requests, most of them like requests that `costs` found. Each takes seconds."""
GREEDY = [f"127.0.1.{number}" for number in range(1, len(WORST) + 1)]
"""An address for each of them, so that fair shares alone do not hold them back."""
OTHERS = [f"127.0.2.{number}" for number in range(1, 5)]
PAUSE_SECONDS, WARM_SECONDS = 0.2, 2
MOST_SECONDS = 1.0
"""The bound on the 99th percentile of thumbnails."""


def run(arguments: argparse.Namespace) -> int:
    if not sees():
        print("overload: a broken promise in made-up results was not detected", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="darkroom-overload-") as name:
        folder = Path(name)
        (images := folder / "images").mkdir()
        made(arguments.server, images)
        settings = ("--cache-disk-bytes=0", "--cache-decoded-bytes=0", "--request-timeout=60s", *arguments.settings.split())
        server = Server(arguments.server, folder, f"--local-root={images}", *settings)
        try:
            server.wait_until_it_listens()
            alone, beside, worst = asyncio.run(measured(server, arguments.seconds))
        finally:
            server.stop()
    print(f"overload: thumbnails alone: p50 {milliseconds(alone, 0.5)}, p99 {milliseconds(alone, 0.99)}")
    kept = True
    for holds, text in verdicts(beside, worst):
        kept = kept and holds
        print(f"overload: {'kept  ' if holds else 'BROKEN'} {text}", file=sys.stdout if holds else sys.stderr)
    return 0 if kept else 1


def verdicts(thumbnails: list[Answer], worst: list[Answer]) -> Iterator[tuple[bool, str]]:
    seen = [answer.seconds for answer in thumbnails]
    yield (
        quantile(seen, 0.99) <= MOST_SECONDS,
        f"{len(seen)} thumbnails beside {len(WORST)} of the worst requests: p50 {milliseconds(thumbnails, 0.5)}, p99 "
        f"{milliseconds(thumbnails, 0.99)} (at most {MOST_SECONDS * 1000:.0f} ms)",
    )
    refused = [answer.status for answer in thumbnails if answer.status != 200]
    yield not refused, f"{len(refused)} of them were refused {sorted(set(refused))} (none)"
    served = [answer.seconds for answer in worst if answer.status == 200]
    yield (
        bool(served) and max(served) > MOST_SECONDS,
        f"{len(served)} of the {len(worst)} worst requests were answered with 200, the latest after "
        f"{max(served, default=0):.1f} s (more than {MOST_SECONDS:g} s, or they are not the worst)",
    )


def milliseconds(answers: list[Answer], share: float) -> str:
    return f"{quantile([answer.seconds for answer in answers], share) * 1000:.0f} ms"


async def measured(server: Server, duration: float) -> tuple[list[Answer], list[Answer], list[Answer]]:
    """The responses for thumbnails without the worst requests and beside them, and the responses to these."""
    numbers = itertools.count()
    # The first images start workers.
    await thumbnails(server, WARM_SECONDS, numbers)
    alone = await thumbnails(server, duration, numbers)
    end = asyncio.get_running_loop().time() + duration + WARM_SECONDS
    clients = [Client(server.port, address) for address in GREEDY]
    load = [asyncio.create_task(client.repeat(again(*kind), end)) for client, kind in zip(clients, WORST)]
    await asyncio.sleep(WARM_SECONDS)
    beside = await thumbnails(server, duration, numbers)
    await asyncio.gather(*load)
    for client in clients:
        client.close()
    return alone, beside, [answer for client in clients for answer in client.answers]


def again(source: str, query: str) -> Iterator[str]:
    """The paths of equal work that no cache has: each version is a variant of its own."""
    path = darkroom(source, dict(pair.split("=") for pair in query.split("&"))).path
    return (f"{path}&v={number}" for number in itertools.count())


async def thumbnails(server: Server, duration: float, numbers: "itertools.count[int]") -> list[Answer]:
    clients = [Client(server.port, address) for address in OTHERS]
    paths = (darkroom("small.jpg", {"w": "40", "sharp": f"{1 + number / 10000:.4f}"}).path for number in numbers)
    end = asyncio.get_running_loop().time() + duration
    await asyncio.gather(*(client.repeat(paths, end, pause=PAUSE_SECONDS) for client in clients))
    for client in clients:
        client.close()
    return [answer for client in clients for answer in client.answers]


def sees() -> bool:
    """Whether each broken promise is detected in made-up results, and none in correct ones."""
    quick, slow, refused = Answer(200, b"", 0.1, 0), Answer(200, b"", 3, 0), Answer(503, b"", 0.1, 0)
    broken = [([slow], [slow]), ([quick, refused], [slow]), ([quick], [quick])]
    found = [[holds for holds, _ in verdicts(*results)] for results in broken]
    return all(holds for holds, _ in verdicts([quick], [slow])) and all(
        [at for at, holds in enumerate(held) if not holds] == [number] for number, held in enumerate(found))
