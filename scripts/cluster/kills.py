"""Nodes are killed, paused and started again at random, under load and purges."""

import argparse
import time
from collections import Counter
from pathlib import Path

from cluster import NODES, Cluster, Result
from judge import Purge, percentile
from nodes import Node
from origin import Download
from store import Store

SOURCES = 150
# A look at a store that has no processor would count as a miss: what nodes do then is the subject of proof 4.
PATIENT = ("--shared-store-timeout=5s",)
# A node that hangs is noticed after two checks of a second each, and may be met by a request before.
LATE_SECONDS = 8
# A request that waits until such a node goes on is late.
PAUSED_SECONDS = (LATE_SECONDS + 1, LATE_SECONDS + 4)
DOWN_SECONDS = (0, 3)
# Until the checks have seen that a node is dead.
NOTICED_SECONDS = 2
# Until the balancer uses a node again that was started.
BACK_SECONDS = 2.5
# What a node has answered and not yet written when it is killed is lost.
UNWRITTEN_SECONDS = 1.5


class Killer:
    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.choice = cluster, cluster.choice
        self.counts: Counter[str] = Counter()
        self.absences: list[tuple[float, float]] = []
        self.slowest_start = 0.0
        # However short the proof is, it has one of each kind.
        self.first = [self.pause_one, self.kill_two, self.kill_one]

    def act(self) -> None:
        kinds = [(self.kill_one, 4), (self.kill_two, 1), (self.pause_one, 1)]
        any_kind = self.choice.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]
        kind = self.first.pop(0) if self.first else any_kind
        began = time.monotonic()
        kind()
        self.absences.append((began, time.monotonic()))
        time.sleep(BACK_SECONDS + self.choice.random())

    def kill_one(self) -> None:
        self.kill(self.choice.sample(self.cluster.nodes, 1))

    def kill_two(self) -> None:
        self.kill(self.choice.sample(self.cluster.nodes, 2))

    def kill(self, nodes: list[Node]) -> None:
        for node in nodes:
            if node is not nodes[0]:
                # HAProxy avoids the node that just failed, not the one before: it must know of the first.
                time.sleep(NOTICED_SECONDS)
            node.kill()
            self.counts["nodes killed"] += 1
        time.sleep(self.choice.uniform(*DOWN_SECONDS))
        for node in nodes:
            began = time.monotonic()
            node.start()
            node.wait_until_ready()
            self.slowest_start = max(self.slowest_start, time.monotonic() - began)

    def pause_one(self) -> None:
        node = self.choice.choice(self.cluster.nodes)
        node.pause()
        time.sleep(self.choice.uniform(*PAUSED_SECONDS))
        node.go_on()
        self.counts["nodes paused"] += 1


def run(arguments: argparse.Namespace, folder: Path, store: Store) -> Result:
    cluster = Cluster(arguments, folder, store, "kills")
    with cluster.running(NODES, *(PATIENT if cluster.settings.is_shared else ())):
        cluster.judge.late_seconds = LATE_SECONDS
        killer, load = Killer(cluster), cluster.load(SOURCES)
        with load.at_work(purging=True):
            cluster.during(arguments.kill_seconds, killer.act, lambda: f"{killer.counts['nodes killed']} killed")
        judge, origin = cluster.judge, cluster.origin
        repeats, unexplained = repeated(origin.full_downloads(), killer.absences, judge.purges, arguments.purge_poll)
    judge.breaches += [("downloaded twice", what) for what in unexplained]
    took = [seconds for _, seconds in judge.seconds]
    return Result({
        "answers": len(took), "p99 s": percentile(took, 0.99), "slowest s": max(took, default=0.0), **killer.counts,
        "slowest start s": killer.slowest_start, **load.counts, "downloads": len(origin.full_downloads()),
        **{f"repeated, {why}": count for why, count in repeats.items()}, "repeated, unexplained": len(unexplained),
        "tiers": dict(judge.tiers.most_common(6)),
        "purged content served until s": judge.purged_after,
    }, judge.breaches)


def repeated(
    downloads: list[Download], absences: list[tuple[float, float]], purges: list[Purge], purge_poll: int
) -> tuple[Counter[str], list[str]]:
    """Downloads of a version that was downloaded before, by what explains them, and a description of each that nothing explains."""
    last: dict[tuple[int, int], float] = {}
    counts: Counter[str] = Counter()
    unexplained = []
    for download in downloads:
        before = last.get((download.source, download.version))
        last[download.source, download.version] = now = download.at
        if before is None:
            continue
        if now - before < UNWRITTEN_SECONDS:
            counts["at the same time"] += 1
        elif any(began < before + UNWRITTEN_SECONDS and before < ended for began, ended in absences):
            counts["lost by a kill"] += 1
        elif any(one.reaches(download.source, before, now, purge_poll + 1) for one in purges):
            counts["purged"] += 1
        elif any(one.again(absences).reaches(download.source, before, now, purge_poll + 1) for one in purges):
            counts["purged again"] += 1
        else:
            kill = max((ended for _, ended in absences if ended < before), default=0.0)
            purge = max((one.acknowledged for one in purges if download.source in one.versions and one.began < before), default=0.0)
            unexplained.append(
                f"source {download.source}, version {download.version}: again after {now - before:.1f} s; the first was "
                f"{before - kill:.1f} s after a kill or pause and {before - purge:.1f} s after a purge")
    return counts, unexplained
