"""Nodes are restarted when the purge log has the purges of a month: what was stored after them stays on disk."""

import argparse
import hashlib
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import purge_log
from cluster import Cluster, Result
from nodes import Node
from purges import direct
from store import Store

SOURCES = range(0, 60, 3)
"""Images whose versions do not follow the clock."""
LOGGED, DAYS, HOURS = 300, 29.5, 0.2
LATER = [("url", SOURCES[0]), ("tag", SOURCES[1])]
"""Purges while the node is down."""
PROGRESS = hashlib.sha256(b"position in the purge log").digest()
"""The key of the entry in which a node keeps what it has carried out."""
LEARN_SECONDS = 60
KEPT = "hit disk", "hit memory"


def run(arguments: argparse.Namespace, folder: Path, store: Store) -> Result:
    cluster = Cluster(arguments, folder, store, "restarts")
    purge_log.write(store, cluster.name, logged(cluster))
    with cluster.running(2):
        judge, (node, other) = cluster.judge, cluster.nodes
        for source in SOURCES:
            direct(cluster, node, source)
        store.settled(f"{cluster.name}/{purge_log.IMAGES}")
        kept = [restarted(cluster, node, set())]
        concerned: set[int] = set()

        def purge() -> None:
            load = cluster.load(max(SOURCES) + 1)
            load.port = other.port
            for kind, source in LATER:
                load.purge_one(kind, source)
                concerned.update(one for one in SOURCES if one in judge.purges[-1].versions)

        kept.append(restarted(cluster, node, concerned, purge))
        store.settled(f"{cluster.name}/{purge_log.IMAGES}")
        kept += [restarted(cluster, node, set()) for _ in range(2)]
    return Result({
        "purges in the log": LOGGED, "entries": len(SOURCES), "kept after each restart": kept,
        "of which purged while the node was down": len(concerned),
    }, judge.breaches)


def logged(cluster: Cluster) -> list[purge_log.LoggedPurge]:
    """Purges of each kind, each of which would concern what is stored later."""
    origin = cluster.origin

    def selector(number: int) -> tuple[str, str | None]:
        source = SOURCES[number % len(SOURCES)]
        return [
            ("host", origin.host(source).partition(":")[0]), ("tag", origin.tag(source)),
            ("prefix", origin.folder(source)), ("url", origin.url(source)), ("everything", None),
        ][number % 5]

    return purge_log.spread(LOGGED, DAYS, HOURS, selector)


def restarted(cluster: Cluster, node: Node, concerned: set[int], meanwhile=lambda: None) -> int:
    """Restarts a node and requests everything; returns how many of the sources came from its own disk.

    `concerned` are the images that `meanwhile` purges.
    """
    judge = cluster.judge
    node.stop()
    if "progress" in cluster.arguments.without:
        forget_progress(node)
    meanwhile()
    node.start()
    node.wait_until_ready()
    # Until it has read the log, it asks origins.
    node.seconds_to_learn(LEARN_SECONDS)
    since = time.monotonic()
    tiers = {source: direct(cluster, node, source) for source in SOURCES}
    asked = {one.source for one in cluster.origin.downloads if one.at >= since}
    judge.breaches += [("asked again", f"source {source}: {tiers[source]}") for source in sorted(asked - concerned)]
    lost = [source for source, tier in tiers.items() if tier not in KEPT and source not in concerned]
    judge.breaches += [("lost", f"source {source}: {tiers[source]}") for source in lost]
    cluster.progress(f"{node.name} restarted, {len(lost)} of {len(SOURCES) - len(concerned)} sources are not on its disk")
    return sum(tier in KEPT for tier in tiers.values())


def forget_progress(node: Node) -> None:
    with closing(sqlite3.connect(node.folder / "cache/index.sqlite")) as index, index:
        if index.execute("DELETE FROM entry WHERE source = ?", (PROGRESS,)).rowcount != 1:
            raise ValueError(f"{node.name} has no progress on disk")
