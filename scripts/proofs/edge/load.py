"""Clients that request images through caches, and a client that changes originals and purges them."""

import random
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from http.client import HTTPException
from json import loads
from urllib.parse import urlencode

from load import ALPHA, Popularity, path
from judge import Asked, Judge, Purge
from nodes import ADMIN, Node, ask
from origin import FRESHNESS, Origin

from edge.caches import Cache, hit

CLIENTS, PURGERS, SOURCES, WIDTHS = 6, 4, 60, (16, 32)
PAUSE_SECONDS, REPEAT_SECONDS = 0.01, 0.3
PURGE_LIMIT_SECONDS = 120


class Load:
    def __init__(self, caches: list[Cache], nodes: list[Node], origin: Origin, judge: Judge, seed: int) -> None:
        self.caches, self.nodes, self.origin, self.judge, self.seed = caches, nodes, origin, judge, seed
        self.popularity = Popularity(SOURCES, ALPHA)
        self.counts: Counter[str] = Counter()
        self.waits: list[float] = []
        self.is_over = False

    # Sources of the cluster's origin that change when they are edited only.

    def sources(self) -> list[int]:
        return [len(FRESHNESS) * one for one in self.popularity.sources]

    def any(self, choice: random.Random) -> int:
        return len(FRESHNESS) * self.popularity.any(choice)

    @contextmanager
    def at_work(self):
        self.is_over = False
        threads = [
            threading.Thread(target=self.request, args=(random.Random(self.seed * 100 + number), self.caches[number % len(self.caches)]))
            for number in range(CLIENTS * len(self.caches))
        ]
        threads += [threading.Thread(target=self.purge, args=(random.Random(self.seed + number),)) for number in range(PURGERS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.is_over = True
            for thread in threads:
                thread.join()

    def request(self, choice: random.Random, cache: Cache) -> None:
        while not self.is_over:
            source, width = self.any(choice), choice.choice(WIDTHS)
            asked = Asked(source, width, time.monotonic())
            try:
                answer = ask(cache.port, path(self.origin, source, width), timeout=40)
            except (OSError, HTTPException) as error:
                self.judge.failed(asked, f"{cache.name}: {error!r}")
                continue
            self.counts[f"{cache.name} answers"] += 1
            self.counts[f"{cache.name} hits"] += hit(answer.headers)
            self.judge.judge(asked, answer)
            time.sleep(choice.random() * 2 * PAUSE_SECONDS)

    def purge(self, choice: random.Random) -> None:
        while not self.is_over:
            self.purge_one(choice, choice.choice(["url"] * 3 + ["host", "tag", "prefix"]), self.any(choice))

    def purge_one(self, choice: random.Random, kind: str, source: int) -> None:
        """Edits all sources that a purge selects, and purges them until a node says that the caches were told."""
        origin = self.origin
        of = {
            "url": lambda one: one,
            "host": lambda one: origin.host(one),
            "tag": lambda one: origin.tag(one),
            "prefix": lambda one: origin.folder(one),
        }[kind]
        value = {
            "url": origin.url(source), "host": origin.host(source).partition(":")[0], "tag": origin.tag(source),
            "prefix": origin.folder(source),
        }[kind]
        sources = [one for one in self.sources() if of(one) == of(source)]
        origin.edit(sources)
        began = time.monotonic()
        versions = {one: origin.version(one, began) for one in sources}
        while not (held := self.told(choice.choice(self.nodes), {kind: value})):
            if self.is_over and time.monotonic() - began > PURGE_LIMIT_SECONDS:
                raise TimeoutError(f"the purge of {value} is not told after {PURGE_LIMIT_SECONDS} s")
            time.sleep(REPEAT_SECONDS)
        self.waits.append(time.monotonic() - began)
        self.counts[f"purges by {kind}"] += 1
        self.judge.purged(Purge(kind, began, held, versions))

    def told(self, node: Node, selector: dict[str, str]) -> float:
        """When the answer came that the purge holds and that all caches were told; 0 if it did not."""
        with suppress(OSError, HTTPException, ValueError):
            answer = ask(node.port, f"/cache?{urlencode(selector | {'wait': 'true'})}", "DELETE", ADMIN, timeout=60)
            if answer.status == 200:
                pending = [edge for edge in loads(answer.body).get("edges", []) if edge["state"] != "told"]
                self.counts["purges that stayed pending"] += bool(pending)
                return 0 if pending else time.monotonic()
        self.counts["purges without an answer"] += 1
        return 0
