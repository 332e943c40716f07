"""Clients that request images through the balancer, and a client that purges."""

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException
from itertools import accumulate, count
from urllib.parse import urlencode

from judge import Asked, Judge, Purge
from nodes import ADMIN, ask
from origin import Origin
from server import encoded

WIDTHS = (8, 16, 24, 32, 40, 48, 56, 64)
ALPHA = 0.9
PAUSE_SECONDS = 0.03
PURGE_SECONDS = 1.5
REPEAT_SECONDS = 0.5
ANSWER_SECONDS = 40


class Popularity:
    """Zipf's law over numbered sources."""

    def __init__(self, sources: int, alpha: float = ALPHA) -> None:
        self.sources = range(sources)
        self.weights = list(accumulate((rank + 1) ** -alpha for rank in self.sources))

    def any(self, choice: random.Random) -> int:
        return choice.choices(self.sources, cum_weights=self.weights)[0]


class Load:
    def __init__(self, port: int, origin: Origin, judge: Judge, popularity: Popularity, clients: int, seed: int) -> None:
        self.port, self.origin, self.judge = port, origin, judge
        self.popularity, self.clients, self.seed = popularity, clients, seed
        self.counts: Counter[str] = Counter()
        self.is_over = False

    @contextmanager
    def at_work(self, *, purging: bool) -> Iterator["Load"]:
        self.is_over = False
        threads = [threading.Thread(target=self.request, args=(random.Random(self.seed + n),)) for n in range(self.clients)]
        threads += [threading.Thread(target=self.purge, args=(random.Random(self.seed),))] if purging else []
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            self.is_over = True
            for thread in threads:
                thread.join()

    def request(self, choice: random.Random) -> None:
        while not self.is_over:
            self.request_one(self.popularity.any(choice), choice.choice(WIDTHS))
            time.sleep(choice.random() * 2 * PAUSE_SECONDS)

    def request_one(self, source: int, width: int) -> str:
        """Requests an image and judges the answer; returns Cache-Status."""
        asked = Asked(source, width, time.monotonic())
        try:
            answer = ask(self.port, path(self.origin, source, width), timeout=ANSWER_SECONDS)
        except (OSError, HTTPException) as error:
            self.judge.failed(asked, repr(error))
            return ""
        self.judge.judge(asked, answer)
        return answer.headers.get("cache-status", "")

    def purge(self, choice: random.Random) -> None:
        while not self.is_over:
            kinds = ["url"] * 5 + ["tag", "host", "prefix"] * 2 + ["all"]
            source = self.popularity.any(choice)
            self.purge_one(choice.choice(kinds), source)
            time.sleep(PURGE_SECONDS * (0.5 + choice.random()))

    def purge_one(self, kind: str, source: int) -> None:
        """Edits all sources that a purge selects, and purges them, again and again until it is acknowledged."""
        origin, sources = self.origin, self.popularity.sources
        selector, of = {
            "url": ({"url": origin.url(source)}, [source]),
            "tag": ({"tag": origin.tag(source)}, [one for one in sources if origin.tag(one) == origin.tag(source)]),
            "host": (
                {"host": origin.host(source).partition(":")[0]},
                [one for one in sources if origin.host(one) == origin.host(source)],
            ),
            "prefix": (
                {"prefix": origin.folder(source)},
                [one for one in sources if origin.folder(one) == origin.folder(source)],
            ),
            "all": ({"all": "true"}, list(sources)),
        }[kind]
        origin.edit(of)
        began = time.monotonic()
        versions = {one: origin.version(one, began) for one in of}
        for attempt in count(1):
            with suppress(OSError, HTTPException):
                answer = ask(self.port, f"/cache?{urlencode(selector)}", "DELETE", ADMIN, timeout=ANSWER_SECONDS)
                # 202: it takes long, but the other nodes know of it.
                if answer.status in (200, 202):
                    break
                self.counts[f"purges answered with {answer.status} and repeated"] += 1
            if self.is_over:
                # Not acknowledged: nothing is promised.
                return
            time.sleep(REPEAT_SECONDS)
        self.counts[f"purges by {kind}"] += 1
        self.judge.purged(Purge(kind, began, time.monotonic(), versions, attempt))


def path(origin: Origin, source: int, width: int) -> str:
    return f"/image?url={encoded(origin.url(source))}&w={width}&output=png"
