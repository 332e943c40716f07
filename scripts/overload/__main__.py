#!/usr/bin/env python3
"""Asks a server for ten times as much as it can do, and checks what it has promised for such times.

Finds the server's capacity first: new pictures, asked for by clients who wait for each answer. Then offers a multiple of that without
waiting for answers: most of it from one greedy client, some from a crowd, with a polite client and readers of cached pictures among
them; each has a loopback address of its own. At last it asks for large results at once, more than fit into the memory budget together.
Exit status 1: a promise was broken.

The options of the server can be changed with --with, to see that the checks notice: --with memory-budget=100GiB breaks the last one.
"""
import argparse
import asyncio
import itertools
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from client import Client  # noqa: E402

DEADLINE = 2.0
SLACK = 0.5
MIB = 1 << 20
GREEDY, POLITE, READER = "127.0.0.2", "127.0.0.3", "127.0.0.4"
CROWD = [f"127.0.1.{n}" for n in range(1, 11)]


class Server:
    """The server under test, in a process group of its own."""

    def __init__(self, path, overrides, **flags):
        self.folder = tempfile.TemporaryDirectory()
        flags = {"port": "0", "cache_dir": self.folder.name, "cache_disk_bytes": "0", "cache_memory_bytes": "64MiB",
                 "cache_decoded_bytes": "0", "allow_networks": "127.0.0.0/8", "downloads_per_host": "64",
                 "request_timeout": f"{DEADLINE:.0f}s", "download_timeout": f"{DEADLINE:.0f}s", "connect_timeout": "1s",
                 "log_level": "error", **flags, **overrides}
        words = [word for name, value in flags.items() for word in (f"--{name.replace('_', '-')}", value)]
        self.process = subprocess.Popen([path, "serve", *words], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        found = re.search(r"http://[0-9.]+:(\d+)", line)
        if not found:
            raise SystemExit("the server did not start")
        self.port = int(found.group(1))

    def tree(self):
        """Its process and all that it has started."""
        pids, rest = [], [self.process.pid]
        while rest:
            pid = rest.pop()
            pids.append(pid)
            try:
                for task in Path(f"/proc/{pid}/task").iterdir():
                    rest += [int(child) for child in (task / "children").read_text().split()]
            except OSError:
                pass
        return pids

    def memory(self, name):
        """The sum of VmRSS (now) or VmHWM (peak) of the tree, in MiB."""
        total = 0
        for pid in self.tree():
            try:
                status = Path(f"/proc/{pid}/status").read_text()
            except OSError:
                continue
            if found := re.search(rf"{name}:\s+(\d+)", status):
                total += int(found.group(1)) / 1024
        return total

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.folder.cleanup()


class Report:
    def __init__(self):
        self.broken = 0

    def promise(self, holds, text):
        self.broken += not holds
        print(f"  {'ok    ' if holds else 'BROKEN'} {text}", flush=True)


def quantile(values, share):
    return sorted(values)[min(int(len(values) * share), len(values) - 1)] if values else float("inf")


def pictures(origin, query="w=300&output=jpg"):
    """Addresses of pictures that nobody has asked for yet."""
    for number in itertools.count():
        yield f"/image?url=http://127.0.0.1:{origin}/{os.getpid()}-{next(COUNTER)}.png&{query}"


COUNTER = itertools.count()


async def capacity(port, targets, hot, seconds, reads_per_second):
    """Pictures a second, with the cached ones read beside them as later."""
    clients = [Client(port, address) for address in CROWD]
    reader = Client(port, READER)
    start = time.monotonic()
    reading = asyncio.create_task(reader.offer(hot, reads_per_second, seconds))
    await asyncio.gather(*(client.repeat(targets, start + seconds, 1) for client in clients))
    await reading
    for client in [*clients, reader]:
        client.close()
    made = [a for c in clients for a in c.answers if a.status == 200 and a.at <= start + seconds]
    return len(made) / seconds, [a.seconds for a in reader.answers]


async def overload(port, targets, hot, offered, seconds, reads_per_second):
    greedy, polite, reader = Client(port, GREEDY), Client(port, POLITE), Client(port, READER)
    crowd = [Client(port, address) for address in CROWD]
    start = time.monotonic()
    await asyncio.gather(
        greedy.offer(targets, offered * 0.8, seconds),
        *(client.offer(targets, offered * 0.2 / len(crowd), seconds) for client in crowd),
        polite.repeat(targets, start + seconds, 1, pause=0.5),
        reader.offer(hot, reads_per_second, seconds))
    return start, greedy, polite, reader, crowd


async def flood(report, server, origin, options):
    targets = pictures(origin)
    warm = Client(server.port, READER)
    hot = [next(targets) for _ in range(20)]
    for target in hot:
        await warm.get(target)
    hot = itertools.cycle(hot)
    reads = options.reads
    rate, alone = await capacity(server.port, targets, hot, options.seconds, reads)
    print(f"capacity: {rate:.1f} new pictures a second beside {reads} cached ones; "
          f"cached p50 {quantile(alone, .5) * 1000:.1f} ms, p99 {quantile(alone, .99) * 1000:.1f} ms")
    offered = options.factor * rate
    start, greedy, polite, reader, crowd = await overload(
        server.port, targets, hot, offered, options.seconds, reads)
    askers = [greedy, polite, *crowd]
    answers = [a for c in askers for a in c.answers]
    good = [a for a in answers if a.status == 200]
    refused = [a for a in answers if a.status != 200]
    goodput = len([a for a in good if a.at <= start + options.seconds]) / options.seconds
    print(f"overload: {offered:.0f} new pictures a second offered for {options.seconds} s; {len(good)} made, "
          f"{len(refused)} refused, of the greedy client's {sum(a.status == 200 for a in greedy.answers)} of "
          f"{len(greedy.answers)}; made after p50 {quantile([a.seconds for a in good], .5):.2f} s; "
          f"refused after p50 {quantile([a.seconds for a in refused], .5) * 1000:.0f} ms")
    report.promise(goodput >= 0.9 * rate, f"goodput {goodput:.1f} a second is {goodput / rate:.0%} of capacity (90 %)")
    hits = [a.seconds for a in reader.answers]
    report.promise(quantile(hits, .99) < 0.05 and all(a.status == 200 for a in reader.answers),
                   f"cached pictures: p50 {quantile(hits, .5) * 1000:.1f} ms, p99 {quantile(hits, .99) * 1000:.1f} ms (50)")
    latest = max(a.seconds for a in answers)
    report.promise(latest <= DEADLINE + SLACK, f"latest answer after {latest:.2f} s ({DEADLINE} + {SLACK})")
    wrong = [a for a in refused if a.status != 503 or not (a.field(b"retry-after") or "").isdigit()]
    report.promise(not wrong, f"every refusal is a 503 with Retry-After: {len(wrong)} are not "
                              f"{sorted({a.status for a in wrong})}")
    failures = [f for c in [*askers, reader] for f in c.failures]
    report.promise(not failures, f"every request was answered: {len(failures)} were not {failures[:2]}")
    served = sum(a.status == 200 for a in polite.answers)
    report.promise(served >= 0.95 * len(polite.answers) and served > 0,
                   f"the polite client got {served} of {len(polite.answers)}, "
                   f"after p50 {quantile([a.seconds for a in polite.answers], .5):.2f} s")
    for client in [*askers, reader, warm]:
        client.close()


async def fill(report, server, origin, options):
    """Results so large that few of them fit at a time."""
    targets = pictures(origin, "output=png")
    clients = [Client(server.port, address) for address in CROWD]
    await clients[0].get(next(pictures(origin)))
    before = server.memory("VmRSS")
    await asyncio.gather(*(client.get(next(targets)) for client in clients for _ in range(2)))
    peak, made = server.memory("VmHWM"), sum(a.status == 200 for c in clients for a in c.answers)
    bound = options.budget_mib + options.base_mib
    report.promise(made > 1, f"{made - 1} large results made")
    report.promise(peak <= bound, f"peak of the process tree {peak:.0f} MiB, idle {before:.0f} MiB; memory budget "
                                  f"{options.budget_mib} + base {options.base_mib} MiB")
    for client in clients:
        client.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", required=True, help="the executable")
    parser.add_argument("--seconds", type=int, default=15, help="of each phase")
    parser.add_argument("--factor", type=float, default=10, help="times the capacity that is offered")
    parser.add_argument("--reads", type=int, default=50, help="cached pictures a second")
    parser.add_argument("--budget-mib", type=int, default=128, help="memory budget of the last phase")
    parser.add_argument("--base-mib", type=int, default=192, help="what the server takes besides: code, caches, downloads")
    parser.add_argument("--with", dest="overrides", action="append", default=[], metavar="SETTING=VALUE")
    options = parser.parse_args()
    overrides = dict(pair.replace("-", "_", pair.split("=")[0].count("-")).split("=", 1) for pair in options.overrides)
    report = Report()
    origin = subprocess.Popen([sys.executable, str(Path(__file__).parent / "origin.py")],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        port = int(origin.stdout.readline().split()[0])
        with Server(options.server, overrides) as server:
            asyncio.run(flood(report, server, port, options))
        print(f"memory: 20 large results at once, 8 threads, {options.budget_mib} MiB")
        flags = {"pixel_workers": "8", "memory_budget": f"{options.budget_mib}MiB", "request_timeout": "60s",
                 "cache_memory_bytes": "16MiB"}
        with Server(options.server, overrides, **flags) as server:
            asyncio.run(fill(report, server, port, options))
    finally:
        origin.stdin.close()
        origin.wait(timeout=10)
    sys.exit(1 if report.broken else 0)


if __name__ == "__main__":
    main()
