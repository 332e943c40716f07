"""Many equal requests for an image that no cache has."""

import argparse
import threading
import time
from pathlib import Path

from cluster import Cluster, Result
from judge import percentile
from store import Store

REQUESTS, ROUNDS = 300, 5
ORIGIN_SECONDS = 0.4
"""How long the origin takes, so that all requests arrive before it answers."""


def run(arguments: argparse.Namespace, folder: Path, store: Store) -> Result:
    cluster = Cluster(arguments, folder, store, "cold")
    with cluster.running():
        judge, origin = cluster.judge, cluster.origin
        origin.delay_seconds = ORIGIN_SECONDS
        load = cluster.load(3 * ROUNDS)
        downloads, productions = [], []
        for number in range(ROUNDS):
            since, produced = time.monotonic(), cluster.produced()
            together(load, 3 * number)
            downloads.append(len(origin.full_downloads(since)))
            productions.append(cluster.produced() - produced)
        cluster.progress(f"downloads {downloads}, productions {productions}")
    breaches = judge.breaches
    breaches += [("not shared", f"{count} downloads") for count in downloads if count != 1]
    breaches += [("not shared", f"{count} productions") for count in productions if count != 1]
    took = [seconds for _, seconds in judge.seconds]
    return Result({
        "rounds": ROUNDS, "requests each": REQUESTS, "downloads": downloads, "productions": productions,
        "slowest s": max(took, default=0.0), "p50 s": percentile(took, 0.5),
    }, breaches)


def together(load, source: int) -> None:
    """All requests at the same time."""
    barrier = threading.Barrier(REQUESTS)

    def request() -> None:
        barrier.wait()
        load.request_one(source, 32)

    threads = [threading.Thread(target=request) for _ in range(REQUESTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
