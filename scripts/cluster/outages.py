"""The store is paused, refuses requests, is full and sends damaged objects, under load and purges."""

import argparse
import time
from pathlib import Path

from cluster import Cluster, Result
from judge import percentile
from store import Store

SOURCES = 3_000
# By then the caches are full.
BASE_SECONDS = 60
RECOVERY_SECONDS = 40
# Of the second half of each outage, when the store is no longer waited for: relative to the quiet half before the first
# outage, when the caches are full and other work slows the machine as much.
P99_FACTOR, P99_SECONDS, LATE_SECONDS = 2, 0.8, 8
MEMORY_FACTOR, MEMORY_MB = 1.3, 48


class Outages:
    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.store = cluster, cluster.store
        self.figures: dict[str, object] = {}
        self.memory_mb = 0.0
        # When the quiet half began and ended.
        self.quiet = (0.0, 0.0)
        # When each began, was half over, and ended.
        self.spans: dict[str, tuple[float, float, float]] = {}

    def kinds(self):
        """Name, begin and end of each outage."""
        return [
            ("paused", self.store.pause, self.store.go_on),
            ("refusing", self.refuse, self.accept_again),
            ("full", self.store.fill, self.store.empty),
            ("damaging", lambda: self.damage(True), lambda: self.damage(False)),
        ]

    def refuse(self) -> None:
        for node in self.cluster.nodes:
            node.faulty.close()
        self.store.refuse()

    def accept_again(self) -> None:
        self.store.start()
        for node in self.cluster.nodes:
            node.faulty.listen()

    def damage(self, is_on: bool) -> None:
        for node in self.cluster.nodes:
            node.faulty.damages = is_on

    def memory(self) -> float:
        return sum(node.memory_mb() for node in self.cluster.nodes)

    def settle(self, seconds: float) -> None:
        """Fills the caches, and takes the second half of the time as the measure of the outages."""
        began = time.monotonic()
        self.cluster.during(seconds)
        self.quiet = began + seconds / 2, time.monotonic()
        self.memory_mb = self.memory()

    def go_through(self, name: str, begin, end, seconds: float) -> None:
        cluster, judge = self.cluster, self.cluster.judge
        most = 0.0

        def sample() -> None:
            nonlocal most
            most = max(most, self.memory())
            time.sleep(1)

        begin()
        began = time.monotonic()
        try:
            cluster.during(seconds, sample, lambda: f"{name}, {most:.0f} MB")
        finally:
            middle, ended = began + seconds / 2, time.monotonic()
            end()
        self.spans[name] = began, middle, ended
        self.figures[f"{name}: memory MB"] = round(most)
        if most > self.memory_mb * MEMORY_FACTOR + MEMORY_MB:
            judge.breaches.append(("memory", f"{name}: {most:.0f} MB, {self.memory_mb:.0f} before"))
        self.recover(name)

    def judge_seconds(self) -> None:
        """To be called when all requests have been answered, also requests that waited for the end of an outage."""
        judge = self.cluster.judge
        begin, end = self.quiet
        quiet = percentile([took for at, took in judge.seconds if begin <= at + took < end], 0.99)
        bound = quiet * P99_FACTOR + P99_SECONDS
        self.figures |= {"p99 of the quiet half s": quiet}
        for name, (began, middle, ended) in self.spans.items():
            answers = [(at + took, took) for at, took in judge.seconds if at < ended and at + took >= began]
            late = percentile([took for answered, took in answers if answered >= middle], 0.99)
            self.figures |= {
                f"{name}: answers": len(answers), f"{name}: p99 s": percentile([took for _, took in answers], 0.99),
                f"{name}: p99 of the second half s": late,
            }
            if late > bound:
                detail = f"p99 of the second half {late:.2f} s, at most {bound:.2f} s with {quiet:.2f} s before the outages"
                judge.breaches.append(("slow", f"{name}: {detail}"))

    def recover(self, name: str) -> None:
        """The store is used again: new objects appear and lookups find some, on every node."""
        began, before_keys = time.monotonic(), set(self.store.keys(self.cluster.name))
        before = self.cluster.at_the_store()["GET 200"]

        def is_used() -> bool:
            # Purges delete objects meanwhile.
            new = set(self.store.keys(self.cluster.name)) - before_keys
            return len(new) > 5 and self.cluster.at_the_store()["GET 200"] > before

        patience = RECOVERY_SECONDS if self.cluster.settings.is_shared else 0
        while not (used := is_used()) and time.monotonic() - began < patience:
            time.sleep(0.5)
        self.figures[f"{name}: used again after s"] = took = time.monotonic() - began
        self.cluster.progress(f"{name}: {'used again' if used else 'NOT used again'} after {took:.0f} s")
        if not used:
            self.cluster.judge.breaches.append(("not used again", name))


def run(arguments: argparse.Namespace, folder: Path, store: Store) -> Result:
    cluster = Cluster(arguments, folder, store, "outages")
    with cluster.running():
        judge = cluster.judge
        judge.late_seconds = LATE_SECONDS
        outages, load = Outages(cluster), cluster.load(SOURCES)
        with load.at_work(purging=True):
            outages.settle(min(BASE_SECONDS, arguments.outage_seconds * 2))
            for name, begin, end in outages.kinds():
                outages.go_through(name, begin, end, arguments.outage_seconds)
        outages.judge_seconds()
        metrics = cluster.tier_metrics()
    return Result({
        "answers": len(judge.seconds), "memory before MB": round(outages.memory_mb), **outages.figures,
        **load.counts, "at the store": dict(cluster.at_the_store()), "metrics": metrics,
        "tiers": dict(judge.tiers.most_common(6)), "purged content served until s": judge.purged_after,
    }, judge.breaches)
