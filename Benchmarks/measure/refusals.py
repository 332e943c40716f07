"""CPU time of the server for a refused request, against the number of jobs that wait.

The queue is kept full by stopping the worker processes: the job that a worker has taken hangs, and all others wait.
"""

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from context import Context
from figures import at_most
from load import fetch_all, wrk
from overload.client import Client
from processes import children, cpu_seconds
from servers import Darkroom, sources
from sized import sized_images

QUEUES, CONNECTIONS, SECONDS = (10, 100, 1000), 8, 2
WARM_UP = 30
CLIENT = "127.0.0.1"
"""The address of wrk: another client would displace waiting jobs instead of being refused."""


def measure_refusals(context: Context) -> None:
    # A small source: a thousand of them are downloaded, and held until they are decoded.
    small = min(sized_images(context).items())[1]
    with sources(context.nginx, [small], "refusals") as (source,):
        for length in QUEUES:
            context.report.add(
                f"refusal {length}", f"refused request, {length} waiting jobs, CPU time of the server",
                refusal_costs(context, source, length), "ms/request", goal=at_most(0.15), x=length)


def refusal_costs(context: Context, source: str, length: int) -> list[float]:
    settings = ("--pixel-workers=1", f"--queue-depth={length}", "--request-timeout=10m", "--downloads-per-host=64",
                "--trusted-proxies=127.0.0.1/32")
    with Darkroom(context.darkroom, context.folder("refusals"), *settings) as server:
        fetch_all([server.url(f"{source}?warm={number}") for number in range(WARM_UP)], 4)
        with stopped_workers(server):
            return asyncio.run(costs_with_full_queue(context, server, source, length))


async def costs_with_full_queue(context: Context, server: Darkroom, source: str, length: int) -> list[float]:
    client = Client(server.port, CLIENT)
    filling = [asyncio.create_task(client.get(server.path(f"{source}?fill={number}"))) for number in range(length + 1)]
    await asyncio.to_thread(wait_for_queue, server, length)
    script = (
        "local number = 0\n"
        f"local path = '{server.path(source + '?refused=NUMBER')}'\n"
        "function request()\n  number = number + 1\n"
        "  return wrk.format('GET', (path:gsub('NUMBER', number)))\nend\n")
    costs = []
    for _ in range(context.report.rounds):
        before = cpu_seconds(server.pid)[0]
        rate = await asyncio.to_thread(wrk, server.base, CONNECTIONS, SECONDS, script)
        if rate.refused != rate.requests:
            raise SystemExit(f"only {rate.refused} of {rate.requests} requests were refused with a full queue")
        costs.append((cpu_seconds(server.pid)[0] - before) / rate.requests * 1000)
    for task in filling:
        task.cancel()
    return costs


def wait_for_queue(server: Darkroom, length: int) -> None:
    for _ in range(300):
        if server.metric("darkroom_pixel_queue_waiting") >= length:
            return
        time.sleep(0.1)
    raise SystemExit(f"the queue of {length} jobs does not fill: {server.metric('darkroom_pixel_queue_waiting'):.0f}")


@contextmanager
def stopped_workers(server: Darkroom) -> Iterator[None]:
    stopped = [process.pid for process in children(server.pid)]
    send(stopped, signal.SIGSTOP)
    try:
        yield
    finally:
        send(stopped, signal.SIGCONT)


def send(pids: list[int], number: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
