"""Latency of cache hits while misses arrive at ten times the capacity of the server.

The load generator and the origin run on the last processor, the server and its workers on the others: otherwise the
latency would contain the time that the generator waits for a processor.
"""

import asyncio
import itertools
import os
from collections.abc import Iterator

from context import Context
from figures import at_most
from overload.client import Client
from overload.judge import quantile
from servers import Darkroom, sources

FACTOR, READS, SECONDS, CAPACITY_SECONDS = 10, 200, 5, 4
MISSES_FROM, READS_FROM = "127.0.0.2", "127.0.0.3"


def measure_latency(context: Context) -> None:
    processors = os.sched_getaffinity(0)
    last = max(processors)
    # The misses repeat the bytes of the bench images under new names, and decoded ones must not make them cheaper.
    settings = ("--cache-decoded-bytes=0", "--downloads-per-host=64")
    folder = context.folder("overloaded")
    with (
        sources(context.nginx, context.images, "overloaded") as urls,
        Darkroom(context.darkroom, folder, *settings, processors=processors - {last} or processors) as server,
    ):
        os.sched_setaffinity(0, {last})
        os.sched_setaffinity(context.nginx.process.pid, {last})
        try:
            asyncio.run(flood(context, server, urls))
        finally:
            os.sched_setaffinity(0, processors)


async def flood(context: Context, server: Darkroom, urls: list[str]) -> None:
    hot = server.path(urls[0])
    misses = new_images(server, urls)
    crowd, reader = Client(server.port, MISSES_FROM), Client(server.port, READS_FROM)
    await reader.get(hot)
    end = asyncio.get_running_loop().time() + CAPACITY_SECONDS
    await asyncio.gather(*(crowd.repeat(misses, end) for _ in range(4)))
    capacity = sum(answer.status == 200 for answer in crowd.answers) / CAPACITY_SECONDS
    latencies = []
    for _ in range(context.report.rounds):
        reader.answers.clear()
        await asyncio.gather(
            crowd.offer(misses, FACTOR * capacity, SECONDS), reader.offer(itertools.repeat(hot), READS, SECONDS))
        if failed := [answer.status for answer in reader.answers if answer.status != 200] or reader.failures:
            raise SystemExit(f"{len(failed)} cached images were not served under overload: {failed[:3]}")
        latencies.append(quantile([answer.seconds for answer in reader.answers], 0.99) * 1000)
    for client in (crowd, reader):
        client.close()
    context.report.add(
        "p99 overload", f"p99 of memory hits while misses arrive at {FACTOR} times the capacity", latencies, "ms", goal=at_most(5))


def new_images(server: Darkroom, urls: list[str]) -> Iterator[str]:
    return (server.path(f"{urls[number % len(urls)]}?n={number}") for number in itertools.count())
