"""Checks each answer: complete, of the right source, not older than its origin and the purges allow."""

import threading
from collections import Counter
from typing import NamedTuple

from flat_png import seen
from server import Answer

from chaos.images import Code, scaled
from origin import Origin, full_version

PROCESSING_SECONDS = 5
"""A request that joins work in progress gets the version from the start of that work."""
CLOCK_SECONDS = 2
"""Ages are whole seconds."""
KINDS = ("unanswered", "late", "wrong", "stale", "purged")


class Asked(NamedTuple):
    source: int
    width: int
    began: float


class Purge(NamedTuple):
    """Sources whose older versions must not be served any more."""

    selector: str
    began: float
    acknowledged: float
    versions: dict[int, int]
    attempts: int = 1

    def reaches(self, source: int, since: float, until: float, propagation: float) -> bool:
        """Whether it may remove a source between two moments."""
        return source in self.versions and self.began < until and since < self.acknowledged + propagation

    def again(self, absences: list[tuple[float, float]]) -> "Purge":
        """The purge until it is carried out the last time: by a node that hung when it was sent first, and goes on."""
        late = [ended for began, ended in absences if began < self.acknowledged and self.began < ended]
        return self._replace(acknowledged=max(self.acknowledged, *late)) if self.attempts > 1 and late else self


class Judge:
    def __init__(self, origin: Origin, purge_seconds: float) -> None:
        self.origin, self.purge_seconds = origin, purge_seconds
        self.lock = threading.Lock()
        self.late_seconds = 30.0
        self.purges: list[Purge] = []
        # For each source the purges' times and first versions allowed, in order.
        self.allowed: dict[int, list[tuple[float, int]]] = {}
        self.reset()

    def reset(self) -> None:
        self.breaches: list[tuple[str, str]] = []
        self.tiers: Counter[str] = Counter()
        self.seconds: list[tuple[float, float]] = []
        self.purged_after = 0.0

    def purged(self, purge: Purge) -> None:
        with self.lock:
            self.purges.append(purge)
            for source, version in purge.versions.items():
                self.allowed.setdefault(source, []).append((purge.acknowledged, version))

    def failed(self, asked: Asked, why: str) -> None:
        with self.lock:
            self.breaches.append(("unanswered", f"source {asked.source}: {why}"))

    def judge(self, asked: Asked, answer: Answer) -> None:
        fault = self.fault(asked, answer)
        with self.lock:
            self.seconds.append((asked.began, answer.seconds))
            self.tiers[tier(answer)] += 1
            if fault:
                self.breaches.append(fault)

    def fault(self, asked: Asked, answer: Answer) -> tuple[str, str] | None:
        """Kind and text of the breach, if the answer is one."""
        if answer.status != 200:
            return "unanswered", f"status {answer.status} {answer.problem or answer.body[:60]!r}"
        if answer.seconds > self.late_seconds:
            return "late", f"an answer after {answer.seconds:.1f} s"
        try:
            size, colors = seen(answer.body)
        except ValueError as error:
            return "wrong", f"not a complete image: {error}"
        if size != scaled(asked.width):
            return "wrong", f"an image of {size}, not {scaled(asked.width)}"
        codes = [Code.of(color) for color in colors]
        if [code.source for code in codes] != [asked.source]:
            return "wrong", f"an image of {codes[:3]}, not of source {asked.source}"
        latest = self.origin.version(asked.source, asked.began + answer.seconds)
        return self.age_fault(asked, full_version(codes[0].version, latest), latest)

    def age_fault(self, asked: Asked, version: int, latest: int) -> tuple[str, str] | None:
        freshness = self.origin.freshness(asked.source)
        allowed = freshness.max_age + freshness.stale_while_revalidate + CLOCK_SECONDS + PROCESSING_SECONDS
        age = asked.began - self.origin.ended(asked.source, version)
        if age > allowed:
            return "stale", f"source {asked.source} ({freshness.field}): version {version} of {latest} ended {age:.0f} s before"
        with self.lock:
            for acknowledged, first in self.allowed.get(asked.source, []):
                if version < first and asked.began > acknowledged:
                    after = asked.began - acknowledged
                    self.purged_after = max(self.purged_after, after)
                    if after > self.purge_seconds:
                        return "purged", f"content purged {after:.1f} s before (at most {self.purge_seconds:.0f})"
        return None

    def count(self, kind: str) -> int:
        return sum(one == kind for one, _ in self.breaches)


def tier(answer: Answer) -> str:
    """What answered, after Cache-Status: `hit memory`, `stale`, `uri-miss` and so on."""
    parts = [part.strip() for part in answer.headers.get("cache-status", "none").split(";")]
    detail = next((part.partition("=")[2] for part in parts if part.startswith("detail=")), "")
    how = next((part for part in parts[1:] if part == "hit" or part.startswith("fwd=")), "none")
    return f"{how.removeprefix('fwd=')} {detail}".strip()


def percentile(seconds: list[float], share: float) -> float:
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0
