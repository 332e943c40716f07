"""All local disks are wiped; cached images are read from the store. Counts the requests to the store for each variant."""

import argparse
import time
from collections import Counter
from pathlib import Path

from cluster import OPERATIONS, Cluster, Result
from judge import percentile
from store import Store

# Images whose versions do not follow the clock.
SOURCES = range(0, 180, 3)
WIDTHS = (8, 32, 64)
PURGED = SOURCES[::10]
LISTED_SHARE = 0.1
"""Variants that may be found by a list although their records are fresh: reads may be slow on a busy machine."""


def run(arguments: argparse.Namespace, folder: Path, store: Store) -> Result:
    cluster = Cluster(arguments, folder, store, "wiped")
    with cluster.running():
        load, origin = cluster.load(max(SOURCES) + 1), cluster.origin
        variants = [(source, width) for source in SOURCES for width in WIDTHS]
        before = cluster.operations()
        for source, width in variants:
            load.request_one(source, width)
        objects = settled(cluster)
        new = cluster.operations() - before
        cluster.progress(f"{len(variants)} variants made, {objects} objects in the store")
        for source in PURGED:
            load.purge_one("url", source)
        for node in cluster.nodes:
            node.stop()
            node.wipe()
        for node in cluster.nodes:
            node.start()
            node.wait_until_ready()
        cluster.wait_until_all_serve()
        since, first = time.monotonic(), len(cluster.judge.seconds)
        cluster.judge.tiers.clear()
        before = cluster.operations()
        for source, width in variants:
            load.request_one(source, width)
        settled(cluster)
        found = cluster.operations() - before
        took = [seconds for _, seconds in cluster.judge.seconds[first:]]
        requests, produced = origin.requests(since), cluster.produced()
    breaches = cluster.judge.breaches
    # Nobody has the new versions of purged images.
    if requests > len(PURGED):
        breaches.append(("origin asked", f"{requests} requests to the origin, {len(PURGED)} of them for purged sources"))
    if produced > len(PURGED) * len(WIDTHS):
        breaches.append(("made again", f"{produced} variants made, {len(PURGED) * len(WIDTHS)} of purged sources"))
    # A lookup lists records only if it finds no variant.
    if found["LIST"] > len(PURGED) + len(variants) * LISTED_SHARE:
        breaches.append(("listed", f"{found['LIST']} lists for {len(variants)} variants, {len(PURGED)} purged sources"))
    return Result({
        "variants": len(variants), "objects": objects, "purged sources": len(PURGED), "requests to the origin": requests,
        "variants made": produced, "p50 ms": percentile(took, 0.5) * 1000, "p99 ms": percentile(took, 0.99) * 1000,
        "requests for a new variant": each(new, len(variants)),
        "requests after the wipe": each(found, len(variants)),
        "tiers": dict(cluster.judge.tiers.most_common(6)),
    }, breaches)


def settled(cluster: Cluster) -> int:
    """The number of objects once all are written."""
    return cluster.store.settled("wiped") if cluster.settings.is_shared else 0


def each(operations: Counter[str], count: int) -> dict[str, float]:
    return {operation: round(operations[operation] / count, 3) for operation in OPERATIONS}
