"""Memory of the server and all of its descendants, as proportional set size (PSS): shared pages count once."""

import os
import threading
import time

from context import Context
from figures import at_most
from load import fetch_all
from processes import memory_mb
from servers import WIDTH, Darkroom, sources

CONCURRENCY, SETTLE_SECONDS = 4, 1.0
NO_CACHES = ("--cache-memory-bytes=0", "--cache-disk-bytes=0", "--cache-decoded-bytes=0")
MISSES = 300
BUDGETS_MB = (256 + 128) * 1.048576
"""The default budgets of the caches for responses and for decoded originals."""
ALLOWANCE_MB = 100


def measure(context: Context) -> None:
    if os.geteuid() != 0:
        print("memory: skipped, because only root can read the memory of sandboxed workers")
        return
    context.report.begin(
        "memory", f"PSS of the server and all of its descendants in 10⁶ bytes, {os.cpu_count()} pixel workers; misses are "
        f"JPEGs of 2–3 MP to w={WIDTH}, {CONCURRENCY} requests at a time")
    samples: dict[str, list[float]] = {}
    for number in range(context.report.rounds):
        with Darkroom(context.darkroom, context.folder("memory")) as server:
            time.sleep(SETTLE_SECONDS)
            idle = memory_mb(server.pid)
            for name, value in (("idle", idle.pss), ("dirty", idle.private_dirty), ("server", idle.root_pss)):
                samples.setdefault(name, []).append(value)
            samples.setdefault("caches", []).append(peak_of(context, server, f"caches-{number}"))
        with Darkroom(context.darkroom, context.folder("memory bare"), *NO_CACHES) as server:
            samples.setdefault("misses", []).append(peak_of(context, server, f"bare-{number}"))
            time.sleep(SETTLE_SECONDS)
            samples.setdefault("after", []).append(memory_mb(server.pid).pss)
    for key, name, goal in (
        ("idle", "idle", 80), ("dirty", "idle, private dirty pages", 30), ("server", "idle, the server process alone", None),
        ("misses", f"maximum during {MISSES} misses, all caches 0", 100), ("after", f"after {MISSES} misses, all caches 0", 100),
        ("caches", f"maximum during {MISSES} misses and as many second widths, default caches", BUDGETS_MB + ALLOWANCE_MB),
    ):
        context.report.add(key, name, samples[key], "MB", goal=at_most(goal) if goal else None)
    measure_large(context)
    context.report.end()


def peak_of(context: Context, server: Darkroom, label: str) -> float:
    images = (context.images * (MISSES // len(context.images) + 1))[:MISSES]
    with sources(context.nginx, images, label) as urls, Peak(server.pid) as peak:
        fetch_all([server.url(url) for url in urls], CONCURRENCY)
        if label.startswith("caches"):
            fetch_all([server.url(url, w=WIDTH * 2) for url in urls], CONCURRENCY)
    return peak.pss


def measure_large(context: Context) -> None:
    limits = ("--max-source-pixels=120000000", "--max-animation-pixels=120000000")
    if not context.large.exists():
        return
    milliseconds, peaks = [], []
    with Darkroom(context.darkroom, context.folder("large"), *limits) as server:
        for number in range(context.report.rounds):
            with sources(context.nginx, [context.large], f"large-{number}") as (url,), Peak(server.pid) as peak:
                milliseconds.append(fetch_all([server.url(url)], 1)[0] * 1000)
            peaks.append(peak.pss)
    context.report.add("large time", f"JPEG of 100 MP to w={WIDTH} (limit raised), time", milliseconds, "ms")
    context.report.add("large", f"maximum during a JPEG of 100 MP to w={WIDTH} (limit raised)", peaks, "MB")


class Peak:
    """The maximum while it is entered, sampled every 50 ms."""

    def __init__(self, pid: int) -> None:
        self.pid, self.pss, self.is_over = pid, 0.0, threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def watch(self) -> None:
        while True:
            self.pss = max(self.pss, memory_mb(self.pid).pss)
            if self.is_over.wait(0.05):
                return

    def __enter__(self) -> "Peak":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over.set()
        self.thread.join()
