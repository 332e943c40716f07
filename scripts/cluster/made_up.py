"""Invented breaches, to check that the judge finds each of them."""

import time

from flat_png import drawn
from server import Answer

from chaos.images import Code, scaled
from judge import Asked, Judge, Purge
from origin import Origin

SOURCE, OTHER, WIDTH = 0, 3, 32


def missed() -> list[str]:
    """The kinds that the judge misses, and `a correct answer` if it objects to one."""
    origin = Origin()
    judge = Judge(origin, purge_seconds=1)
    now = time.monotonic()
    origin.edits = {SOURCE: [now - 4_000, now - 50]}
    judge.purged(Purge("url", now - 40, now - 40, {SOURCE: 2}))
    asked = Asked(SOURCE, WIDTH, now)
    right = answer(SOURCE, 2)
    middle = len(right.body) // 2
    damaged = right.body[:middle] + bytes([right.body[middle] ^ 1]) + right.body[middle + 1 :]
    made_up = {
        "unanswered": [right._replace(status=503)], "late": [right._replace(seconds=1_000)],
        "wrong": [
            right._replace(body=damaged), right._replace(body=right.body[:-20]), answer(OTHER, 0), answer(SOURCE, 2, WIDTH * 2),
        ],
        "stale": [answer(SOURCE, 0)], "purged": [answer(SOURCE, 1)],
    }
    found = [kind for kind, answers in made_up.items() for one in answers if (judge.fault(asked, one) or ("",))[0] != kind]
    origin.close()
    return found + (["a correct answer"] if judge.fault(asked, right) else [])


def answer(source: int, version: int, width: int = WIDTH) -> Answer:
    return Answer(200, {}, drawn(scaled(width), Code(source, version).color), 0.01)
