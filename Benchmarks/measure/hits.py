"""Cache hits against nginx that serves the same bytes as a file, and against SwiftNIO that does nothing else; hits while misses
overload the server; failures of an origin that are remembered, against hits."""

import time
import urllib.request
from contextlib import ExitStack

from context import Context
from figures import at_least, at_most, ratios
from load import fetch_all, served, wrk
from overloaded import measure_latency
from processes import cpu_seconds
from servers import Bare, Darkroom, sources

CONNECTIONS, SECONDS = 16, 3
TIERS = {"memory": (), "disk": ("--cache-memory-bytes=0",)}
GOALS = {"memory": at_least(0.75), "disk": at_least(0.35)}
CPU_GOALS = {"memory": at_most(16), "disk": None}
BURST = 200


def measure(context: Context) -> None:
    context.report.begin(
        "hits", f"one variant of a 2–3 MP JPEG, {CONNECTIONS} keep-alive connections, one thread of wrk on the same "
        "processors; default settings, access log to a file; the disk tier with a memory tier of 0; nginx with one worker "
        "and its access log to a file; bare NIO is SwiftNIO's own HTTP pipeline with one handler that writes the fields and bytes "
        "of a hit, without a log")
    rates: dict[str, list[float]] = {name: [] for name in ("nginx", "bare", *TIERS)}
    cpu: dict[str, list[float]] = {name: [] for name in ("bare", *TIERS, "failure")}
    with ExitStack() as stack:
        (source,) = stack.enter_context(sources(context.nginx, context.images[:1], "hits"))
        servers = {
            tier: stack.enter_context(Darkroom(context.darkroom, context.folder(f"hits {tier}"), *settings))
            for tier, settings in TIERS.items()
        }
        body, fields = warm(servers["memory"].url(source), "memory")
        warm(servers["disk"].url(source), "disk")
        variant = context.nginx.static / "variant.jpg"
        variant.write_bytes(body)
        bare = stack.enter_context(Bare(context.bare, variant, fields))
        missing = servers["memory"].url(f"{source}.missing")
        wrk(missing, 1, 1)
        for _ in range(context.report.rounds):
            static = served(wrk(f"{context.nginx.base}/static/variant.jpg", CONNECTIONS, SECONDS))
            rates["nginx"].append(static.per_second)
            urls = {tier: (server, server.url(source)) for tier, server in servers.items()}
            for name, (server, url) in ({"bare": (bare, bare.base)} | urls).items():
                before = cpu_seconds(server.pid)[0]
                rate = served(wrk(url, CONNECTIONS, SECONDS))
                rates[name].append(rate.per_second)
                cpu[name].append((cpu_seconds(server.pid)[0] - before) / rate.requests * 1e6)
            cpu["failure"].append(failure_cpu(servers["memory"], missing))
    add = context.report.add
    add("bytes", "bytes of the variant", [len(body)], "B")
    add("nginx", "nginx, static file", rates["nginx"], "requests/s")
    add("bare", "bare NIO", rates["bare"], "requests/s")
    add("bare cpu", "bare NIO, CPU time", cpu["bare"], "µs/request")
    for tier in TIERS:
        add(tier, f"{tier} hits", rates[tier], "requests/s")
        add(f"{tier} share", f"{tier} hits", ratios(rates[tier], rates["nginx"]), compared_to="nginx", goal=GOALS[tier])
        add(f"{tier} cpu", f"{tier} hits, CPU time of the server", cpu[tier], "µs/request",
            goal=CPU_GOALS[tier])
    add("bare share", "memory hits", ratios(rates["memory"], rates["bare"]), compared_to="bare NIO", goal=at_least(0.9))
    add("failure cpu", "remembered failures (404), CPU time of the server", cpu["failure"], "µs/request")
    add("failure share", "remembered failures (404), CPU time of the server", ratios(cpu["failure"], cpu["memory"]),
        compared_to="memory hits", goal=at_most(2))
    measure_latency(context)
    measure_burst(context)
    context.report.end()


def warm(url: str, tier: str) -> tuple[bytes, list[tuple[str, str]]]:
    """Requests until the response comes from a tier, and returns its body and fields."""
    for _ in range(100):
        with urllib.request.urlopen(url) as answer:
            body = answer.read()
            if f"detail={tier}" in answer.headers["Cache-Status"]:
                # Python closes its connection, which a benchmark keeps.
                del answer.headers["Connection"]
                return body, answer.headers.items()
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
