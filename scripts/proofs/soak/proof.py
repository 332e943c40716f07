"""Sends requests from several threads, and samples the memory of all processes 50 times."""

import argparse
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from statistics import fmean, linear_regression
from urllib.parse import urlencode

from processes import Holdings, children
from server import ROOT, Server

IMAGES = ROOT / "Fixtures/images"
SETTINGS = (
    f"--local-root={IMAGES}", "--cache-memory-bytes=32MiB", "--cache-decoded-bytes=32MiB",
    "--cache-disk-bytes=64MiB", "--log-level=warning",
)
ASKERS, SAMPLES = 4, 50
RISE, LEAP = 0.1, 1.15
"""Allowed growth after the first fifth: of the line through all samples, and of a sample above the second fifth's maximum."""
BOUND_MIB = 450
"""For the server, its workers, and caches of 64 MiB."""
OUTPUTS = ["jpg"] * 8 + ["webp"] * 8 + ["png"] * 4 + ["auto"] * 3 + ["gif", "json", "blurhash", "avif"]
BARS = "▁▂▃▄▅▆▇█"


def run(arguments: argparse.Namespace) -> int:
    if not judge_sees():
        return 1
    with tempfile.TemporaryDirectory(prefix="darkroom-soak-") as name:
        proof = Proof(arguments.server, Path(name), arguments.requests, arguments.settings.split())
        proof.send()
        return proof.report()


def judge_sees() -> bool:
    """Whether growth is distinguished from noise."""
    uneven = [200 + 15 * (number % 3) for number in range(SAMPLES)]
    climbing = [sample + 2 * number for number, sample in enumerate(uneven)]
    leaping = [*uneven[:-1], 300]
    large = [sample + BOUND_MIB for sample in uneven]
    sees = not climbs(uneven) and all(climbs(broken) for broken in (climbing, leaping, large))
    print(f"soak: the judge {'detects made-up growth' if sees else 'misses growth'}")
    return sees


def climbs(samples: list[float]) -> str | None:
    fifth = len(samples) // 5
    settled, early = samples[fifth:], samples[fifth : 2 * fifth]
    rise = linear_regression(range(len(settled)), settled).slope * len(settled)
    if rise > fmean(settled) * RISE:
        return f"memory rises by {rise:.0f} MiB after the first fifth, with an average of {fmean(settled):.0f}"
    if max(settled) > max(early) * LEAP:
        return f"memory reached {max(settled):.0f} MiB, in the second fifth {max(early):.0f}"
    if max(samples) > BOUND_MIB:
        return f"memory reached {max(samples):.0f} MiB (at most {BOUND_MIB})"
    return None


class Proof:
    def __init__(self, binary: Path, folder: Path, requests: int, settings: list[str]) -> None:
        self.requests = requests
        self.server = Server(binary, folder, *SETTINGS, *settings)
        self.images = sorted(str(path.relative_to(IMAGES)) for path in IMAGES.rglob("*.*"))
        self.statuses: Counter[int] = Counter()
        self.samples: list[float] = []
        self.workers: set[int] = set()
        self.own = threading.local()

    def send(self) -> None:
        self.server.wait_until_it_listens()
        began = time.monotonic()
        with ThreadPoolExecutor(ASKERS) as askers:
            for part in range(SAMPLES):
                share = range(part * self.requests // SAMPLES, (part + 1) * self.requests // SAMPLES)
                self.statuses.update(askers.map(self.ask, share))
                self.samples.append(Holdings.of(self.server.process.pid).memory_mib)
                self.workers |= {process.pid for process in children(self.server.process.pid)}
        self.seconds = time.monotonic() - began
        self.status = self.server.stop()

    def ask(self, number: int) -> int:
        """The status of the response; 0 if there was none."""
        chance = random.Random(number)
        query = {
            "url": f"local:///{chance.choice(self.images)}", "w": 16 + number % 600, "output": chance.choice(OUTPUTS),
            "fit": chance.choice(["inside", "cover", "contain"]), "h": chance.randint(16, 400),
        }
        query |= chance.choice([{}, {}, {"blur": "2"}, {"ro": "30"}, {"sharp": "1"}, {"trim": "10"}, {"resample": "linear"}])
        try:
            self.own.connection = getattr(self.own, "connection", None) or HTTPConnection("127.0.0.1", self.server.port, timeout=60)
            self.own.connection.request("GET", f"/image?{urlencode(query)}")
            answer = self.own.connection.getresponse()
            answer.read()
            return answer.status
        except (OSError, HTTPException):
            self.own.connection = None
            return 0

    def report(self) -> int:
        low, high = min(self.samples), max(self.samples)
        line = "".join(BARS[round((sample - low) / max(high - low, 1) * (len(BARS) - 1))] for sample in self.samples)
        statuses = ", ".join(f"{count:,} × {status}" for status, count in sorted(self.statuses.items()))
        print(f"soak: {self.requests:,} requests in {self.seconds:.0f} s: {statuses}")
        print(f"soak: {line} {low:.0f} to {high:.0f} MiB (PSS) over server and workers, {len(self.workers)} worker processes in total")
        breaches = [f"{self.statuses[status]} responses with status {status}" for status in self.statuses if status == 0 or status >= 500]
        if self.statuses[200] < self.requests // 2:
            breaches.append(f"only {self.statuses[200]:,} requests returned an image")
        breaches += [why] if (why := climbs(self.samples)) else []
        breaches += [f"the server exited with status {self.status}"] if self.status else []
        for breach in breaches:
            print(f"soak: {breach}", file=sys.stderr)
        return 1 if breaches else 0
