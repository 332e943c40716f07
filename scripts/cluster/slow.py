"""One node's store takes half a second and two seconds for each request, while other nodes purge."""

import argparse
import math
import threading
import time
from pathlib import Path

from cluster import Cluster, Result
from nodes import Node
from purges import direct
from store import Store

SOURCES = 60
SLOW_SECONDS = 0.5, 2.0
"""How long the store takes for each request of the node."""
READ_REQUESTS = 12
"""A node reads what was purged meanwhile within the time of so many requests, and one interval."""


def run(arguments: argparse.Namespace, folder: Path, store: Store) -> Result:
    cluster = Cluster(arguments, folder, store, "slow")
    figures: dict[str, object] = {}
    with cluster.running():
        judge, node = cluster.judge, cluster.nodes[0]
        for seconds in SLOW_SECONDS:
            node.faulty.delay_seconds = seconds
            answers, served = len(judge.seconds), judge.count("purged")
            judge.purged_after = 0.0
            purges = purged_beside(cluster, node, arguments.purge_seconds / len(SLOW_SECONDS))
            learned = node.seconds_to_learn(seconds * READ_REQUESTS + arguments.purge_poll)
            if learned == math.inf:
                judge.breaches.append(("not learned", f"{node.name} did not read the purge log with {seconds:g} s for each request"))
            figures |= {
                f"{seconds:g} s: answers of the node": len(judge.seconds) - answers, f"{seconds:g} s: purges": purges,
                f"{seconds:g} s: purged content served": judge.count("purged") - served,
                f"{seconds:g} s: until s": judge.purged_after, f"{seconds:g} s: purges known after s": learned,
            }
        node.faulty.delay_seconds = 0.0
    return Result(figures | {"tiers": dict(judge.tiers.most_common(6))}, judge.breaches)


def purged_beside(cluster: Cluster, node: Node, seconds: float) -> int:
    """Requests images from the node alone while another node purges some of them; returns the number of purges."""
    purging = cluster.load(SOURCES)
    purging.port, purging.clients = cluster.nodes[1].port, 0
    sources = [source for source in purging.popularity.sources if not cluster.origin.freshness(source).changes_each]
    is_over = threading.Event()

    def request(first: int) -> None:
        while not is_over.is_set():
            for source in sources[first :: cluster.arguments.clients]:
                direct(cluster, node, source)
            time.sleep(0.1)

    threads = [threading.Thread(target=request, args=(first,)) for first in range(cluster.arguments.clients)]
    for thread in threads:
        thread.start()
    try:
        with purging.at_work(purging=True):
            cluster.during(seconds)
        # What was purged last must not be served after the propagation either.
        cluster.during(cluster.judge.purge_seconds + 1)
    finally:
        is_over.set()
        for thread in threads:
            thread.join()
    return sum(count for name, count in purging.counts.items() if name.startswith("purges by "))
