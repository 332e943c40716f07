"""Checks whether a response is allowed for the behavior of its origin."""

import threading
import time
from collections import Counter
from typing import NamedTuple

from flat_png import seen
from server import Answer
from chaos.behaviors import ALWAYS, BEHAVIORS, IMAGE, source
from chaos.images import Code, Versions, scaled

REQUEST_SECONDS = 10
"""The server's `request-timeout`."""
LATE_SECONDS = REQUEST_SECONDS + 8


class Asked(NamedTuple):
    behavior: str
    number: int
    width: int
    since: float


class Judge:
    def __init__(self, versions: Versions) -> None:
        self.versions = versions
        self.lock = threading.Lock()
        self.outcomes: Counter[tuple[str, str]] = Counter()
        self.breaches: list[str] = []
        self.may_lose_workers = False
        self.slowest = 0.0

    def judge(self, asked: Asked, answer: Answer) -> str | None:
        """Records a response; returns the breach, if it is one."""
        breach = self.fault(asked, answer)
        with self.lock:
            self.outcomes[asked.behavior, outcome(answer)] += 1
            self.slowest = max(self.slowest, answer.seconds)
            if breach:
                self.breaches.append(f"{asked.behavior}: {breach}")
        return breach

    def fault(self, asked: Asked, answer: Answer) -> str | None:
        if answer.seconds > LATE_SECONDS:
            return f"responded after {answer.seconds:.1f} s"
        allowed = BEHAVIORS[asked.behavior].allowed | ALWAYS
        # A worker that was killed may have been killed by its image.
        allowed |= {"corrupt-image"} if self.may_lose_workers else set()
        if (came := outcome(answer)) not in allowed:
            return f"{came}, allowed: {', '.join(sorted(allowed - ALWAYS))}"
        return self.wrong_image(asked, answer.body) if came == IMAGE else None

    def wrong_image(self, asked: Asked, body: bytes) -> str | None:
        try:
            size, colors = seen(body)
        except ValueError as error:
            return f"not a complete image: {error}"
        if size != scaled(asked.width):
            return f"an image of {size}, not {scaled(asked.width)}"
        if len(colors) > 1:
            return f"an image with parts of other images: {[Code.of(color) for color in sorted(colors)][:4]}"
        code, number = Code.of(*colors), source(asked.behavior, asked.number)
        if code.source != number:
            return f"an image of another source: {code}, expected {number}"
        # A request that joins shared work gets the version from the start of that work.
        behavior = BEHAVIORS[asked.behavior]
        since = asked.since - behavior.fresh - REQUEST_SECONDS
        valid = self.versions.valid(number, behavior.changes_each, since)
        return None if code.version in valid else f"an outdated image: {code}, valid were {sorted(valid)}"


def sees_breaches(judge: Judge, asked: Asked, answer: Answer, other: Answer) -> list[str]:
    """The made-up breaches that the judge misses. `answer` is correct; `other` belongs to another source."""
    middle = len(answer.body) // 2
    damaged = answer.body[:middle] + bytes([answer.body[middle] ^ 1]) + answer.body[middle + 1 :]
    made_up = {
        "a corrupt image": (asked, answer._replace(body=damaged)),
        "a truncated image": (asked, answer._replace(body=answer.body[:-30])),
        "another source's image": (asked, other),
        "another size": (asked._replace(width=asked.width * 2), answer),
        "an outdated image": (asked._replace(since=time.monotonic() + 1_000), answer),
        "a late response": (asked, answer._replace(seconds=LATE_SECONDS + 1)),
        "an internal error": (asked, answer._replace(status=500)),
        "a refusal that its origin does not explain": (asked, problem("unsupported-image")),
    }
    return [name for name, (request, given) in made_up.items() if not judge.fault(request, given)]


def outcome(answer: Answer) -> str:
    return IMAGE if answer.status == 200 else answer.problem or f"status {answer.status}"


def problem(name: str) -> Answer:
    body = b'{"type":"/problems/%s"}' % name.encode()
    return Answer(415, {"content-type": "application/problem+json"}, body, 0)
