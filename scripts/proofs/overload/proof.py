"""Three phases: the capacity, ten times as much, and results that do not fit into memory together."""

import argparse
import asyncio
import itertools
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from overload import judge
from overload.client import Client
from overload.costs import Costs
from overload.judge import DEADLINE, Flood, quantile
from processes import Holdings
from server import ROOT, TOKEN, Server, encoded

SETTINGS = (
    "--cache-disk-bytes=0", "--cache-memory-bytes=64MiB", "--cache-decoded-bytes=0", "--allow-networks=127.0.0.0/8",
    "--downloads-per-host=64", "--connect-timeout=1s",
)
GREEDY, POLITE, READER = "127.0.0.2", "127.0.0.3", "127.0.0.4"
CROWD = [f"127.0.1.{number}" for number in range(1, 11)]
GREEDY_SHARE = 0.8
LARGE_RESULTS, THREADS = 20, 8
PROCESSORS = sorted(os.sched_getaffinity(0))


def run(arguments: argparse.Namespace) -> int:
    if not judge.sees():
        return 1
    os.sched_setaffinity(0, PROCESSORS[-1:])
    with (
        tempfile.TemporaryDirectory(prefix="darkroom-overload-") as name,
        origin(photograph(arguments.server, Path(name))) as (process, port),
    ):
        proof = Proof(arguments, Path(name), process, port)
        verdicts = [*proof.flood(), *proof.fill()]
    for holds, text in verdicts:
        print(f"overload: {'kept  ' if holds else 'BROKEN'} {text}", file=sys.stdout if holds else sys.stderr)
    return 0 if all(holds for holds, _ in verdicts) else 1


@contextmanager
def processors_of_the_server() -> Iterator[None]:
    """Child processes started meanwhile get all processors except the last one, on which the load generator runs."""
    *others, last = PROCESSORS
    os.sched_setaffinity(0, others or [last])
    try:
        yield
    finally:
        os.sched_setaffinity(0, [last])


def photograph(server: Path, folder: Path) -> Path:
    """A 12 megapixel photograph: the sample, enlarged."""
    file = folder / "photograph.jpg"
    subprocess.run(
        [server, "transform", ROOT / "Fixtures/images/sample.jpg", file, "--w", "4000", "--enlarge"], check=True)
    return file


@contextmanager
def origin(photograph: Path) -> Iterator[tuple[int, int]]:
    """Yields process and port of an origin in its own process, which exits when its standard input is closed."""
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("origin.py")), photograph], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        yield process.pid, int(process.stdout.readline())
    finally:
        process.stdin.close()
        process.wait(10)


