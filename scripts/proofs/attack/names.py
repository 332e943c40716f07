"""Host names: some lookups are never answered, and some lead to internal addresses. Runs in the network namespace of `ssrf`."""

import asyncio
import itertools
import re
from collections.abc import Iterator

from attack.judge import Check, unchanged
from attack.lab import HOSTILE, OTHER, Lab, asked, image
from attack.origin import Origin
from overload.client import Client
from server import Answer, Server, encoded
from ssrf.names import NOBODY, PUBLIC
from ssrf.resolver import Resolver

GOOD = "good.test"
SILENT, UNKNOWN, INTERNAL = "silent.test", "unknown.test", "internal.test"
SILENT_PER_SECOND, GOOD_PER_SECOND, SECONDS = 50, 10, 15
REQUESTS = (
    "/image?w=40&url={}", "/info?url={}", "/image?w=40&default=1&url={}", "/?w=40&url={}",
    "/image?w=40&default=http%3A%2F%2Fx.unknown.test%2F1.jpg&url={}",
)
REVEALING = ("cache-status", "proxy-status", "location", "retry-after", "cache-control")
WARM_SECONDS = 3
"""The attack begins this long before the measurement."""


def answers(name: str, asked_before: int) -> list[tuple[str, str]]:
    """The responses of the resolver: no name at all is a name that does not exist."""
    if name.endswith(SILENT):
        return NOBODY
    if name.endswith(UNKNOWN):
        return []
    return [(name, "10.1.2.3" if name.endswith(INTERNAL) else PUBLIC)]


def silent_images() -> Iterator[str]:
    """Images of names that are not answered: half of them below one domain, half with a domain of their own."""
    for number in itertools.count():
        yield image(f"http://a.host-{number}.{SILENT}/1.jpg", "w=40")
        yield image(f"http://host-{number}-{SILENT}/1.jpg", "w=40")


def resolver() -> Resolver:
    if not running:
        running.append(Resolver(answers))
    return running[0]


running: list[Resolver] = []


def slow_names(lab: Lab) -> Iterator[Check]:
    """Names that are never answered, 50 per second, leave other clients' p99 as it is, for names known and new."""
    resolver()
    origin = Origin(PUBLIC, 80)
    origin.documents["photo"] = lambda _: lab.photograph(400, 300)
    try:
        with lab.server() as server:
            asked(server, image(f"http://{GOOD}/photo/first.jpg", "w=40"))
            alone = asyncio.run(good_names(server, "before"))
            hostile, beside = asyncio.run(good_names_beside(server))
            for known in (True, False):
                name = "one name" if known else "a new name each"
                what = f"{len(beside[known])} requests for {name}"
                yield unchanged(what, seconds(alone[known]), seconds(beside[known]))
        everyone = [answer for half in (True, False) for answer in beside[half]]
        good = sum(answer.status == 200 for answer in everyone)
        expected = int(GOOD_PER_SECOND / 2 * SECONDS) * 2
        yield Check(good == expected, f"{good} of {expected} were answered with an image (all)")
        statuses = sorted({answer.status for answer in hostile.answers})
        refused = {403, 429, 502, 503, 504}
        yield Check(refused.issuperset(statuses), f"{len(hostile.answers)} hostile requests: {statuses} (refused)")
    finally:
        origin.close()


def seconds(found: list[Answer]) -> list[float]:
    return [answer.seconds for answer in found]


async def good_names(server: Server, round: str) -> dict[bool, list[Answer]]:
    """New images at a steady rate, by whether their name has been resolved before."""
    found = {}
    clients = {known: Client(server.port, OTHER) for known in (True, False)}
    urls = {
        True: (f"http://{GOOD}/photo/{round}-{number}.jpg" for number in itertools.count()),
        False: (f"http://{round}-{number}-{GOOD}/photo/1.jpg" for number in itertools.count()),
    }
    paths = {known: (image(url, "w=40") for url in urls[known]) for known in urls}
    await asyncio.gather(*(clients[known].offer(paths[known], GOOD_PER_SECOND / 2, SECONDS) for known in clients))
    for known, client in clients.items():
        found[known] = client.answers
        client.close()
    return found


async def good_names_beside(server: Server) -> tuple[Client, dict[bool, list[Answer]]]:
    hostile = Client(server.port, HOSTILE)
    attack = asyncio.create_task(hostile.offer(silent_images(), SILENT_PER_SECOND, SECONDS + WARM_SECONDS))
    await asyncio.sleep(WARM_SECONDS)
    found = await good_names(server, "beside")
    await attack
    hostile.close()
    return hostile, found


def internal_names(lab: Lab) -> Iterator[Check]:
    """A name that leads to a private address is answered like a name that does not exist."""
    resolver()
    with lab.server() as server:
        for number, request in enumerate(REQUESTS):
            urls = [encoded(f"http://host-{number}.{name}/1.jpg") for name in (INTERNAL, UNKNOWN)]
            for when in ("first", "second"):
                private, missing = (normal(asked(server, request.format(url))) for url in urls)
                yield Check(private == missing, f"{request}, {when} time: {private} | {missing} (the same)")


def normal(answer: Answer) -> str:
    """What a client learns from a response, without the name that it has sent itself and what differs each time."""
    # How long a failure is remembered is random, within a second.
    fields = [re.sub(r"\b\d+", "n", f"{name}: {answer.headers[name]}") for name in REVEALING if name in answer.headers]
    text = re.sub(rb'"instance":\s*"[^"]*"', b"", answer.body).decode(errors="replace")
    return re.sub(rf"{INTERNAL}|{UNKNOWN}", "NAME", ", ".join((str(answer.status), *fields, text)))


ATTACKS = [slow_names, internal_names]
