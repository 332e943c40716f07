"""The search: random requests at first, then variations of the worst requests."""

import json
import random
import time
from collections.abc import Iterator
from http.client import HTTPException
from typing import NamedTuple

from costs.dialects import DIALECTS, Request, darkroom
from costs.grammar import Grammar
from costs.workers import Usage
from server import Server

KEPT = 10
FRESH = 0.35
"""The share of requests that are not changes of a bad one."""
PLAIN_ROUNDS = 20
"""The kernel counts processor time in hundredths of a second, so many rounds are summed up."""


class Finding(NamedTuple):
    request: Request
    status: int
    predicted_seconds: float
    """On this machine."""
    seconds: float
    predicted_bytes: int
    bytes: int

    # A job takes some time and memory, whatever its size: these are added on both sides.

    @property
    def time_ratio(self) -> float:
        return (self.seconds + 0.05) / (self.predicted_seconds + 0.05)

    @property
    def memory_ratio(self) -> float:
        return (self.bytes + (16 << 20)) / (self.predicted_bytes + (16 << 20))


SCORES = (lambda found: found.time_ratio, lambda found: found.memory_ratio, lambda found: found.seconds)


class Search:
    def __init__(self, server: Server, sources: list[str], seed: int) -> None:
        self.server, self.sources, self.chance = server, sources, random.Random(seed)
        contract = json.loads(server.ask("/openapi.json").body)
        self.grammar = Grammar(contract, [f"local:///{name}" for name in sources if "alpha" in name or "small" in name])
        self.worst: list[list[Finding]] = [[] for _ in SCORES]
        self.factor = 1.0
        self.sent = self.refused = self.unplanned = 0

    def calibrate(self, source: str) -> None:
        """Predictions count time on a server of 2020: the plain case tells how this machine compares."""
        found = [self.measured(darkroom(source, {"w": str(395 + number)})) for number in range(PLAIN_ROUNDS)]
        if not all(found):
            raise SystemExit("costs: /explain states no processor time, or the plain case failed")
        self.factor = sum(each.seconds for each in found) / sum(each.predicted_seconds for each in found)

    def run(self, seconds: float) -> Iterator[Finding]:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if found := self.measured(self.next_request()):
                for kept, score in zip(self.worst, SCORES):
                    keep(kept, found, score)
                yield found

    def next_request(self) -> Request:
        pool = self.chance.choice(self.worst)
        if not pool or self.chance.random() < FRESH:
            dialect = self.chance.choice(["darkroom", "darkroom", "wsrv", "iiif"])
            return DIALECTS[dialect](self.chance.choice(self.sources), self.grammar.query(self.chance))
        bad = self.chance.choice(pool).request
        source = self.chance.choice(self.sources) if self.chance.random() < 0.25 else bad.source
        return DIALECTS[bad.dialect](source, self.grammar.changed(bad.query, self.chance))

    def measured(self, request: Request) -> Finding | None:
        """None if the server refuses the request, or has no plan for it."""
        predicted = self.predicted(request)
        if predicted is None:
            return None
        self.sent += 1
        before = Usage.before(self.server.process.pid)
        try:
            status = self.server.ask(request.path, timeout=90).status
        except (OSError, HTTPException):
            status = 0
        if 400 <= status < 500:
            self.refused += 1
        seconds, grown = before.since(self.server.process.pid)
        return Finding(request, status, predicted[0] * self.factor, seconds, predicted[1], grown)

    def predicted(self, request: Request) -> tuple[float, int] | None:
        answer = self.server.ask(request.explanation)
        plan = json.loads(answer.body).get("plan") if answer.status == 200 else None
        if not plan or "estimated_processor_milliseconds" not in plan:
            self.unplanned += 1
            return None
        return plan["estimated_processor_milliseconds"] / 1000, plan["estimated_memory_bytes"]


def keep(kept: list[Finding], found: Finding, score) -> None:
    """Adds a finding to the worst ones, of which at most three are for one source."""
    kept.append(found)
    kept.sort(key=score, reverse=True)
    seen: dict[str, int] = {}
    for each in list(kept):
        seen[each.request.source] = seen.get(each.request.source, 0) + 1
        if seen[each.request.source] > 3:
            kept.remove(each)
    del kept[KEPT:]
