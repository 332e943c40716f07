"""Pictures that say which they are: the colour names the source and its version, and no scaling changes it."""

import threading
import time
from functools import lru_cache
from typing import NamedTuple

from flat_png import Size, drawn, noise

SIZE = (64, 48)
WIDTHS = (8, 16, 24, 32, 64)
VERSIONS = 1 << 12


class Code(NamedTuple):
    source: int
    version: int

    @property
    def colour(self) -> bytes:
        return (self.source << 12 | self.version % VERSIONS).to_bytes(3)

    @staticmethod
    def of(colour: bytes) -> "Code":
        value = int.from_bytes(colour)
        return Code(value >> 12, value & VERSIONS - 1)


@lru_cache(maxsize=2_000)
def picture(code: Code) -> bytes:
    """12 to 43 KiB, so that a connection can break in the middle."""
    return drawn(SIZE, code.colour, noise(code.source, (12 + code.source % 32) << 10))


def scaled(width: int) -> Size:
    return width, width * SIZE[1] // SIZE[0]


class Versions:
    """Which version a source had when, as its origin knows."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.since: dict[int, list[tuple[float, int]]] = {}

    def current(self, source: int, seconds: float | None) -> int:
        """A new version each so many seconds, with 0 at each call, with None never."""
        now = time.monotonic()
        with self.lock:
            history = self.since.setdefault(source, [(now, 0)])
            began, version = history[-1]
            if seconds is not None and now - began >= seconds:
                history.append((now, version + 1))
            return history[-1][1]

    def valid(self, source: int, since: float) -> set[int]:
        """The versions that were current at that time or became so after it."""
        with self.lock:
            history = list(self.since.get(source, []))
        ends = [began for began, _ in history[1:]] + [float("inf")]
        return {version % VERSIONS for (_, version), end in zip(history, ends, strict=True) if end >= since}
