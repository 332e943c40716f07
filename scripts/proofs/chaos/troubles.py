"""Failures of processes and disk while clients send requests."""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

from processes import children
from chaos.judge import Judge
from chaos.lives import Lives
from chaos.volume import Volume

PAUSE_SECONDS = (0.3, 2.5)
STOPPED_SECONDS = (0.5, 4)
FULL_SECONDS = 3


class Troubles:
    def __init__(self, lives: Lives, volume: Volume, judge: Judge, seed: int) -> None:
        self.lives, self.volume, self.judge = lives, volume, judge
        self.choice = random.Random(seed)
        self.counts: Counter[str] = Counter()

    def go_on(self, seconds: float, *, may_end_the_server: bool) -> None:
        kinds: list[tuple[Callable[[], str], int]] = [(self.kill_a_worker, 4), (self.stop_a_worker, 2)]
        kinds += [(self.fill_the_disk, 1)] if self.volume.can_be_full else []
        kinds += [(self.kill_the_server, 2), (self.end_the_server, 1)] if may_end_the_server else []
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, self.choice.uniform(*PAUSE_SECONDS)))
            kind = self.choice.choices([kind for kind, _ in kinds], [weight for _, weight in kinds])[0]
            self.counts[kind()] += 1

    def kill_a_worker(self) -> str:
        return "workers killed" if self.signalled(signal.SIGKILL) else "times there was no worker to kill"

    def stop_a_worker(self) -> str:
        if not (pid := self.signalled(signal.SIGSTOP)):
            return "times there was no worker to stop"
        time.sleep(self.choice.uniform(*STOPPED_SECONDS))
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
        return "workers stopped for a while"

    def signalled(self, kind: signal.Signals) -> int | None:
        pids = [process.pid for process in children(self.lives.server.process.pid) if process.state != "Z"]
        if not pids:
            return None
        pid = self.choice.choice(pids)
        with suppress(ProcessLookupError):
            os.kill(pid, kind)
        return pid

    def fill_the_disk(self) -> str:
        self.volume.fill()
        time.sleep(FULL_SECONDS)
        self.volume.free()
        return "times the disk was full"

    def kill_the_server(self) -> str:
        self.lives.kill()
        self.lives.begin()
        return "servers killed"

    def end_the_server(self) -> str:
        if status := self.lives.stop():
            self.judge.breaches.append(f"the server exited with status {status} after SIGTERM")
        self.lives.begin()
        return "servers ended by SIGTERM"
