"""Measures how much a greedy signing key slows another key down."""

import argparse
import asyncio
import base64
import hashlib
import hmac
import itertools
import json
import os
import random
import re
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from overload.client import Answer, Client
from overload.judge import quantile
from overload.proof import PROCESSORS, Proof, origin, photograph
from server import TOKEN, Server, encoded

SECRET = "proof-secret-0123456789abcdef0123456789"
QUOTAS = {"cache": "8MiB", "processor": "3s/m", "egress": "64MiB/m"}
GREEDY, POLITE = "127.0.0.2", "127.0.0.3"
HOT_IMAGES, HOT_SHARE = 100, 0.9
"""The polite key requests this many images again and again, and new ones in the rest of its requests."""
POLITE_PER_SECOND, GREEDY_PER_SECOND = 40, 60
ROUNDS = 5
"""The two cases alternate, and their medians are compared, so that what else the machine does counts for both."""
WARM_SECONDS = 8
"""The greedy key begins this long before the measurement, so that its burst is over; so long the server warms up."""
POINTS, GROWTH, NOISE_SECONDS = 0.02, 1.1, 0.002
"""The bounds: how far the hit ratio may fall, and how much the 99th percentile may grow, besides what a timer adds."""
PERIOD_SECONDS = 60


class Phase(NamedTuple):
    hit_ratio: float
    p99: float
    refused: int

    @staticmethod
    def of(answers: list[Answer]) -> "Phase":
        hits = sum((answer.field(b"cache-status") or "").startswith("darkroom;hit") for answer in answers)
        refused = sum(answer.status != 200 for answer in answers)
        return Phase(hits / max(len(answers), 1), quantile([answer.seconds for answer in answers], 0.99), refused)

    @staticmethod
    def median(phases: "list[Phase]") -> "Phase":
        ratio, p99 = (statistics.median(values) for values in ([one.hit_ratio for one in phases], [one.p99 for one in phases]))
        return Phase(ratio, p99, sum(one.refused for one in phases))

    def __str__(self) -> str:
        return f"hit ratio {self.hit_ratio:.3f}, p99 {self.p99 * 1000:.1f} ms"


def run(arguments: argparse.Namespace) -> int:
    if not sees():
        print("overload: a broken promise in made-up results was not detected", file=sys.stderr)
        return 1
    os.sched_setaffinity(0, PROCESSORS[-1:])
    with (
        tempfile.TemporaryDirectory(prefix="darkroom-overload-") as name,
        origin(photograph(arguments.server, Path(name))) as (process, port),
    ):
        quotas = {} if arguments.without_quotas else QUOTAS
        keys = [{"id": "greedy", "secret": SECRET, "rate": "1000/s"} | quotas, {"id": "polite", "secret": SECRET}]
        (file := Path(name) / "keys.json").write_text(json.dumps(keys))
        proof = Proof(arguments, Path(name), process, port)
        with proof.server(f"--signing-keys-file={file}") as server:
            alone, beside, greedy = asyncio.run(measured(server, proof.origin, arguments.seconds))
            report(server, greedy)
    kept = True
    for holds, text in verdicts(alone, beside, greedy):
        kept = kept and holds
        print(f"overload: {'kept  ' if holds else 'BROKEN'} {text}", file=sys.stdout if holds else sys.stderr)
    return 0 if kept else 1


