"""The parts of the proof and their results."""

import argparse
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from cluster import SHOWN, Cluster
from judge import Judge, percentile
from nodes import Settings
from store import Store

from edge.caches import BannedVarnish, Cache, Nginx, Varnish, missing
from edge.load import Load

# How long a node may take to answer, and so how long an old answer may be on its way to a cache.
SETTINGS = ("--request-timeout=4s", "--download-timeout=3s", "--connect-timeout=2s", "--stale-if-error=0s")
PURGE_POLL = 1
PARTS = ("one", "ban", "three")
DOWN_SECONDS = 3
# A request without an image, while a node is down or the machine is busy, is shown but is not the claim here.
FATAL = ("purged", "stale", "wrong")


class NoStore:
    """What the harness of several nodes asks a store for, where there is one node alone."""

    address = "127.0.0.1:9"
    credentials: dict[str, str] = {}
    bucket = region = ""


def run(arguments: argparse.Namespace) -> int:
    if packages := missing():
        print(f"edge: install {', '.join(packages)}", file=sys.stderr)
        return 77
    # Ends the processes in order.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    arguments.clients, arguments.purge_poll, arguments.without = 6, PURGE_POLL, set()
    folder = Path(tempfile.mkdtemp(prefix="edge-"))
    folder.chmod(0o755)
    try:
        if arguments.self_test:
            return self_test(arguments, folder)
        breaches = 0
        for part in [arguments.only] if arguments.only else PARTS:
            judge = proved(arguments, folder, part)
            breaches += sum(judge.count(kind) for kind in FATAL)
        return 1 if breaches else 0
    finally:
        if arguments.keep:
            print(f"edge: logs are in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def self_test(arguments: argparse.Namespace, folder: Path) -> int:
    arguments.seconds = min(arguments.seconds, 15)
    missed = []
    for defense in ("tags", "purges"):
        judge = proved(arguments, folder, "one", without=defense)
        stale = judge.count("purged")
        print(f"edge: without {defense}, the proof finds {stale} stale answers", flush=True)
        missed += [] if stale else [defense]
    for defense in missed:
        print(f"edge: without {defense}, the proof finds nothing", file=sys.stderr)
    return 1 if missed else 0


def proved(arguments: argparse.Namespace, folder: Path, part: str, without: str = "") -> Judge:
    folder = Path(tempfile.mkdtemp(prefix=f"{part}-", dir=folder))
    folder.chmod(0o755)
    with ExitStack() as stack:
        store = NoStore()
        if part == "three":
            store = Store(folder / "store")
            stack.callback(store.end)
        cluster = Cluster(arguments, folder, store, part)
        cluster.judge = Judge(cluster.origin, 0)
        if part != "three":
            # One node alone has no store.
            cluster.settings = Settings(arguments.server, store, part, PURGE_POLL, {"shared-store"})
        return measured(arguments, cluster, stack, part, without)


def measured(arguments: argparse.Namespace, cluster: Cluster, stack: ExitStack, part: str, without: str) -> Judge:
    kinds = [BannedVarnish] if part == "ban" else [Varnish, Nginx]
    caches: list[Cache] = [kind(cluster.folder, tags=without != "tags") for kind in kinds]
    settings = [*SETTINGS, "--response-tags=xkey"]
    if without != "purges":
        settings += [f"--purge-to={','.join(cache.edge for cache in caches)}"]
    stack.enter_context(cluster.running(3 if part == "three" else 1, *settings))
    for cache in caches:
        cache.start(cluster.balancer.port)
        stack.callback(cache.end)
    load = Load(caches, cluster.nodes, cluster.origin, cluster.judge, arguments.seed)
    with load.at_work():
        began = time.monotonic()
        if part == "three":
            deaths(cluster, arguments)
        while (rest := arguments.seconds - (time.monotonic() - began)) > 0:
            cluster.during(min(rest, 5))
    shown(part if not without else f"{part} without {without}", load, cluster.judge)
    return cluster.judge


def deaths(cluster: Cluster, arguments: argparse.Namespace) -> None:
    """Each node in turn is killed and started again."""
    choice = random.Random(arguments.seed)
    for node in choice.sample(cluster.nodes, len(cluster.nodes)):
        cluster.during(arguments.seconds / 5)
        node.kill()
        cluster.progress(f"{node.name} is killed")
        cluster.during(DOWN_SECONDS)
        node.start()
        node.wait_until_ready()


def share(name: str, counts: Counter[str]) -> str:
    answers, hits = counts[f"{name} answers"], counts[f"{name} hits"]
    return f"{name} {answers:,} answers ({100 * hits // max(answers, 1)} % hits)"


def shown(name: str, load: Load, judge: Judge) -> None:
    counts = load.counts
    hits = ", ".join(share(cache.name, counts) for cache in load.caches)
    purges = ", ".join(f"{value} {key}" for key, value in sorted(counts.items()) if key.startswith("purges"))
    print(
        f"edge: {name}: {hits}; {purges}; told after {percentile(load.waits, 0.5):.1f} s (p50), "
        f"{max(load.waits, default=0):.1f} s at most; {judge.count('purged')} stale answers, "
        f"{judge.count('unanswered') + judge.count('late')} without an image",
        flush=True)
    for kind, number in Counter(kind for kind, _ in judge.breaches).items():
        print(f"edge: {number} × {kind}, such as:", file=sys.stderr)
        for text in list(dict.fromkeys(text for one, text in judge.breaches if one == kind))[:SHOWN]:
            print(f"edge:     {text}", file=sys.stderr)
