"""Two hostile clients beside others: one sends drawings that never end, one host names whose lookups are never answered."""

import argparse
import asyncio
import itertools
import multiprocessing
import os
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from attack.judge import unchanged
from attack.lab import Lab, image
from attack.names import GOOD, PUBLIC, resolver, silent_images
from attack.origin import Origin
from overload.client import Answer, Client
from server import Server
from ssrf import namespace

DRAWINGS, NAMES = "127.0.0.2", "127.0.0.3"
"""The addresses of the two hostile clients."""
OTHERS = [f"127.0.1.{number}" for number in range(1, 5)]
PAUSE_SECONDS = 0.2
DRAWINGS_AT_ONCE, DRAWING_PAUSE_SECONDS, NAMES_PER_SECOND = 4, 0.1, 50
WARM_SECONDS = 3
"""The hostile clients begin this long before the measurement."""
NICENESS = 19
"""The hostile clients' own work must not slow down the server: in reality they have machines of their own."""


def run(arguments: argparse.Namespace) -> int:
    """Runs in the network namespace of `ssrf`, whose resolver leaves names unanswered."""
    if not arguments.inside:
        return namespace.enter(sys.argv)
    namespace.prepare(options="")
    with process() as others, process(NICENESS) as hostile, tempfile.TemporaryDirectory() as folder:
        resolver()
        origin = Origin(PUBLIC, 80)
        lab = Lab(arguments.server, Path(folder), arguments.settings.split())
        photograph = lab.photograph(1200, 800)
        origin.documents["photo"] = lambda _: photograph
        with lab.server("--cache-disk-bytes=0") as server:
            alone, beside = measured(server, arguments.seconds, others, hostile)
        origin.close()
    refused = [answer.status for answer in beside if answer.status != 200]
    growth = unchanged(f"{len(beside)} images of {len(OTHERS)} other clients", seconds(alone), seconds(beside))
    text = f"{len(refused)} of them were refused {sorted(set(refused))} (none)"
    verdicts = [(growth.holds, growth.seen), (not refused, text)]
    for holds, text in verdicts:
        print(f"overload: {'kept  ' if holds else 'BROKEN'} {text}", file=sys.stdout if holds else sys.stderr)
    return 0 if all(holds for holds, _ in verdicts) else 1


def process(niceness: int = 0) -> ProcessPoolExecutor:
    """A process for clients, so that they wait neither for each other nor for the origin. Forked before its threads."""
    pool = ProcessPoolExecutor(1, multiprocessing.get_context("fork"), os.nice, (niceness,))
    pool.submit(os.getpid).result()
    return pool


def seconds(answers: list[Answer]) -> list[float]:
    return [answer.seconds for answer in answers]


def measured(
    server: Server, duration: float, others: ProcessPoolExecutor, hostile: ProcessPoolExecutor,
) -> tuple[list[Answer], list[Answer]]:
    """The responses to other clients without the hostile ones, before and after, and beside them."""
    before = others.submit(images, server.port, duration, "before").result()
    attacked = hostile.submit(attack, server.port, duration + WARM_SECONDS)
    time.sleep(WARM_SECONDS)
    beside = others.submit(images, server.port, duration, "beside").result()
    print(attacked.result())
    return before + others.submit(images, server.port, duration, "after").result(), beside


def images(port: int, duration: float, round: str) -> list[Answer]:
    """The responses to several clients that request new images."""
    return asyncio.run(requested(port, duration, round))


async def requested(port: int, duration: float, round: str) -> list[Answer]:
    clients = [Client(port, address) for address in OTHERS]
    paths = (image(f"http://{GOOD}/photo/{round}-{number}.jpg", "w=300") for number in itertools.count())
    end = asyncio.get_running_loop().time() + duration
    await asyncio.gather(*(client.repeat(paths, end, pause=PAUSE_SECONDS) for client in clients))
    for client in clients:
        client.close()
    return [answer for client in clients for answer in client.answers]


def attack(port: int, duration: float) -> str:
    """What became of the requests of the two hostile clients."""
    return asyncio.run(attacked(port, duration))


async def attacked(port: int, duration: float) -> str:
    drawings, names = Client(port, DRAWINGS), Client(port, NAMES)
    bombs = (image(f"http://{GOOD}/bomb/{number}.svg", "w=1500&output=png") for number in itertools.count())
    end = asyncio.get_running_loop().time() + duration
    await asyncio.gather(
        *(drawings.repeat(bombs, end, pause=DRAWING_PAUSE_SECONDS) for _ in range(DRAWINGS_AT_ONCE)),
        names.offer(silent_images(), NAMES_PER_SECOND, duration),
    )
    lines = []
    for kind, client in (("drawings", drawings), ("names", names)):
        statuses = sorted({answer.status for answer in client.answers})
        lines.append(f"overload: {len(client.answers)} hostile requests for {kind} were answered with {statuses}")
        client.close()
    return "\n".join(lines)