def verdicts(alone: Phase, beside: Phase, greedy: list[Answer]) -> Iterator[tuple[bool, str]]:
    yield (
        beside.hit_ratio >= alone.hit_ratio - POINTS,
        f"hit ratio of the polite key {beside.hit_ratio:.3f} beside the greedy one, {alone.hit_ratio:.3f} without "
        f"(at most {POINTS} less)",
    )
    bound = alone.p99 * GROWTH + NOISE_SECONDS
    yield (
        beside.p99 <= bound,
        f"p99 of the polite key {beside.p99 * 1000:.1f} ms beside the greedy one, {alone.p99 * 1000:.1f} ms without "
        f"(at most {bound * 1000:.1f})",
    )
    yield beside.refused == 0, f"{beside.refused} requests of the polite key were refused (none)"
    refusals = [answer for answer in greedy if answer.status == 429]
    waits = [int(answer.field(b"retry-after") or PERIOD_SECONDS + 1) for answer in refusals]
    yield (
        bool(waits) and max(waits) <= PERIOD_SECONDS,
        f"{len(refusals)} of {len(greedy)} requests of the greedy key got 429, with Retry-After up to "
        f"{max(waits, default=0)} s (some, at most {PERIOD_SECONDS} s)",
    )


def report(server: Server, greedy: list[Answer]) -> None:
    page = server.ask("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).body.decode()
    used = {name: float(value) for name, value in re.findall(r'darkroom_key_(\w+){key="greedy"} (\S+)', page)}
    print(f"overload: the greedy key got {sum(answer.status == 200 for answer in greedy)} images and used {used}")


async def measured(server: Server, port: int, seconds: int) -> tuple[Phase, Phase, list[Answer]]:
    """The polite key without the greedy one and beside it, and the responses to the greedy one."""
    numbers = itertools.count()
    hot = [target(port, next(numbers), "polite") for _ in range(HOT_IMAGES)]
    warm = Client(server.port, POLITE)
    for image in hot * 2:
        await warm.get(image)
    warm.close()

    async def polite(seconds: float = seconds / ROUNDS) -> Phase:
        client, chance = Client(server.port, POLITE), random.Random(1)
        targets = (
            chance.choice(hot) if chance.random() < HOT_SHARE else target(port, next(numbers), "polite")
            for _ in itertools.count()
        )
        await client.offer(targets, POLITE_PER_SECOND, seconds)
        client.close()
        assert not client.failures, client.failures[:2]
        return Phase.of(client.answers)

    # The first images start workers.
    await polite(WARM_SECONDS)
    greedy = Client(server.port, GREEDY)
    targets = (target(port, next(numbers), "greedy") for _ in itertools.count())
    alone, beside = [], []
    for _ in range(ROUNDS):
        alone.append(await polite())
        load = asyncio.create_task(greedy.offer(targets, GREEDY_PER_SECOND, seconds / ROUNDS + WARM_SECONDS))
        await asyncio.sleep(WARM_SECONDS)
        beside.append(await polite())
        await load
        print(f"overload: the polite key alone: {alone[-1]}; beside the greedy one: {beside[-1]}")
    greedy.close()
    return Phase.median(alone), Phase.median(beside), greedy.answers


def target(origin_port: int, number: int, key: str) -> str:
    """The signed path of an image, each number another one."""
    query = f"output=webp&url={encoded(f'http://127.0.0.1:{origin_port}/{number}.jpg')}&w=300"
    code = hmac.digest(SECRET.encode(), f"darkroom 1\n/image\n{query}".encode(), hashlib.sha256)
    return f"/image?{query}&s={key}.{base64.urlsafe_b64encode(code).decode().rstrip('=')}"


def sees() -> bool:
    """Whether each broken promise is detected in made-up results, and none in correct ones."""
    alone, refusals = Phase(0.9, 0.1, 0), [Answer(429, b"Retry-After: 60", 0.01, 0)]
    good = (alone, Phase(0.885, 0.109, 0), refusals)
    bad = [
        (alone, Phase(0.87, 0.1, 0), refusals), (alone, Phase(0.9, 0.2, 0), refusals), (alone, Phase(0.9, 0.1, 1), refusals),
        (alone, alone, []), (alone, alone, [Answer(429, b"Retry-After: 61", 0.01, 0)]),
    ]
    return all(holds for holds, _ in verdicts(*good)) and not any(all(holds for holds, _ in verdicts(*case)) for case in bad)
