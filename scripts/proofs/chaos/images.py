"""Images that say which they are: the color names the source and its version, and no scaling changes it."""

import threading
import time
from functools import lru_cache
from typing import NamedTuple

from flat_png import Size, drawn, noise

SIZE = (64, 48)
WIDTHS = (8, 16, 24, 32, 64)
SOURCES, VERSIONS = 1 << 12, 1 << 12


class Code(NamedTuple):
    source: int
    version: int

    @property
    def color(self) -> bytes:
        return (self.source % SOURCES << 12 | self.version % VERSIONS).to_bytes(3)

    @staticmethod
    def of(color: bytes) -> "Code":
        value = int.from_bytes(color)
        return Code(value >> 12, value & VERSIONS - 1)


@lru_cache(maxsize=2_000)
def image(code: Code) -> bytes:
    """12 to 43 KiB, so that a connection can break in the middle."""
    return drawn(SIZE, code.color, noise(code.source, (12 + code.source % 32) << 10))


def scaled(width: int) -> Size:
    return width, width * SIZE[1] // SIZE[0]


class Versions:
    """Which version a source had when: a new one each so many seconds, with 0 at each request, with None never."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.began = time.monotonic()
        self.asked: dict[int, list[float]] = {}

    def next(self, source: int, seconds: float | None) -> int:
        """The version that an answer has now."""
        if seconds != 0:
            return self.at(time.monotonic(), seconds)
        with self.lock:
            times = self.asked.setdefault(source, [])
            times.append(time.monotonic())
            return len(times) - 1

    def valid(self, source: int, seconds: float | None, since: float) -> set[int]:
        """The versions that were current at that time or became so after it."""
        if seconds != 0:
            return {version % VERSIONS for version in range(self.at(since, seconds), self.at(time.monotonic(), seconds) + 1)}
        with self.lock:
            return {version % VERSIONS for version, at in enumerate(self.asked.get(source, [])) if at >= since}

    def at(self, when: float, seconds: float | None) -> int:
        return int(max(0, when - self.began) / seconds) if seconds else 0
