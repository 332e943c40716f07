"""The bounds of a request under attack, and the checks of responses against them."""

import re
from typing import NamedTuple

from overload.judge import quantile
from server import Answer

EXPECTED_SECONDS = 0.75
"""What is expected of the dearest drawing whose elements and filters look cheap: one blur at 1,500 pixels."""
WORKER_SECONDS = 1 + 4 * EXPECTED_SECONDS + 0.1
"""Processor time of one request that is refused for its cost: a second and four times what was expected of it, and a
tenth for the clock of the limit and for what is done around the work."""
MOST_WORKER_SECONDS = 10.0
"""The same for a large result, of which more is expected: a second and twice `max-processing-time`."""
AT_ONCE_SECONDS, AT_ONCE_WORKER_SECONDS = 1.0, 0.5
"""Time and processor time of a refusal that needs no work."""
ROTATION_SECONDS = 5.0
"""Processor time of a rotated image, which does not depend on what else the machine does."""
EXPENSIVE = {"too-expensive", "invalid-parameter"}
"""Problems of a request that would take too long."""
THUMBNAIL_SECONDS = 1.0
"""The 99th percentile of small images beside ten hostile requests."""
DELAY_SECONDS = 1.0
"""How much longer a request may take because of what another client does."""
GROWTH, GROWTH_SECONDS = 1.2, 0.02
"""How much the 99th percentile of other clients may grow: a share of it, and what a busy machine adds."""


class Check(NamedTuple):
    holds: bool
    seen: str
    """What was requested, what was seen and, in parentheses, the bound."""


class Cost(NamedTuple):
    """A response and the processor time of all workers until they are idle again."""

    answer: Answer
    worker_seconds: float

    def __str__(self) -> str:
        answer = self.answer
        return (
            f"{answer.status} {answer.problem} after {answer.seconds:.2f} s, {self.worker_seconds:.2f} s of processor"
        ).replace("  ", " ")


def is_refusal(answer: Answer) -> bool:
    """Whether the response says that the client has to change its request or its image."""
    return 400 <= answer.status < 500 and answer.problem != ""


def refused_within_budget(what: str, cost: Cost) -> Check:
    holds = is_refusal(cost.answer) and cost.worker_seconds <= WORKER_SECONDS
    return Check(holds, f"{what}: {cost} (a 4xx problem within {WORKER_SECONDS} s of processor)")


def bounded(what: str, cost: Cost) -> Check:
    """Whether the image is made or refused within the budget."""
    holds = (cost.answer.status == 200 or is_refusal(cost.answer)) and cost.worker_seconds <= MOST_WORKER_SECONDS
    return Check(holds, f"{what}: {cost} (200 or a 4xx problem within {MOST_WORKER_SECONDS} s of processor)")


def refused_at_once(what: str, cost: Cost) -> Check:
    is_quick = cost.answer.seconds <= AT_ONCE_SECONDS and cost.worker_seconds <= AT_ONCE_WORKER_SECONDS
    holds = is_refusal(cost.answer) and is_quick
    bound = f"a 4xx problem within {AT_ONCE_SECONDS} s and {AT_ONCE_WORKER_SECONDS} s of processor"
    return Check(holds, f"{what}: {cost} ({bound})")


def refused_as_expensive(what: str, cost: Cost, parameters: set[str]) -> Check:
    """Refused at once, with a sentence that names one of the parameters to lower."""
    at_once, detail = refused_at_once(what, cost), sentence(cost.answer)
    names = parameters & set(re.findall(r"[\w]+", detail))
    holds = at_once.holds and cost.answer.problem in EXPENSIVE and bool(names)
    return Check(holds, f"{at_once.seen}; {detail!r} (naming {' or '.join(sorted(parameters))})")


def made_within(what: str, cost: Cost, seconds: float) -> Check:
    holds = cost.answer.status == 200 and cost.worker_seconds <= seconds
    return Check(holds, f"{what}: {cost} (200 within {seconds} s of processor)")


def unchanged(what: str, alone: list[float], beside: list[float]) -> Check:
    """Whether the 99th percentile of times is what it was without the attack."""
    before, after = quantile(alone, 0.99), quantile(beside, 0.99)
    bound = before * GROWTH + GROWTH_SECONDS
    middle = quantile(beside, 0.5)
    seen = f"p50 {middle * 1000:.0f} ms, p99 {after * 1000:.0f} ms beside the attack, {before * 1000:.0f} ms without it"
    return Check(bool(beside) and after <= bound, f"{what}: {seen} (at most {bound * 1000:.0f})")


def sentence(answer: Answer) -> str:
    found = re.search(rb'"detail"\s*:\s*"((?:[^"\\]|\\.)*)"', answer.body)
    return found[1].decode() if found else ""


def sees() -> bool:
    """Whether each broken bound is detected in made-up responses, and none in correct ones."""
    kind = {"content-type": "application/problem+json"}
    body = b'{"type": "/problems/too-expensive", "detail": "Lower \'w\'."}'
    good = Cost(Answer(422, kind, body, 0.1), 0.1)
    worse = [
        good._replace(answer=good.answer._replace(status=504)), good._replace(answer=good.answer._replace(headers={})),
        good._replace(answer=good.answer._replace(seconds=5)), good._replace(worker_seconds=5),
        good._replace(answer=good.answer._replace(body=b'{"type": "/problems/too-expensive", "detail": "No."}')),
    ]
    made = Cost(Answer(200, {}, b"", 0.1), 0.1)
    held = [refused_as_expensive("", good, {"w"}), made_within("", made, 1), unchanged("", [0.1], [0.11])]
    broken = [refused_as_expensive("", cost, {"w"}) for cost in worse]
    broken += [refused_within_budget("", cost) for cost in (worse[0], worse[3], made)]
    broken += [bounded("", worse[0]), bounded("", good._replace(worker_seconds=30)), made_within("", good, 1), made_within("", made, 0.05)]
    broken += [unchanged("", [0.1], [0.2]), unchanged("", [0.1], [])]
    is_sighted = all(check.holds for check in held) and not any(check.holds for check in broken)
    result = "detects each broken bound in made-up responses" if is_sighted else "misses broken bounds"
    print(f"attack: the judge {result}")
    return is_sighted
