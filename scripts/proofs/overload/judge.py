"""The server's promises for overload, and the checks of them."""

from collections.abc import Iterator
from typing import NamedTuple

from overload.client import Answer

DEADLINE, SLACK = 2.0, 0.5
"""The request timeout in seconds, and the tolerance for a busy machine."""
CACHED_SECONDS, POLITE = 0.05, 0.95
GENERATOR = 0.8
"""The part of its processor that the load generator may use: beyond it, the generator may be what limits goodput."""


def least_goodput(factor: float) -> float:
    """The share of the capacity that must be left at a multiple of the load."""
    return 0.95 if factor <= 10 else 0.9


class Flood(NamedTuple):
    """The results of an overload."""

    factor: float
    """The offered load, as a multiple of the capacity."""
    capacity: float
    """New images per second, without overload."""
    goodput: float
    crowd: list[Answer]
    """Responses to all clients that request new images, except the polite one."""
    polite: list[Answer]
    cached: list[Answer]
    failures: list[str]
    """Requests without a response."""
    generator_share: float = 0
    """The part of its processor that the load generator used."""


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)] if values else float("inf")


def verdicts(flood: Flood) -> Iterator[tuple[bool, str]]:
    """Each promise with its result; False if it was broken."""
    asked = flood.crowd + flood.polite
    least = least_goodput(flood.factor)
    yield (
        flood.goodput >= least * flood.capacity,
        f"goodput of {flood.goodput:.1f} per second is {flood.goodput / flood.capacity:.0%} of capacity (at least {least:.0%})",
    )
    yield (
        flood.generator_share <= GENERATOR,
        f"the load generator used {flood.generator_share:.0%} of its processor (at most {GENERATOR:.0%})",
    )
    cached = [answer.seconds for answer in flood.cached]
    yield (
        quantile(cached, 0.99) < CACHED_SECONDS and all(answer.status == 200 for answer in flood.cached),
        f"cached images: p50 {quantile(cached, 0.5) * 1000:.1f} ms, p99 {quantile(cached, 0.99) * 1000:.1f} ms "
        f"(below {CACHED_SECONDS * 1000:.0f})",
    )
    latest = max((answer.seconds for answer in asked), default=float("inf"))
    yield latest <= DEADLINE + SLACK, f"the slowest response took {latest:.2f} s (at most {DEADLINE} + {SLACK})"
    wrong = [answer for answer in asked if answer.status != 200 and not is_honest_refusal(answer)]
    yield not wrong, f"{len(wrong)} refusals are not 503 with Retry-After {sorted({answer.status for answer in wrong})}"
    yield not flood.failures, f"{len(flood.failures)} requests got no response {flood.failures[:2]}"
    served = sum(answer.status == 200 for answer in flood.polite)
    yield (
        served >= POLITE * len(flood.polite) and served > 0,
        f"the client with few requests got {served} of {len(flood.polite)}, after p50 "
        f"{quantile([answer.seconds for answer in flood.polite], 0.5):.2f} s (at least {POLITE:.0%})",
    )


def is_honest_refusal(answer: Answer) -> bool:
    return answer.status == 503 and (answer.field(b"retry-after") or "").isdigit()


def sees() -> bool:
    """Whether each broken promise is detected in made-up results, and none in correct ones."""
    good, refusal = Answer(200, b"", 0.01, 0), Answer(503, b"Retry-After: 3", 0.01, 0)
    right = Flood(10, 10, 9.5, [good, refusal], [good], [good], [])
    broken = [
        right._replace(goodput=8), right._replace(generator_share=0.9), right._replace(cached=[Answer(200, b"", 0.06, 0)]),
        right._replace(crowd=[Answer(200, b"", 3, 0)]), right._replace(crowd=[Answer(503, b"", 0.01, 0)]),
        right._replace(failures=["closed"]), right._replace(polite=[good, refusal]),
    ]
    found = [[holds for holds, _ in verdicts(flood)] for flood in broken]
    is_sighted = all(holds for holds, _ in verdicts(right)) and all(
        [at for at, holds in enumerate(held) if not holds] == [number] for number, held in enumerate(found)
    )
    print(f"overload: the judge {'detects each broken promise in made-up results' if is_sighted else 'misses broken promises'}")
    return is_sighted
