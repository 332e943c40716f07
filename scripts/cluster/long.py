"""Nodes are started with 100,000 purges in the log."""

import argparse
import time
from pathlib import Path

import purge_log
from cluster import Cluster, Result
from nodes import Node
from processes import waited_for
from purges import direct
from store import Store

OLD, NEW = range(0, 45, 3), range(45, 105, 3)
"""Sources that are stored before the node first reads the log, and after it."""
DAYS, HOURS, TAGS = 29.0, 1.0, 20_000
MORE_SECONDS = 1.5
"""How much longer a start may take than one with an empty log: it waits for the log for 0.9 s at most."""
SUMMARY_SECONDS, LEARN_SECONDS, DOUBT_SECONDS = 60, 60, 16
"""How long a node may take to sum the log up and to read it, and how long after that origins confirm what was just stored."""
FOUND = "hit disk", "hit memory", "hit shared"


def run(arguments: argparse.Namespace, folder: Path, store: Store) -> Result:
    cluster = Cluster(arguments, folder, store, "long")
    with cluster.running(2):
        judge, (node, other) = cluster.judge, cluster.nodes
        for source in OLD:
            direct(cluster, node, source)
        store.settled(f"{cluster.name}/{purge_log.IMAGES}")
        node.stop()
        plain = started(node)
        node.stop()
        before = time.monotonic()
        purge_log.write(
            store, cluster.name, purge_log.spread(arguments.logged, DAYS, HOURS, lambda number: ("tag", f"old{number % TAGS}")))
        cluster.progress(f"{arguments.logged:,} purges written in {time.monotonic() - before:.0f} s")
        first = started(node)
        since = time.monotonic()
        for source in OLD:
            direct(cluster, node, source)
        again = cluster.origin.full_downloads(since)
        judge.breaches += [("lost", f"source {one.source} was downloaded again") for one in again]
        is_summed_up = waited_for(lambda: summaries(cluster) != [], SUMMARY_SECONDS)
        if not is_summed_up:
            judge.breaches.append(("not summed up", f"no summary after {SUMMARY_SECONDS} s"))
        time.sleep(DOUBT_SECONDS)
        for source in NEW:
            direct(cluster, node, source)
        objects = store.settled(f"{cluster.name}/{purge_log.IMAGES}")
        figures, later = restarted(cluster, node, other)
    judge.breaches += [
        ("slow start", f"{seconds:.2f} s with the long log, {plain:.2f} s without it")
        for seconds in (first, later) if seconds > plain + MORE_SECONDS
    ]
    return Result({
        "purges in the log": arguments.logged, "start without them s": plain, "first start with them s": first,
        "next start s": later, "objects in the store": objects, **figures,
    }, judge.breaches)


def restarted(cluster: Cluster, node: Node, other: Node) -> tuple[dict[str, object], float]:
    """What the node has on disk after another start, and what another node with an empty disk finds in the store."""
    node.stop()
    if "summaries" in cluster.arguments.without:
        for name in summaries(cluster):
            cluster.store.ask("DELETE", name)
    later = started(node)
    other.stop()
    other.wipe()
    started(other)
    return {"kept on disk": kept(cluster, node), "found in the store": kept(cluster, other)}, later


def kept(cluster: Cluster, node: Node) -> int:
    """How many of the new sources a node has without its origin, once it has read the log."""
    node.seconds_to_learn(LEARN_SECONDS)
    since = time.monotonic()
    tiers = {source: direct(cluster, node, source) for source in NEW}
    asked = {one.source for one in cluster.origin.downloads if one.at >= since}
    lost = [source for source in NEW if tiers[source] not in FOUND or source in asked]
    cluster.judge.breaches += [("asked again", f"{node.name}, source {source}: {tiers[source]}") for source in lost]
    return len(NEW) - len(lost)


def summaries(cluster: Cluster) -> list[str]:
    return cluster.store.keys(f"{cluster.name}/{purge_log.SUMMARIES}")


def started(node: Node) -> float:
    """The seconds until a node is ready."""
    began = time.monotonic()
    node.start()
    node.wait_until_ready()
    return time.monotonic() - began
