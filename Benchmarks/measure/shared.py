"""A variant from the shared tier, compared with downloading and processing it, and with the disk, one request at a time."""

import json
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from pathlib import Path

from context import Context
from figures import ratios
from processes import cpu_seconds
from servers import Darkroom, sources

ROOT = Path(__file__).resolve().parent.parent.parent
COUNT = 40
NO_CACHE = ("--cache-memory-bytes=0", "--cache-disk-bytes=0", "--cache-decoded-bytes=0")
CONNECTIONS: dict[int, HTTPConnection] = {}
# Where the answer must come from, by the detail of Cache-Status.
WAYS = {"shared": "shared", "disk": "disk", "anew": "original-miss"}


def measure(context: Context) -> None:
    context.report.begin(
        "shared", f"{COUNT} variants of 2–3 MP JPEGs, w=400, one request after the other over one connection; the store is "
        "Ceph's gateway on the same processors; without memory caches, and without a disk where the store answers")
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    cpu: dict[str, list[float]] = {way: [] for way in WAYS}
    with ExitStack() as stack:
        store = stack.enter_context(object_store(context))
        urls = stack.enter_context(sources(context.nginx, context.images[:COUNT], "shared"))
        settings = {"writer": store, "shared": (*store, *NO_CACHE), "disk": NO_CACHE[::2], "anew": NO_CACHE}
        servers = {
            way: stack.enter_context(Darkroom(context.darkroom, context.folder(f"shared {way}"), *given))
            for way, given in settings.items()
        }
        for url in urls:
            ask(servers["writer"], url)
            ask(servers["disk"], url)
        # A record, an original and a variant each.
        until(lambda: servers["writer"].metric("darkroom_shared_store_writes_total") >= 3 * len(urls))
        servers["disk"].settled_cpu()
        for _ in range(context.report.rounds):
            for way, detail in WAYS.items():
                before = sum(cpu_seconds(servers[way].pid))
                times[way].append(statistics.median(ask(servers[way], url, detail) for url in urls) * 1000)
                cpu[way].append((sum(cpu_seconds(servers[way].pid)) - before) / len(urls) * 1000)
    add = context.report.add
    for way, name in {"shared": "from the store", "disk": "from the disk", "anew": "downloaded and processed"}.items():
        add(way, f"{name}, median", times[way], "ms")
        add(f"{way} cpu", f"{name}, CPU time of server and workers", cpu[way], "ms/request")
    add("shared share", "from the store", ratios(times["shared"], times["anew"]), compared_to="downloaded and processed")
    add("shared cost", "from the store", ratios(times["shared"], times["disk"]), compared_to="from the disk")
    context.report.end()


def ask(server: Darkroom, url: str, detail: str = "") -> float:
    """The seconds until the answer is complete, which must come from this place."""
    began = time.monotonic()
    connection = CONNECTIONS.setdefault(server.port, HTTPConnection("127.0.0.1", server.port))
    connection.request("GET", server.path(url))
    answer = connection.getresponse()
    answer.read()
    seconds = time.monotonic() - began
    status = answer.headers["Cache-Status"] or ""
    if answer.status != 200 or not status.endswith(detail and f"detail={detail}"):
        raise SystemExit(f"{url}: {answer.status}, {status} instead of {detail}")
    return seconds


def until(condition: Callable[[], bool]) -> None:
    for _ in range(200):
        if condition():
            return
        time.sleep(0.1)
    raise SystemExit("the store does not take what is written")


@contextmanager
def object_store(context: Context) -> Iterator[tuple[str, ...]]:
    """The settings of a server that uses a store of its own."""
    folder, script = context.work / "object-store", ROOT / "scripts/object-store"
    started = subprocess.run([script, "start", folder], stdout=subprocess.PIPE, text=True, check=True)
    store = json.loads(started.stdout)
    os.environ |= {"AWS_ACCESS_KEY_ID": store["access_key"], "AWS_SECRET_ACCESS_KEY": store["secret_key"]}
    try:
        yield (f"--shared-store=s3://{store['bucket']}/bench", f"--s3-endpoint={store['endpoint']}")
    finally:
        subprocess.run([script, "wipe", folder], check=True)
