"""Cache hits against nginx that serves the same bytes as a file, and while misses overload the server; failures of an origin
that are remembered, against hits."""

import time
import urllib.request
from contextlib import ExitStack

from context import Context
from figures import at_least, at_most, ratios
from load import fetch_all, served, wrk
from overloaded import measure_latency
from processes import cpu_seconds
from servers import Darkroom, sources

CONNECTIONS, SECONDS = 16, 3
TIERS = {"memory": (), "disk": ("--cache-memory-bytes=0",)}
GOALS = {"memory": at_least(0.55), "disk": at_least(0.35)}
BURST = 200


def measure(context: Context) -> None:
    context.report.begin(
        "hits", f"one variant of a 2–3 MP JPEG, {CONNECTIONS} keep-alive connections, one thread of wrk on the same "
        "processors; default settings, access log to a file; the disk tier with a memory tier of 0; nginx with one worker "
        "and its access log to a file")
    rates: dict[str, list[float]] = {name: [] for name in ("nginx", *TIERS)}
    cpu: dict[str, list[float]] = {name: [] for name in (*TIERS, "failure")}
    with ExitStack() as stack:
        (source,) = stack.enter_context(sources(context.nginx, context.images[:1], "hits"))
        servers = {
            tier: stack.enter_context(Darkroom(context.darkroom, context.folder(f"hits {tier}"), *settings))
            for tier, settings in TIERS.items()
        }
        body = warm(servers["memory"].url(source), "memory")
        warm(servers["disk"].url(source), "disk")
        (context.nginx.static / "variant.jpg").write_bytes(body)
        missing = servers["memory"].url(f"{source}.missing")
        wrk(missing, 1, 1)
        for _ in range(context.report.rounds):
            static = served(wrk(f"{context.nginx.base}/static/variant.jpg", CONNECTIONS, SECONDS))
            rates["nginx"].append(static.per_second)
            for tier, server in servers.items():
                before = cpu_seconds(server.pid)[0]
                rate = served(wrk(server.url(source), CONNECTIONS, SECONDS))
                rates[tier].append(rate.per_second)
                cpu[tier].append((cpu_seconds(server.pid)[0] - before) / rate.requests * 1e6)
            cpu["failure"].append(failure_cpu(servers["memory"], missing))
    add = context.report.add
    add("bytes", "bytes of the variant", [len(body)], "B")
    add("nginx", "nginx, static file", rates["nginx"], "requests/s")
    for tier in TIERS:
        add(tier, f"{tier} hits", rates[tier], "requests/s")
        add(f"{tier} share", f"{tier} hits", ratios(rates[tier], rates["nginx"]), compared_to="nginx", goal=GOALS[tier])
        add(f"{tier} cpu", f"{tier} hits, CPU time of the server", cpu[tier], "µs/request")
    add("failure cpu", "remembered failures (404), CPU time of the server", cpu["failure"], "µs/request")
    add("failure share", "remembered failures (404), CPU time of the server", ratios(cpu["failure"], cpu["memory"]),
        compared_to="memory hits", goal=at_most(2))
    measure_latency(context)
    measure_burst(context)
    context.report.end()


def warm(url: str, tier: str) -> bytes:
    """Requests until the response comes from a tier, and returns its body."""
    for _ in range(100):
        with urllib.request.urlopen(url) as answer:
            body = answer.read()
            if f"detail={tier}" in answer.headers["Cache-Status"]:
                return body
        time.sleep(0.1)
    raise SystemExit(f"{url} is never a hit in the tier {tier}")


def failure_cpu(server: Darkroom, url: str) -> float:
    """The time for a source of which the origin has said that it is missing, in microseconds a request."""
    before = cpu_seconds(server.pid)[0]
    rate = wrk(url, CONNECTIONS, SECONDS)
    if rate.refused != rate.requests:
        raise SystemExit(f"{rate.requests - rate.refused} of {rate.requests} requests for a missing source succeeded")
    return (cpu_seconds(server.pid)[0] - before) / rate.requests * 1e6


def measure_burst(context: Context) -> None:
    """Requests for one cold variant at once must share one download and be processed once."""
    milliseconds, downloads, productions = [], [], []
    with Darkroom(context.darkroom, context.folder("burst")) as server:
        for number in range(context.report.rounds):
            label = f"burst-{number}"
            with sources(context.nginx, context.images[:1], label) as (source,):
                before = server.metric("darkroom_variants_total")
                seconds, _ = fetch_all([server.url(source)] * BURST, BURST)
            milliseconds.append(seconds * 1000)
            downloads.append(context.nginx.origin_log.read_text().count(f"/{label}/"))
            productions.append(server.metric("darkroom_variants_total") - before)
    add = context.report.add
    add("burst", f"{BURST} concurrent requests for one new variant, time", milliseconds, "ms")
    add("burst downloads", f"{BURST} concurrent requests for one new variant, downloads", downloads)
    add("burst productions", f"{BURST} concurrent requests for one new variant, processed images", productions)
