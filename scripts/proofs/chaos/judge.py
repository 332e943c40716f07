"""Whether an answer is one that may come of what its origin does."""

import threading
import time
from collections import Counter
from typing import NamedTuple

from flat_png import seen
from server import Answer
from chaos.behaviours import ALWAYS, BEHAVIOURS, PICTURE, source
from chaos.pictures import Code, Versions, scaled

REQUEST_SECONDS = 10
"""The server's `request-timeout`."""
LATE_SECONDS = REQUEST_SECONDS + 8


class Asked(NamedTuple):
    behaviour: str
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
        """Notes what came; the breach, if it is one."""
        breach = self.fault(asked, answer)
        with self.lock:
            self.outcomes[asked.behaviour, outcome(answer)] += 1
            self.slowest = max(self.slowest, answer.seconds)
            if breach:
                self.breaches.append(f"{asked.behaviour}: {breach}")
        return breach

    def fault(self, asked: Asked, answer: Answer) -> str | None:
        if answer.seconds > LATE_SECONDS:
            return f"answered after {answer.seconds:.1f} s"
        allowed = BEHAVIOURS[asked.behaviour].allowed | ALWAYS
        # Who is killed at work may have been killed by its picture.
        allowed |= {"corrupt-image"} if self.may_lose_workers else set()
        if (came := outcome(answer)) not in allowed:
            return f"{came}, allowed are {', '.join(sorted(allowed - ALWAYS))}"
        return self.wrong_picture(asked, answer.body) if came == PICTURE else None

    def wrong_picture(self, asked: Asked, body: bytes) -> str | None:
        try:
            size, colours = seen(body)
        except ValueError as error:
            return f"no whole picture: {error}"
        if size != scaled(asked.width):
            return f"a picture of {size}, not {scaled(asked.width)}"
        if len(colours) > 1:
            return f"a picture with parts of others: {[Code.of(colour) for colour in sorted(colours)][:4]}"
        code, number = Code.of(*colours), source(asked.behaviour, asked.number)
        if code.source != number:
            return f"the picture of another source: {code}, not {number}"
        # Who joins work that has begun gets what its origin said when it began.
        behaviour = BEHAVIOURS[asked.behaviour]
        since = asked.since - behaviour.fresh - REQUEST_SECONDS
        valid = self.versions.valid(number, behaviour.changes_each, since)
        return None if code.version in valid else f"an outdated picture: {code}, valid were {sorted(valid)}"


def sees_breaches(judge: Judge, asked: Asked, answer: Answer, other: Answer) -> list[str]:
    """Which of the breaches made here the judge does not see; the answer is a good one, the other of another source."""
    middle = len(answer.body) // 2
    damaged = answer.body[:middle] + bytes([answer.body[middle] ^ 1]) + answer.body[middle + 1 :]
    made_up = {
        "a damaged picture": (asked, answer._replace(body=damaged)),
        "a cut picture": (asked, answer._replace(body=answer.body[:-30])),
        "another source's picture": (asked, other),
        "another size": (asked._replace(width=asked.width * 2), answer),
        "an outdated picture": (asked._replace(since=time.monotonic() + 1_000), answer),
        "an answer that came late": (asked, answer._replace(seconds=LATE_SECONDS + 1)),
        "an internal error": (asked, answer._replace(status=500)),
        "a refusal that its origin does not explain": (asked, problem("unsupported-image")),
    }
    return [name for name, (request, given) in made_up.items() if not judge.fault(request, given)]


def outcome(answer: Answer) -> str:
    return PICTURE if answer.status == 200 else answer.problem or f"status {answer.status}"


def problem(name: str) -> Answer:
    body = b'{"type":"/problems/%s"}' % name.encode()
    return Answer(415, {"content-type": "application/problem+json"}, body, 0)
