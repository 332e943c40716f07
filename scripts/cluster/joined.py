"""A node is added under load: measures which sources move, and how much the hit ratio falls."""

import argparse
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from cluster import NODES, Cluster, Result
from judge import tier
from load import Popularity, path
from nodes import TIER_DETAIL, ask
from processes import waited_for
from store import Store

SOURCES = 600
MOVED = (0.15, 0.35)
LOAD_SECONDS = 8
REQUESTS, OBJECTS, WIDTH, ALPHA = 3_000, 700, 16, 0.9
NODE_MIB = 3
"""Memory cache of each of four nodes; the single node has four times as much. There is no disk cache."""
LOSS = 0.02


def run(arguments: argparse.Namespace, folder: Path, store: Store) -> Result:
    figures, breaches = moved(arguments, folder, store)
    popularity, choice = Popularity(OBJECTS, ALPHA), random.Random(arguments.seed)
    trace = [3 * popularity.any(choice) for _ in range(REQUESTS)]
    alone, _ = ratio(arguments, folder, store, trace, is_alone=True)
    together, from_store = ratio(arguments, folder, store, trace, is_alone=False)
    if together < alone - LOSS:
        breaches.append(("hit ratio", f"{together:.3f} with four nodes, {alone:.3f} with one"))
    return Result(figures | {
        "hit ratio of one node": alone, "of four, with the store": together, "of which from the store": from_store,
    }, breaches)


def moved(arguments: argparse.Namespace, folder: Path, store: Store) -> tuple[dict, list[tuple[str, str]]]:
    cluster = Cluster(arguments, folder, store, "joined")
    with cluster.running():
        before = {source: cluster.home(source) for source in range(SOURCES)}
        load = cluster.load(150)
        with load.at_work(purging=True):
            cluster.during(LOAD_SECONDS)
            node = cluster.join(NODES + 1)
            cluster.balancer.add(cluster.nodes)
            # A node that was just added is used at once; the check tells that the reload is over.
            waited_for(lambda: node.name in {cluster.home(source) for source in range(60)}, 20)
            cluster.during(LOAD_SECONDS)
        after = {source: cluster.home(source) for source in range(SOURCES)}
    changed = [source for source in before if before[source] != after[source]]
    share = len(changed) / SOURCES
    strays = sum(after[source] != node.name for source in changed)
    breaches = cluster.judge.breaches
    if strays or not MOVED[0] <= share <= MOVED[1]:
        breaches.append(("moved", f"{share:.2f} of the sources moved, {strays} of them between old nodes"))
    shares = [round(list(after.values()).count(one.name) / SOURCES, 2) for one in cluster.nodes]
    return {"answers": len(cluster.judge.seconds), "sources moved": share, "shares of four nodes": shares}, breaches


def ratio(
    arguments: argparse.Namespace, folder: Path, store: Store, trace: list[int], *, is_alone: bool
) -> tuple[float, float]:
    """Hits of any tier among the second half of the trace, at whose beginning the fourth node joins; and of the store."""
    name = "alone" if is_alone else "together"
    cluster = Cluster(arguments, folder, store, name)
    memory = NODE_MIB * (NODES + 1) if is_alone else NODE_MIB
    # The single node is what a cluster replaces: without a store.
    if is_alone:
        cluster.settings.flags = cluster.settings.local_flags
    flags = (f"--cache-memory-bytes={memory}MiB", "--cache-disk-bytes=0")
    with cluster.running(1 if is_alone else NODES, *flags):
        def hit(source: int) -> str:
            return tier(ask(cluster.balancer.port, path(cluster.origin, source, WIDTH)))

        half = len(trace) // 2
        with ThreadPoolExecutor(arguments.clients) as clients:
            list(clients.map(hit, trace[:half]))
            if not is_alone:
                cluster.join(NODES + 1, *flags)
                cluster.balancer.add(cluster.nodes)
                cluster.wait_until_all_serve()
            tiers = list(clients.map(hit, trace[half:]))
    cluster.progress(f"{len(trace):,} requests")
    hits = sum(one.startswith("hit") for one in tiers)
    return hits / len(tiers), sum(TIER_DETAIL in one for one in tiers) / len(tiers)