class Proof:
    def __init__(self, arguments: argparse.Namespace, folder: Path, origin_process: int, origin: int) -> None:
        self.arguments, self.folder, self.origin_process, self.origin = arguments, folder, origin_process, origin
        self.numbers = itertools.count()

    @contextmanager
    def server(self, *settings: str) -> Iterator[Server]:
        with processors_of_the_server():
            server = Server(self.arguments.server, self.folder, *SETTINGS, *settings, *self.arguments.settings.split())
        server.wait_until_it_listens()
        try:
            yield server
        finally:
            server.stop()

    def images(self, suffix: str = "jpg", query: str = "w=800&output=webp") -> Iterator[str]:
        """Paths of images that have not been requested yet."""
        return (
            f"/image?url={encoded(f'http://127.0.0.1:{self.origin}/{number}.{suffix}')}&{query}" for number in self.numbers
        )

    # Overload

    def flood(self) -> list[tuple[bool, str]]:
        with self.server(f"--request-timeout={DEADLINE:.0f}s", f"--download-timeout={DEADLINE:.0f}s") as server:
            return list(judge.verdicts(asyncio.run(self.flooded(server))))

    async def flooded(self, server: Server) -> Flood:
        port = server.port
        warm, targets = Client(port, READER), self.images()
        hot = list(itertools.islice(targets, 20))
        for target in hot:
            await warm.get(target)
        idle = self.costs(server)
        capacity = await self.capacity(port, targets, itertools.cycle(hot))
        full = self.costs(server)
        flood = await self.overloaded(port, targets, itertools.cycle(hot), capacity)
        warm.close()
        alone, overloaded = full.since(idle), self.costs(server).since(full)
        self.report_costs(alone, capacity * self.arguments.seconds, overloaded, flood)
        await asyncio.to_thread(self.report_refusals, server)
        return flood._replace(generator_share=overloaded.generator_share)

    def report_refusals(self, server: Server) -> None:
        """Why requests were refused, and how many downloads were made for nothing."""
        page = server.ask("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).body.decode()
        reasons = {name: int(float(count)) for name, count in re.findall(r'pixel_refusals_total{reason="(\w+)"} (\S+)', page)}
        made, downloads = (sum(float(count) for count in re.findall(rf"darkroom_{name}_total{{[^}}]*}} (\S+)", page))
                           for name in ("variants", "origin_requests"))
        print(f"overload: {downloads:.0f} downloads for {made:.0f} images; refused {reasons}")

    def costs(self, server: Server) -> Costs:
        return Costs.until_now(server.process.pid, self.origin_process)

    def report_costs(self, alone: Costs, made_alone: float, overloaded: Costs, flood: Flood) -> None:
        asked = flood.crowd + flood.polite
        made = sum(answer.status == 200 for answer in asked)
        per_image = alone.server / max(made_alone, 1)
        refused = (overloaded.server - made * per_image) / max(len(asked) - made, 1)
        print(
            f"overload: an image costs the server process {per_image * 1000:.1f} ms of CPU and the workers "
            f"{alone.workers / max(made_alone, 1) * 1000:.1f}; under overload a made image costs the workers "
            f"{overloaded.workers / max(made, 1) * 1000:.1f}, a refused one the server {refused * 1000:.2f}"
        )

    async def capacity(self, port: int, targets: Iterator[str], hot: Iterator[str]) -> float:
        """New images per second, while cached ones are read at the same rate as later."""
        seconds, reads = self.arguments.seconds, self.arguments.reads
        crowd, reader = [Client(port, address) for address in CROWD], Client(port, READER)
        end = asyncio.get_running_loop().time() + seconds
        await asyncio.gather(reader.offer(hot, reads, seconds), *(client.repeat(targets, end) for client in crowd))
        made = sum(answer.status == 200 and answer.at <= end for client in crowd for answer in client.answers)
        alone = [answer.seconds for answer in reader.answers]
        print(
            f"overload: capacity {made / seconds:.1f} new images per second besides {reads} cached ones, "
            f"the latter p50 {quantile(alone, 0.5) * 1000:.1f} ms, p99 {quantile(alone, 0.99) * 1000:.1f} ms"
        )
        for client in (*crowd, reader):
            client.close()
        return made / seconds

    async def overloaded(self, port: int, targets: Iterator[str], hot: Iterator[str], capacity: float) -> Flood:
        seconds, offered = self.arguments.seconds, self.arguments.factor * capacity
        greedy, polite, reader = (Client(port, address) for address in (GREEDY, POLITE, READER))
        crowd = [Client(port, address) for address in CROWD]
        end = asyncio.get_running_loop().time() + seconds
        await asyncio.gather(
            greedy.offer(targets, offered * GREEDY_SHARE, seconds),
            *(client.offer(targets, offered * (1 - GREEDY_SHARE) / len(crowd), seconds) for client in crowd),
            polite.repeat(targets, end, pause=0.5),
            reader.offer(hot, self.arguments.reads, seconds),
        )
        everyone = [greedy, *crowd, polite]
        answers = [answer for client in everyone for answer in client.answers]
        made = [answer for answer in answers if answer.status == 200]
        print(
            f"overload: {offered:.0f} per second for {seconds} s: {len(made)} made, p50 "
            f"{quantile([answer.seconds for answer in made], 0.5):.2f} s; {len(answers) - len(made)} refused, p50 "
            f"{quantile([answer.seconds for answer in answers if answer.status != 200], 0.5) * 1000:.0f} ms; the greedy "
            f"client got {sum(answer.status == 200 for answer in greedy.answers)} of {len(greedy.answers)}"
        )
        for client in (*everyone, reader):
            client.close()
        return Flood(
            self.arguments.factor, capacity, sum(answer.at <= end for answer in made) / seconds,
            [answer for client in (greedy, *crowd) for answer in client.answers], polite.answers, reader.answers,
            [failure for client in (*everyone, reader) for failure in client.failures],
        )

    # Memory

    def fill(self) -> list[tuple[bool, str]]:
        budget = self.arguments.budget_mib
        with self.server(
            f"--pixel-workers={THREADS}", f"--memory-budget={budget}MiB", "--request-timeout=60s", "--cache-memory-bytes=16MiB"
        ) as server:
            server.ask(next(self.images()))
            idle = Holdings.of(server.process.pid).memory_mib
            with Peak(server.process.pid) as peak:
                made = asyncio.run(self.filled(server.port))
        bound = idle + budget + self.arguments.base_mib
        return [
            (made == LARGE_RESULTS, f"{made} of {LARGE_RESULTS} large results were made at once"),
            (
                peak.memory_mib <= bound,
                f"server and workers used up to {peak.memory_mib} MiB "
                f"(at most {idle} idle + {budget} of budget + {self.arguments.base_mib})",
            ),
        ]

    async def filled(self, port: int) -> int:
        clients = [Client(port, address) for address in CROWD]
        targets = self.images("png", "output=png")
        await asyncio.gather(*(clients[number % len(clients)].get(next(targets)) for number in range(LARGE_RESULTS)))
        for client in clients:
            client.close()
        return sum(answer.status == 200 for client in clients for answer in client.answers)


class Peak:
    """Measures the peak memory of a server and its workers, sampled every 20 ms."""

    def __init__(self, pid: int) -> None:
        self.pid, self.memory_mib, self.is_over = pid, 0, threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def watch(self) -> None:
        while not self.is_over.wait(0.02):
            self.memory_mib = max(self.memory_mib, Holdings.of(self.pid).memory_mib)

    def __enter__(self) -> "Peak":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over.set()
        self.thread.join()
