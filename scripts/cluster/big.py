"""A node purges very many entries at once: other nodes hear of it at once, and new images go on reaching them."""

import argparse
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from copy import copy
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlencode

from chaos.images import SOURCES
from cluster import Cluster, Result
from judge import Purge
from load import path
from nodes import ADMIN, TIER_DETAIL
from processes import waited_for, written_bytes
from purges import WIDTH, direct
from server import Answer
from store import Store

ENTRIES_EACH = 3
"""Original, record and variant of each source."""
HOSTS_STEP = 12
"""The distance of sources of the first host whose versions do not follow the clock."""
HELD = range(0, 20 * HOSTS_STEP, HOSTS_STEP)
"""Sources of that host that both nodes have. The rest is not judged: there are more sources than colors."""
NEW = range(HELD.stop + 3, SOURCES, HOSTS_STEP)
"""Sources of another host, each of them requested once."""
DISK = "--cache-disk-bytes=4GiB"
ANSWER_SECONDS, ANNOUNCE_SECONDS = 15, 2
"""The response comes after ten seconds or once the purge is over; the others hear of it before it is carried out."""
REACH_SECONDS, REACHED = 5, 0.9
"""How long a new image may take to the other node, and the share of images that must be there by then."""
AFTER_SECONDS, END_SECONDS = 3, 300
DISK_ENTRIES = 'darkroom_cache_entries{tier="disk"}'


def run(arguments: argparse.Namespace, folder: Path, store: Store) -> Result:
    cluster = Cluster(arguments, folder, store, "big")
    with cluster.running(2, DISK):
        judge, (node, other) = cluster.judge, cluster.nodes
        count = arguments.purged // ENTRIES_EACH
        fill(cluster, [number * SOURCES * HOSTS_STEP for number in range(1, count + 1)])
        for source in HELD:
            direct(cluster, node, source)
            direct(cluster, other, source)
        before, made = entries(cluster), []
        written = written_bytes(node.server.process.pid)
        with beside(lambda: [direct(cluster, other, source) for source in HELD]), beside(lambda: make(cluster, made)):
            began = time.monotonic()
            answer = purged(cluster)
            is_done = waited_for(lambda: entries(cluster) < before - arguments.purged + ENTRIES_EACH * len(made), END_SECONDS)
            took = time.monotonic() - began
            written = written_bytes(node.server.process.pid) - written
            # What the other node serves after the propagation counts.
            cluster.during(max(0.0, judge.purge_seconds + ANNOUNCE_SECONDS + AFTER_SECONDS - took))
        time.sleep(REACH_SECONDS)
        found = sum(TIER_DETAIL in direct(cluster, other, source) for source in made)
    if not is_done:
        judge.breaches.append(("not done", f"{entries(cluster):,} entries after {END_SECONDS} s, {before:,} before"))
    if found < REACHED * len(made):
        judge.breaches.append(("held up", f"the other node found {found} of {len(made)} new images"))
    return Result({
        "entries": before, "status": answer.status, "response after s": answer.seconds, "done after s": took,
        "bytes written for each entry": written // arguments.purged,
        "new images": len(made), "of which the other node found": found,
        "purged content served until s": judge.purged_after,
    }, judge.breaches)


def entries(cluster: Cluster) -> int:
    return int(cluster.nodes[0].metrics()[DISK_ENTRIES])


def fill(cluster: Cluster, sources: list[int]) -> None:
    """Without the store, which would take longer than the node."""
    node = cluster.nodes[0]
    shared = node.settings
    node.stop()
    node.settings = copy(shared)
    node.settings.flags, node.settings.is_shared = shared.local_flags, False
    node.start()
    node.wait_until_ready()
    began = time.monotonic()
    with ThreadPoolExecutor(cluster.arguments.clients) as clients:
        statuses = set(clients.map(lambda source: node.ask(path(cluster.origin, source, WIDTH)).status, sources))
    if statuses != {200}:
        raise ValueError(f"the node was not filled: {statuses}")
    cluster.progress(f"{len(sources):,} sources stored in {time.monotonic() - began:.0f} s")
    node.stop()
    node.settings = shared
    node.start()
    node.wait_until_ready()


@contextmanager
def beside(act):
    """Acts again and again in another thread."""
    is_over = threading.Event()

    def repeat() -> None:
        while not is_over.wait(0.2):
            act()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def make(cluster: Cluster, made: list[int]) -> None:
    """Requests a new image of the node that purges. The other node is asked for it later."""
    for source in NEW[len(made) : len(made) + 1]:
        direct(cluster, cluster.nodes[0], source)
        made.append(source)


def purged(cluster: Cluster) -> Answer:
    """Purges the host of all sources."""
    origin, judge, node = cluster.origin, cluster.judge, cluster.nodes[0]
    origin.edit(list(HELD))
    began = time.monotonic()
    versions = {source: origin.version(source, began) for source in HELD}
    judge.purged(Purge("host", began, began + ANNOUNCE_SECONDS, versions))
    query = urlencode({"host": origin.host(HELD[0]).partition(":")[0]})
    try:
        answer = node.ask(f"/cache?{query}", "DELETE", ADMIN, timeout=END_SECONDS)
    except (OSError, HTTPException) as error:
        answer = Answer(0, {}, repr(error).encode(), time.monotonic() - began)
    if answer.status not in (200, 202) or answer.seconds > ANSWER_SECONDS:
        judge.breaches.append(("not answered", f"{answer.status} {answer.body[:200]!r} after {answer.seconds:.1f} s"))
    cluster.progress(f"the purge is answered with {answer.status} after {answer.seconds:.1f} s: {answer.body[:200]!r}")
    return answer
