"""The CPU time that a phase costs the load generator, the server process and its workers."""

import os
import time
from typing import NamedTuple

from processes import cpu_seconds, times


class Costs(NamedTuple):
    """CPU seconds, or their sums until a moment."""

    generator: float
    """This process and the origin, which share a processor that the server does not use."""
    server: float
    workers: float
    wall: float

    @staticmethod
    def until_now(server: int, origin: int) -> "Costs":
        server_seconds, worker_seconds = cpu_seconds(server)
        return Costs(sum(os.times()[:2]) + sum(times(origin)), server_seconds, worker_seconds, time.monotonic())

    def since(self, before: "Costs") -> "Costs":
        return Costs(*(now - then for now, then in zip(self, before)))

    @property
    def generator_share(self) -> float:
        """The part of its processor that the load generator used."""
        return self.generator / self.wall
