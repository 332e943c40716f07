"""SVG documents that are small to send and endless to render."""

import asyncio
import itertools
from collections.abc import Iterator

from attack.bombs import BOMBS, numbered
from attack.judge import THUMBNAIL_SECONDS, Check, bounded, refused_at_once, refused_within_budget
from attack.lab import HOSTILE, LOOPBACK, OTHER, Lab, cost, image
from overload.client import Client
from overload.judge import quantile
from server import Server

QUERIES = (
    "output=json&fields=all", "output=blurhash", "output=lqip", "w=40&q=auto", "w=6000&output=png",
    "w=5000&output=webp", "w=4000&output=avif", "w=4000&output=jpg",
)
FIRST, SECOND = "w=1500&output=png", "w=1400&output=webp"
BOMBS_AT_ONCE, BOMB_SECONDS, THUMBNAILS_PER_SECOND = 10, 15, 5


def uploaded_drawings(lab: Lab) -> Iterator[Check]:
    """A drawing whose rendering is endless is refused within seconds of processor time, and from then on at once."""
    with lab.server("--uploads=true") as server:
        for name, bomb in BOMBS.items():
            body = bomb()
            first, second = (cost(server, f"/image?{query}", "POST", body) for query in (FIRST, SECOND))
            yield refused_within_budget(f"POST /image?{FIRST}, {name} of {len(body)} bytes", first)
            yield refused_at_once(f"POST /image?{SECOND}, the same {name}", second)


def downloaded_drawings(lab: Lab) -> Iterator[Check]:
    """The same drawings are refused alike by URL, and the same bytes at another URL at once."""
    lab.origin.documents["drawing"] = lambda name: BOMBS[names[int(name.partition(".")[0]) % len(names)]]()
    names = list(BOMBS)
    with lab.server(LOOPBACK) as server:
        for number, name in enumerate(names):
            first = cost(server, path := image(lab.origin.url(f"drawing/{number}.svg"), FIRST))
            yield refused_within_budget(f"{path} ({name})", first)
            elsewhere = cost(server, path := image(lab.origin.url(f"drawing/{number + len(names)}.svg"), SECOND))
            yield refused_at_once(f"{path} (the same {name})", elsewhere)


def drawings_in_other_forms(lab: Lab) -> Iterator[Check]:
    """A description, a placeholder or an image of any size of such a drawing takes as little."""
    with lab.server("--uploads=true") as server:
        for number, query in enumerate(QUERIES):
            made = cost(server, f"/image?{query}", "POST", numbered(number))
            yield bounded(f"POST /image?{query}", made)


def thumbnails_beside_drawings(lab: Lab) -> Iterator[Check]:
    """Beside ten endless drawings at any time, thumbnails of other clients have a p99 of at most 1 s."""
    with lab.server(LOOPBACK) as server:
        hostile, other = asyncio.run(beside(server, lab))
    answered = [answer.seconds for answer in other.answers if answer.status == 200]
    statuses = sorted({answer.status for answer in hostile.answers})
    asked = len(other.answers) + len(other.failures)
    p99 = quantile(answered, 0.99)
    yield Check(
        len(answered) == asked and p99 <= THUMBNAIL_SECONDS,
        f"{len(answered)} of {asked} thumbnails, p50 {quantile(answered, 0.5):.2f} s, p99 {p99:.2f} s, beside "
        f"{len(hostile.answers)} drawings answered with {statuses} (all, p99 at most {THUMBNAIL_SECONDS} s)",
    )


async def beside(server: Server, lab: Lab) -> tuple[Client, Client]:
    """Ten connections send drawings, each with other bytes; another client asks for thumbnails at a steady rate."""
    hostile, other = Client(server.port, HOSTILE), Client(server.port, OTHER)
    await other.get(image(lab.origin.url("photo/first.jpg"), "w=40"))
    other.answers.clear()
    bombs = (image(lab.origin.url(f"bomb/{number}.svg"), FIRST) for number in itertools.count())
    photographs = (image(lab.origin.url(f"photo/{number}.jpg"), "w=40") for number in itertools.count())
    end = asyncio.get_running_loop().time() + BOMB_SECONDS
    senders = [asyncio.create_task(hostile.repeat(bombs, end, pause=0.2)) for _ in range(BOMBS_AT_ONCE)]
    await asyncio.sleep(1)
    await other.offer(photographs, THUMBNAILS_PER_SECOND, BOMB_SECONDS - 1)
    await asyncio.gather(*senders)
    for client in (hostile, other):
        client.close()
    return hostile, other


ATTACKS = [uploaded_drawings, downloaded_drawings, drawings_in_other_forms, thumbnails_beside_drawings]
