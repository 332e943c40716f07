"""The resources that a server's worker processes use, as reported by the kernel."""

import time
from contextlib import suppress
from typing import NamedTuple

from processes import PROC, children, cpu_seconds

POLL_SECONDS, MOST_BUSY_SECONDS = 0.02, 60


class Usage(NamedTuple):
    seconds: float
    """Processor time of all workers so far."""
    resident: dict[int, int]
    """Bytes of each worker's resident set."""

    @staticmethod
    def before(server: int) -> "Usage":
        """The usage once all workers are idle; forgets the peaks of memory."""
        seconds = idle_seconds(server)
        workers = [process.pid for process in children(server) if process.state != "Z"]
        for worker in workers:
            with suppress(OSError):
                (PROC / str(worker) / "clear_refs").write_text("5")
        return Usage(seconds, {worker: status(worker, "VmRSS") for worker in workers})

    def since(self, server: int) -> tuple[float, int]:
        """Processor seconds since then, and the greatest growth of a worker to its peak, in bytes.

        Work that goes on after the response counts. A worker that has been started since is compared to the smallest one
        before.
        """
        seconds = idle_seconds(server) - self.seconds
        least = min(self.resident.values(), default=0)
        growth = (
            status(process.pid, "VmHWM") - self.resident.get(process.pid, least)
            for process in children(server) if process.state != "Z")
        return seconds, max(growth, default=0)


def idle_seconds(server: int) -> float:
    """The processor time of all workers so far, once none of them runs or waits for a processor."""
    deadline = time.monotonic() + MOST_BUSY_SECONDS
    while any(process.state in "RD" for process in children(server)) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    return cpu_seconds(server)[1]


def status(pid: int, name: str) -> int:
    with suppress(OSError):
        for line in (PROC / str(pid) / "status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
    return 0
