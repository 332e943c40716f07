"""A store, an origin, nodes and HAProxy, for one proof."""

import argparse
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from balancer import Balancer
from faulty import FaultyStore
from judge import KINDS, Judge, percentile
from load import Load, Popularity
from nodes import METRICS, PRODUCED, Node, Settings, ask
from origin import Origin
from processes import waited_for
from server import encoded
from store import Store

NODES = 3
PROGRESS_SECONDS = 5
SHOWN = 5
OPERATIONS = ("GET", "LIST", "PUT", "DELETE", "multi-delete", "HEAD")


class Result(NamedTuple):
    figures: dict[str, object]
    breaches: list[tuple[str, str]]
    """Kind and text of each."""


class Cluster:
    def __init__(self, arguments: argparse.Namespace, folder: Path, store: Store, name: str) -> None:
        self.arguments, self.store, self.name = arguments, store, name
        self.folder = folder / name
        self.folder.mkdir()
        self.choice = random.Random(arguments.seed)
        self.origin = Origin()
        self.judge = Judge(self.origin, arguments.purge_poll + 1)
        os.environ.update(store.credentials)
        self.settings = Settings(
            arguments.server, store, name, arguments.purge_poll, arguments.without)
        self.nodes: list[Node] = []
        self.balancer: Balancer | None = None

    @contextmanager
    def running(self, count: int = NODES, *more: str) -> Iterator["Cluster"]:
        try:
            for number in range(1, count + 1):
                self.join(number, *more)
            self.balancer = Balancer(self.folder, self.nodes, self.arguments.without)
            self.wait_until_all_serve()
            yield self
        finally:
            self.end()

    def join(self, number: int, *more: str) -> Node:
        faulty = FaultyStore(self.store.address, self.arguments.seed + number)
        node = Node(number, self.folder, self.settings, faulty, *more)
        self.nodes.append(node)
        node.start()
        node.wait_until_ready()
        return node

    def wait_until_all_serve(self) -> None:
        """Until the balancer has each of them."""
        def homes() -> bool:
            return len({self.home(source) for source in range(200)}) == len(self.nodes)

        if not waited_for(homes, 20):
            raise TimeoutError("the balancer does not use all nodes")

    def home(self, source: int) -> str:
        """The node that answers requests for a source, which its URLs name. This does not touch its cache."""
        body = ask(self.balancer.port, f"/explain?url={encoded(self.origin.url(source))}&w=16").body
        return next((node.name for node in self.nodes if f"//{node.name}.example".encode() in body), "")

    def load(self, sources: int, seed: int = 0) -> Load:
        arguments = self.arguments
        return Load(
            self.balancer.port, self.origin, self.judge, Popularity(sources), arguments.clients, arguments.seed * 1_000 + seed)

    def metrics(self) -> Counter[str]:
        """Sums over all nodes that run."""
        total: Counter[str] = Counter()
        for node in self.nodes:
            if node.server:
                total.update(node.metrics())
        return total

    def at_the_store(self) -> Counter[str]:
        """Requests of all nodes to the store by operation and status, and what was done to the answers."""
        return sum((node.faulty.counts for node in self.nodes), Counter())

    def operations(self) -> Counter[str]:
        """Requests of all nodes to the store by operation, without requests for the purge log."""
        found: Counter[str] = Counter()
        for name, count in self.at_the_store().items():
            operation, _, status = name.rpartition(" ")
            if operation in OPERATIONS and status.isdecimal():
                found[operation] += count
        return found

    def produced(self) -> int:
        return int(self.metrics()[PRODUCED])

    def tier_metrics(self) -> dict[str, float]:
        """All series of the shared tier."""
        found = self.metrics()
        # Sums over labels are in it, too.
        return {series.removesuffix("{}"): value for series, value in sorted(found.items()) if series.startswith(METRICS) and "{" in series}

    def during(self, seconds: float, act: Callable[[], None] | None = None, note: Callable[[], str] = str) -> None:
        """Lets load go on for a time, acting again and again, with a line of progress every few seconds."""
        began = shown = time.monotonic()
        while (now := time.monotonic()) - began < seconds:
            if act:
                act()
            else:
                time.sleep(min(0.5, seconds))
            if now - shown > PROGRESS_SECONDS:
                shown = now
                self.progress(f"{now - began:.0f} of {seconds:.0f} s", note())

    def progress(self, *parts: str) -> None:
        recent = [took for began, took in self.judge.seconds if began > time.monotonic() - PROGRESS_SECONDS]
        counts = ", ".join(f"{count} {kind}" for kind in KINDS if (count := self.judge.count(kind)))
        told = [*parts, f"{len(self.judge.seconds):,} answers", f"p99 {percentile(recent, 0.99) * 1000:.0f} ms"]
        told.append(counts or "no breach")
        print(f"cluster: {self.name}: " + ", ".join(part for part in told if part), flush=True)

    def end(self) -> None:
        if self.balancer:
            self.balancer.end()
        for node in self.nodes:
            if node.server:
                node.kill()
            node.faulty.close()
        self.origin.close()
