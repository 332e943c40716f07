"""Nodes of the last release are upgraded one after the other, each with its cache, while images are requested and purged."""

import argparse
import time
from copy import copy
from pathlib import Path

from cluster import Cluster, Result
from nodes import Node, Settings
from purges import direct
from store import Store

SOURCES = 120
ASIDE = range(SOURCES * 3, SOURCES * 3 + 30, 3)
"""Sources that only this proof requests, so that purges of others do not remove them."""


def run(arguments: argparse.Namespace, folder: Path, store: Store) -> Result:
    cluster = Cluster(arguments, folder, store, "upgrade")
    this = cluster.settings
    last = cluster.settings = Settings(arguments.last, store, cluster.name, arguments.purge_poll, arguments.without)
    seconds = arguments.purge_seconds / 4
    figures: dict[str, object] = {}
    with cluster.running():
        judge, nodes = cluster.judge, cluster.nodes
        load = cluster.load(SOURCES)
        with load.at_work(purging=True):
            cluster.during(seconds)
            for node in nodes:
                replace(cluster, node, this)
                cluster.during(seconds)
                figures[f"purges that reached the others beside {node.name}"] = purged_by_each(cluster, node)
            # Back, as after a bad release: its cache is now this one's.
            replace(cluster, nodes[0], last)
            cluster.during(seconds)
            figures["purges that reached the others after a way back"] = purged_by_each(cluster, nodes[0])
    return Result({
        "answers": len(judge.seconds), **load.counts, **figures, "tiers": dict(judge.tiers.most_common(6)),
        "purged content served until s": judge.purged_after,
    }, judge.breaches)


def replace(cluster: Cluster, node: Node, settings: Settings) -> None:
    """Starts a node again with another executable and the cache that it has."""
    node.stop()
    node.settings = copy(settings)
    node.start()
    node.wait_until_ready()
    cluster.wait_until_all_serve()


def purged_by_each(cluster: Cluster, upgraded: Node) -> int:
    """Purges by the upgraded node and by another one what all of them hold; returns how many were carried out by all."""
    judge, reached = cluster.judge, 0
    purging = cluster.load(max(ASIDE) + 1)
    other = next(node for node in reversed(cluster.nodes) if node is not upgraded)
    for source in ASIDE:
        for node in cluster.nodes:
            direct(cluster, node, source)
    for number, source in enumerate(ASIDE):
        purging.port = (upgraded, other)[number % 2].port
        purging.purge_one("url", source)
    time.sleep(judge.purge_seconds + 0.5)
    for source in ASIDE:
        before = judge.count("purged")
        for node in cluster.nodes:
            direct(cluster, node, source)
        reached += judge.count("purged") == before
    cluster.progress(f"{reached} of {len(ASIDE)} purges reached all nodes")
    return reached
