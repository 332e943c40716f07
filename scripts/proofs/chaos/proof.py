"""The phases: a check of the harness, many short-lived servers, one long-lived server, and the final state."""

import argparse
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from processes import Holdings, children, waited_for
from chaos.behaviors import BEHAVIORS, FINE, IMAGE, SOURCES_EACH
from chaos.clients import Clients
from chaos.judge import Asked, Judge, sees_breaches
from chaos.lives import Lives
from chaos.origin import Origin
from chaos.remains import inconsistencies, unfinished
from chaos.troubles import Troubles
from chaos.volume import Volume

WARM_SECONDS = 15
QUIET_SECONDS = 90
ONE_LIFE_SHARE = 1 / 3


def run(arguments: argparse.Namespace) -> int:
    folder = Path(tempfile.mkdtemp(prefix="darkroom-chaos-"))
    volume = Volume(folder / "cache")
    chaos = Chaos(arguments, folder, volume)
    try:
        if not chaos.harness_sees():
            return 1
        chaos.many_lives(arguments.minutes * 60 * (1 - ONE_LIFE_SHARE))
        chaos.one_life(arguments.minutes * 60 * ONE_LIFE_SHARE)
        chaos.afterwards()
    finally:
        if chaos.lives.server:
            chaos.lives.kill()
        chaos.report(arguments)
        if not chaos.judge.breaches:
            shutil.rmtree(folder, ignore_errors=True)
        volume.remove()
    return 1 if chaos.judge.breaches else 0


class Chaos:
    def __init__(self, arguments: argparse.Namespace, folder: Path, volume: Volume) -> None:
        self.folder, self.volume, self.count = folder, volume, arguments.clients
        self.origin = Origin()
        self.judge = Judge(self.origin.versions)
        self.lives = Lives(arguments.server, folder, arguments.settings.split())
        self.clients = Clients(self.lives, self.origin, self.judge, arguments.seed)
        self.troubles = Troubles(self.lives, volume, self.judge, arguments.seed)
        self.held: list[Holdings] = []
        self.began = time.monotonic()

    def harness_sees(self) -> bool:
        """Whether correct responses pass, and every kind of made-up breach is detected."""
        server = self.lives.begin()
        self.judge.may_lose_workers = bool(children(server.process.pid))
        asked, other = (Asked("changing", number, 16, time.monotonic()) for number in (0, 1))
        answer, of_other = (server.ask(self.clients.path(one)) for one in (asked, other))
        faults = [fault for one, given in ((asked, answer), (other, of_other)) if (fault := self.judge.fault(one, given))]
        unseen = sees_breaches(self.judge, asked, answer, of_other) if not faults else faults
        leaky = Holdings(1_000, 100, 9, 1, 10_000)
        if len(leaky.leaks_since(Holdings(50, 20, 3, 0, 200))) != len(leaky):
            unseen.append("a leak")
        self.lives.stop()
        for breach in unseen:
            print(f"chaos: the harness misses {breach}", file=sys.stderr)
        print(f"chaos: the harness {'misses breaches' if unseen else 'detects every kind of made-up breach'}")
        print(f"chaos: workers {'are' if self.judge.may_lose_workers else 'are not processes here, so none is'} killed; the disk", end=" ")
        print("runs full" if self.volume.can_be_full else "cannot be filled without permission to mount", flush=True)
        return not unseen

    def many_lives(self, seconds: float) -> None:
        self.lives.begin()
        with self.clients.at_work(self.count):
            self.troubles.go_on(seconds, may_end_the_server=True)
        self.end()

    def one_life(self, seconds: float) -> None:
        server = self.lives.begin()
        with self.clients.at_work(self.count):
            time.sleep(min(WARM_SECONDS, seconds / 3))
        self.held.append(Holdings.of(server.process.pid))
        with self.clients.at_work(self.count):
            self.troubles.go_on(seconds, may_end_the_server=False)
        before = self.held[0]
        waited_for(lambda: not Holdings.of(server.process.pid).leaks_since(before), QUIET_SECONDS)
        self.held.append(Holdings.of(server.process.pid))
        self.judge.breaches += [f"a leak: {leak}" for leak in self.held[1].leaks_since(before)]
        waited_for(lambda: not unfinished(self.folder / "cache"), QUIET_SECONDS)
        self.judge.breaches += unfinished(self.folder / "cache")
        self.end()

    def end(self) -> None:
        if status := self.lives.stop():
            self.judge.breaches.append(f"the server exited with status {status} after SIGTERM")

    def afterwards(self) -> None:
        """The next server finds a consistent cache, and serves every image of a working origin."""
        self.judge.breaches += inconsistencies(self.folder / "cache")
        server = self.lives.begin()
        for name in FINE:
            for number in range(SOURCES_EACH):
                asked = Asked(name, number, 24, time.monotonic())
                answer = server.ask(self.clients.path(asked))
                self.judge.judge(asked, answer)
                self.clients.counts["images requested at the end"] += 1
                if answer.status != 200:
                    self.judge.breaches.append(f"{name}/{number} is still {answer.status} {answer.problem} at the end")
        self.end()
        self.judge.breaches += inconsistencies(self.folder / "cache")

    def report(self, arguments: argparse.Namespace) -> None:
        print(f"chaos: {time.monotonic() - self.began:.0f} s, seed {arguments.seed}, {len(self.judge.breaches)} breaches")
        for count in (self.troubles.counts, self.clients.counts):
            for name, number in count.items():
                print(f"{number:8,} {name}")
        print(f"{sum(self.judge.outcomes.values()):8,} responses checked, the slowest after {self.judge.slowest:.1f} s; by result:")
        for name in BEHAVIORS:
            came = Counter({kind: number for (one, kind), number in self.judge.outcomes.items() if one == name})
            print(f"  {name:22}" + ", ".join(f"{number:,} {kind}" for kind, number in came.most_common()))
        fine = [(kind, number) for (name, kind), number in self.judge.outcomes.items() if name in FINE]
        good = sum(number for kind, number in fine if kind == IMAGE)
        print(f"{good / max(1, sum(number for _, number in fine)):8.1%} of requests to working origins returned an image")
        for when, held in zip(("before", "after"), self.held, strict=False):
            print(f"{when:>8}: " + ", ".join(f"{value:,} {name.replace('_', ' ')}" for name, value in held._asdict().items()))
        for breach, number in Counter(self.judge.breaches).most_common(30):
            print(f"chaos: {number} × {breach}", file=sys.stderr)
        if self.judge.breaches:
            print(f"chaos: the log is in {self.folder}", file=sys.stderr)
