"""Proves what several nodes with a shared store and HAProxy promise, on loopback.

 1 kills    nodes killed, paused and started again: each request answered, each image right, nothing downloaded twice
 2 wiped    all disks wiped: variants come back from the store, by a GET each and without a request to the origin
 3 joined   a node added: a quarter of the sources moves, and the hit ratio stays
 4 outages  store paused, refusing, full, damaging: answers go on, memory is flat, the store is used again afterward
 5 purges   purges during all this: nobody gets purged content after purge-poll + 1 s
 6 cold     300 equal cold requests: one download, one production
 7 slow     a node's store takes 0.5 s and 2 s for each request: it serves nothing purged, and learns of each purge
 8 restarts restarts after a month of purges: what was stored after them stays
 9 long     100,000 purges in the log: nodes start as quickly as without them, and keep disk and store
10 big      111,000 entries purged at once: other nodes hear of it at once, and new images go on reaching them
11 upgrade  nodes of the last release (--last) are upgraded one by one: purges reach both, nothing wrong is served

Exit status: 0 no breach, 1 a breach, 2 wrong usage. With --self-test, each check must find breaches without its defense.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# Servers, process trees, and images of a single color.
sys.path.append(str(ROOT / "scripts/proofs"))

import made_up  # noqa: E402
import page  # noqa: E402
from cluster import SHOWN, Result  # noqa: E402
from nodes import SHARED_SETTING  # noqa: E402
from server import knows  # noqa: E402
from store import Store  # noqa: E402

PROOFS = {
    1: "kills", 2: "wiped", 3: "joined", 4: "outages", 5: "purges", 6: "cold", 7: "slow", 8: "restarts", 9: "long", 10: "big",
    11: "upgrade",
}
# Five of kills, one before the outages and one for each of them, and one each of purges, slow and upgrade.
MINUTES, MIN_MINUTES = 13, 2
DEFENSES = [
    "retries", "checks", "hand-over", "hash", "slack", "shared-store", "deadline", "purge-poll", "freshness",
    "progress", "summaries",
]
# Defense, the proof that misses it, the kind of breach that must be found.
SELF_TEST = [
    ("retries", 1, "unanswered"), ("hand-over", 1, "late"), ("freshness", 1, "stale"), ("shared-store", 1, "downloaded twice"),
    ("shared-store", 2, "origin asked"), ("hash", 3, "moved"), ("shared-store", 3, "hit ratio"), ("deadline", 4, "slow"),
    ("purge-poll", 5, "purged"), ("shared-store", 5, "purged"), ("hash", 6, "not shared"), ("slack", 6, "not shared"),
    ("purge-poll", 7, "purged"), ("progress", 8, "asked again"), ("summaries", 9, "asked again"), ("purge-poll", 10, "purged"),
    ("shared-store", 10, "held up"), ("purge-poll", 11, "purged"),
]


def main() -> int:
    arguments = parsed()
    # Ends the processes in order.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = Path(tempfile.mkdtemp(prefix="cluster-", dir=memory()))
    if missed := made_up.missed():
        print(f"cluster: the judge misses {', '.join(missed)}", file=sys.stderr)
        return 1
    store = Store(folder / "store")
    try:
        is_shared = knows(arguments.server, SHARED_SETTING)
        if not is_shared:
            print("cluster: THIS EXECUTABLE HAS NO SHARED TIER, so that proofs which rely on it find breaches", flush=True)
        if arguments.self_test:
            return self_test(arguments, folder, store, is_shared)
        results = {}
        for number in arguments.only or PROOFS:
            if is_possible(number, arguments):
                results[number] = proved(number, arguments, folder, store)
        report(arguments, results)
        return 1 if any(result.breaches for result in results.values()) else 0
    finally:
        store.end()
        if arguments.keep:
            print(f"cluster: logs are in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="cluster", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", type=Path, help="path of the executable (default: the release build)")
    parser.add_argument("--only", type=int, action="append", choices=PROOFS, help="one proof; may be repeated")
    parser.add_argument("--short", action="store_true", help="a sixth of each duration")
    parser.add_argument("--minutes", type=float, default=MINUTES, help=f"sum of the durations below, scaled alike ({MINUTES})")
    parser.add_argument("--kill-seconds", type=float, default=300, help="duration of proof 1 (300)")
    parser.add_argument("--outage-seconds", type=float, default=60, help="duration of each outage of proof 4 (60)")
    parser.add_argument("--purge-seconds", type=float, default=60, help="duration of proofs 5, 7 and 11 by themselves (60)")
    parser.add_argument("--logged", type=int, default=100_000, help="purges in the log of proof 9 (100000)")
    parser.add_argument("--purged", type=int, default=111_000, help="entries that proof 10 purges (111000)")
    parser.add_argument("--last", type=Path, help="executable of the last release, for proof 11, which is left out without it")
    parser.add_argument("--purge-poll", type=int, default=5, help="the nodes' setting, in seconds (5)")
    parser.add_argument("--clients", type=int, default=6, help="requests at a time (6)")
    parser.add_argument("--seed", type=int, default=1, help="of all random choices (1)")
    parser.add_argument("--without", action="append", default=[], choices=DEFENSES, help="leaves out a defense; may be repeated")
    parser.add_argument("--self-test", action="store_true", help="short proofs without each defense must find breaches")
    parser.add_argument("--keep", action="store_true", help="keeps logs")
    parser.add_argument("--page", type=Path, help="page whose table of figures is replaced, after a run of all proofs")
    arguments = parser.parse_args()
    arguments.without = set(arguments.without)
    arguments.server = (arguments.server or ROOT / ".build/release/darkroom").resolve()
    if not arguments.server.exists():
        parser.error(f"{arguments.server} does not exist; build it with `make release`")
    if arguments.last and not arguments.last.exists():
        parser.error(f"{arguments.last} does not exist")
    if arguments.minutes < MIN_MINUTES:
        parser.error(f"--minutes must be at least {MIN_MINUTES}: shorter outages show nothing")
    for name in ("kill_seconds", "outage_seconds", "purge_seconds"):
        setattr(arguments, name, getattr(arguments, name) * arguments.minutes / MINUTES)
    if arguments.short or arguments.self_test:
        shortened(arguments)
    return arguments


def shortened(arguments: argparse.Namespace) -> None:
    arguments.kill_seconds /= 6
    arguments.outage_seconds /= 6
    arguments.purge_seconds /= 3
    # With more than 10,000, purges are not read one by one.
    arguments.logged = min(arguments.logged, 10_500)
    arguments.purged = min(arguments.purged, 11_100)


def is_possible(number: int, arguments: argparse.Namespace) -> bool:
    if PROOFS[number] == "upgrade" and not arguments.last:
        print("cluster: upgrade: not run, since --last names no executable of the last release", flush=True)
        return False
    return True


def proved(number: int, arguments: argparse.Namespace, folder: Path, store: Store) -> Result:
    name = PROOFS[number]
    began = time.monotonic()
    # Whatever the last proof did to it.
    store.go_on()
    store.start()
    part = Path(tempfile.mkdtemp(prefix=f"{number}-", dir=folder))
    result = import_module(name).run(arguments, part, store)
    if not arguments.keep:
        shutil.rmtree(part)
    took = f"{time.monotonic() - began:.0f} s"
    print(f"cluster: {name}: {'NO BREACH' if not result.breaches else f'{len(result.breaches)} BREACHES'} in {took}", flush=True)
    return result


def self_test(arguments: argparse.Namespace, folder: Path, store: Store, is_shared: bool) -> int:
    missed = []
    for defense, number, kind in SELF_TEST:
        if arguments.only and number not in arguments.only or not is_possible(number, arguments):
            continue
        if defense in ("deadline", "purge-poll") and not is_shared:
            print(f"cluster: without {defense}: not tested, since there is no shared tier")
            continue
        arguments.without = {defense}
        result = proved(number, arguments, folder, store)
        found = sum(one == kind for one, _ in result.breaches)
        print(f"cluster: without {defense}, proof {number} finds {found} × {kind}", flush=True)
        missed += [f"without {defense}, proof {number} finds nothing {kind}"] if not found else []
    for text in missed:
        print(f"cluster: {text}", file=sys.stderr)
    return 1 if missed else 0


def report(arguments: argparse.Namespace, results: dict[int, Result]) -> None:
    print("\n| Proof | Result | Breaches |\n|---|---|---|")
    for number, result in results.items():
        figures = "; ".join(f"{name} {shown(value)}" for name, value in result.figures.items())
        print(f"| {number} {PROOFS[number]} | {figures} | {len(result.breaches)} |")
    for number, result in results.items():
        for kind, count in Counter(kind for kind, _ in result.breaches).items():
            print(f"cluster: {PROOFS[number]}: {count} × {kind}, such as:", file=sys.stderr)
            for text in list(dict.fromkeys(text for one, text in result.breaches if one == kind))[:SHOWN]:
                print(f"cluster:     {text}", file=sys.stderr)
    file = ROOT / ".build/cluster/latest.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    options = {name: str(value) for name, value in vars(arguments).items() if name != "server"}
    file.write_text(json.dumps({
        "commit": commit, "options": options,
        "proofs": {PROOFS[number]: {"figures": result.figures, "breaches": Counter(kind for kind, _ in result.breaches)}
                   for number, result in results.items()},
    }, indent=2, default=str))
    if arguments.page:
        page.written(
            arguments.page, f"`make cluster` on {time.strftime('%Y-%m-%d')} at {commit}, {os.cpu_count()} processors:",
            {PROOFS[number]: result.figures for number, result in results.items()},
            {PROOFS[number]: len(result.breaches) for number, result in results.items()})


def shown(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def memory() -> Path | None:
    """A file system in memory, so that the store's disk is no bottleneck."""
    path = Path("/dev/shm")
    return path if path.is_dir() and shutil.disk_usage(path).free > 4 << 30 else None


if __name__ == "__main__":
    sys.exit(main())
