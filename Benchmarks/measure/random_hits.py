"""Hits of random images, each requested once, against nginx that caches the responses of an origin on disk.

One hot image says nothing about a disk cache: here the server knows neither the target nor the entry, and the system has the
file of the entry in memory only as far as it has room.
"""

import shutil
import urllib.request
from contextlib import ExitStack
from random import Random

from context import Context
from figures import at_least, at_most, ratios
from filling import DarkroomCopies, body, fill_nginx, random_url
from load import Rate, served, wrk
from processes import cpu_seconds
from servers import Darkroom, Nginx

CONNECTIONS, SECONDS, CHECKED = 16, 2, 20
STRIDE = 7_368_787
"""A prime above the number of images: its multiples visit all of them before they visit one again."""
SCRIPT = """
local next = %d
request = function()
    next = next + 1
    local number = next * %d %% %d + 1
    return "GET %s" .. string.format("%%07d", number) .. "%s HTTP/1.1\\r\\nHost: 127.0.0.1\\r\\n\\r\\n"
end
"""


class Target:
    """A filled server, and the images that were not requested from it yet."""

    def __init__(self, server: Darkroom | Nginx, path: str, count: int) -> None:
        self.server, self.count, self.first = server, count, 0
        self.start, self.end = path.split(f"{0:07}")
        self.rates: list[Rate] = []
        self.cpu: list[float] = []

    def request(self) -> None:
        script = SCRIPT % (self.first, STRIDE, self.count, self.start, self.end)
        before = self.cpu_seconds()
        rate = served(wrk(self.server.base, CONNECTIONS, SECONDS, script))
        self.cpu.append((self.cpu_seconds() - before) / rate.requests * 1e6)
        self.rates.append(rate)
        self.first += rate.requests + CONNECTIONS

    def cpu_seconds(self) -> float:
        """Of the server without the workers that make images; nginx answers in a worker."""
        own, children = cpu_seconds(self.server.process.pid)
        return own if isinstance(self.server, Darkroom) else own + children

    def check(self) -> None:
        """A few images must have the bytes that were filled in, from disk."""
        random = Random(1)
        for _ in range(CHECKED):
            number = random.randrange(1, self.count)
            with urllib.request.urlopen(f"{self.server.base}{self.start}{number:07}{self.end}") as answer:
                found = answer.headers["Cache-Status"] or answer.headers["X-Cache"]
                if answer.read() != body(number) or not found.endswith(("detail=disk", "detail=memory", "HIT")):
                    raise SystemExit(f"{self.start}{number:07}{self.end}: {found}")


def measure(context: Context) -> None:
    count = context.random_entries
    context.report.begin(
        "random_hits", f"{count:,} images of 18 KB on disk in random order, from Darkroom each at most once, over {CONNECTIONS} "
        "keep-alive connections, one thread of wrk on the same processors; default settings, access log to a file; nginx "
        "with one worker and proxy_cache")
    with ExitStack() as stack:
        targets = {"nginx": filled_nginx(context, stack), "darkroom": filled_darkroom(context, stack)}
        for _ in range(context.report.rounds):
            for target in targets.values():
                target.request()
        for target in targets.values():
            target.check()
    if targets["darkroom"].first > count:
        raise SystemExit("images were requested again: more --random-entries or fewer rounds are needed")
    report(context, **targets)
    context.report.end()


def report(context: Context, nginx: Target, darkroom: Target) -> None:
    add, to = context.report.add, {"compared_to": "nginx, proxy_cache"}
    for name, target in (("nginx, proxy_cache", nginx), ("disk hits", darkroom)):
        key = "nginx" if target is nginx else "disk"
        add(key, name, [rate.per_second for rate in target.rates], "requests/s")
        add(f"{key} cpu", f"{name}, CPU time of the server", target.cpu, "µs/request",
            goal=at_most(120) if target is darkroom else None)
        add(f"{key} median", f"{name}, median time", [rate.median for rate in target.rates], "ms")
        add(f"{key} slowest", f"{name}, 99th percentile", [rate.slowest for rate in target.rates], "ms")
    for key, name, part, goal in (
        ("share", "disk hits", "per_second", at_least(0.4)),
        ("slowest share", "disk hits, 99th percentile", "slowest", at_most(3)),
    ):
        values = ([getattr(rate, part) for rate in target.rates] for target in (darkroom, nginx))
        add(key, name, ratios(*values), goal=goal, **to)


def filled_darkroom(context: Context, stack: ExitStack) -> Target:
    work, base = context.folder("random"), context.nginx.base
    original = context.nginx.root / "random/0000000.jpg"
    original.parent.mkdir()
    shutil.copy(context.images[0], original)
    with Darkroom(context.darkroom, work) as server:
        urllib.request.urlopen(server.url(random_url(base, 0))).close()
        server.settled_cpu()
        copies = DarkroomCopies(server, base)
    copies.fill(work / "cache", context.random_entries)
    server = stack.enter_context(Darkroom(context.darkroom, work, "--cache-disk-bytes=100GiB"))
    server.settled_cpu()
    return Target(server, server.path(random_url(base, 0)), context.random_entries)


def filled_nginx(context: Context, stack: ExitStack) -> Target:
    work = context.folder("random nginx")
    (context.nginx.static / "0000000.jpg").write_bytes(body(0))
    # Files are found on demand: the loader, which would look at all of them meanwhile, sleeps.
    nginx = stack.enter_context(Nginx(
        work, f"proxy_cache_path {work}/cache levels=1:2 keys_zone=random:512m max_size=100g inactive=1d "
        "use_temp_path=off loader_files=1 loader_sleep=1h;",
        f"location /cached/ {{ proxy_pass {context.nginx.base}/static/; proxy_cache random; proxy_cache_key $uri; "
        "proxy_cache_valid 200 1d; add_header X-Cache $upstream_cache_status; }"))
    path = "/cached/0000000.jpg"
    urllib.request.urlopen(nginx.base + path).close()
    fill_nginx(work / "cache", path, context.random_entries)
    return Target(nginx, path, context.random_entries)
