"""Purges by URL, tag, host, prefix and of everything, while nodes work or are away."""

import argparse
import time
from http.client import HTTPException
from pathlib import Path

from cluster import Cluster, Result
from judge import Asked, tier
from load import Load, path
from nodes import Node
from store import Store

SOURCES = 120
ASIDE = range(SOURCES * 3, SOURCES * 3 + 90, 3)
"""Sources that only this proof requests, so that purges of others do not remove them."""
WIDTH = 24
AWAY = "slept", "was stopped", "was cut off"


def run(arguments: argparse.Namespace, folder: Path, store: Store) -> Result:
    cluster = Cluster(arguments, folder, store, "purges")
    with cluster.running():
        judge = cluster.judge
        load, aside = cluster.load(SOURCES), cluster.load(max(ASIDE) + 1)
        with load.at_work(purging=True):
            cluster.during(arguments.purge_seconds)
        slept, down, lonely = cluster.nodes
        served = [judge.count("purged")]
        missed(cluster, aside, slept, slept.pause, slept.go_on)
        served.append(judge.count("purged"))
        missed(cluster, aside, down, down.stop, down.start)
        served.append(judge.count("purged"))
        # It asks origins while it cannot know.
        missed(cluster, aside, lonely, lonely.faulty.cut)
        lonely.faulty.listen()
        served.append(judge.count("purged"))
    return Result({
        "answers": len(judge.seconds), **load.counts, "purged content served until s": judge.purged_after,
        **{f"purged content of a node that {how}": after - before
           for how, before, after in zip(AWAY, served, served[1:], strict=False)},
        "tiers": dict(judge.tiers.most_common(6)),
    }, judge.breaches)


def missed(cluster: Cluster, load: Load, node: Node, leave, come_back=lambda: None) -> None:
    """A node is away while what it holds is purged, and then asked by itself, before anything reminds it."""
    held = [source for source in ASIDE if cluster.home(source) == node.name]
    for source in held:
        load.request_one(source, WIDTH)
        direct(cluster, node, source)
    leave()
    if node.is_ready():
        # The balancer would send the purges to this node.
        others = [one for one in cluster.nodes if one is not node]
        load.port = others[0].port
    for source in held:
        load.purge_one("url", source)
    load.port = cluster.balancer.port
    # All others know by now; so must this one.
    time.sleep(cluster.judge.purge_seconds + 0.5)
    come_back()
    node.wait_until_ready()
    for source in held:
        direct(cluster, node, source)
    cluster.wait_until_all_serve()
    cluster.progress(f"{node.name} came back, {len(held)} sources were purged meanwhile")


def direct(cluster: Cluster, node: Node, source: int) -> str:
    """Requests an image from one node, judges the answer, and returns the tier that it came from."""
    asked = Asked(source, WIDTH, time.monotonic())
    try:
        answer = node.ask(path(cluster.origin, source, WIDTH))
    except (OSError, HTTPException) as error:
        cluster.judge.failed(asked, f"{node.name}: {error!r}")
        return ""
    cluster.judge.judge(asked, answer)
    return tier(answer)
