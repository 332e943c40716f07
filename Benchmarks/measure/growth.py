"""How cost grows with connections, concurrency, the size of sources and the length of the queue."""

from contextlib import ExitStack
from pathlib import Path

from context import Context
from figures import ratios
from hits import warm
from load import fetch_all, served, wrk
from misses import floor_seconds
from processes import cpu_seconds
from refusals import measure_refusals
from servers import WIDTH, Darkroom, sources
from sized import sized_images

CONNECTIONS, SECONDS = (1, 16, 256, 2000), 2
CONCURRENCIES = (1, 4, 16)


def measure(context: Context) -> None:
    context.report.begin(
        "growth", f"default settings; the sources are JPEGs, of 2–3 MP unless named, to w={WIDTH} q80 in the profile fast")
    measure_connections(context)
    measure_concurrency(context)
    measure_sizes(context)
    measure_refusals(context)
    context.report.end()


def measure_connections(context: Context) -> None:
    rates: dict[tuple[str, int], list[float]] = {}
    with ExitStack() as stack:
        (source,) = stack.enter_context(sources(context.nginx, context.images[:1], "connections"))
        # All connections come from one address, which may have 1,024 of them unless it is a proxy.
        server = stack.enter_context(
            Darkroom(context.darkroom, context.folder("connections"), "--trusted-proxies=127.0.0.1/32"))
        (context.nginx.static / "connections.jpg").write_bytes(warm(server.url(source), "memory"))
        targets = {"nginx": f"{context.nginx.base}/static/connections.jpg", "darkroom": server.url(source)}
        for _ in range(context.report.rounds):
            for connections in CONNECTIONS:
                for name, target in targets.items():
                    rate = served(wrk(target, connections, SECONDS)).per_second
                    rates.setdefault((name, connections), []).append(rate)
    for connections in CONNECTIONS:
        nginx, hits = rates["nginx", connections], rates["darkroom", connections]
        add = context.report.add
        add(f"nginx {connections}", f"nginx, static file, {connections} connections", nginx, "requests/s", x=connections)
        add(f"hits {connections}", f"memory hits, {connections} connections", hits, "requests/s", x=connections)
        add(f"hits {connections} share", f"memory hits, {connections} connections", ratios(hits, nginx), compared_to=f"nginx, {connections} connections")


def measure_concurrency(context: Context) -> None:
    speeds: dict[str, list[float]] = {}
    count = len(context.images)
    with Darkroom(context.darkroom, context.folder("concurrency")) as server:
        for number in range(context.report.rounds):
            speeds.setdefault("floor", []).append(count / floor_seconds(context, "thumbnail", 2))
            for concurrency in CONCURRENCIES:
                with sources(context.nginx, context.images, f"concurrency-{number}-{concurrency}") as urls:
                    seconds, _ = fetch_all([server.url(url) for url in urls], concurrency)
                    speeds.setdefault(f"misses {concurrency}", []).append(count / seconds)
    for concurrency in CONCURRENCIES:
        key, add = f"misses {concurrency}", context.report.add
        add(key, f"misses, {concurrency} at a time", speeds[key], "images/s", x=concurrency)
        add(f"{key} share", f"misses, {concurrency} at a time", ratios(speeds[key], speeds["floor"]),
            compared_to="vips_thumbnail_buffer baseline, 2 threads")


def measure_sizes(context: Context) -> None:
    """CPU time of an image against the size of its source."""
    parts: dict[tuple[str, float], list[float]] = {}
    images = sized_images(context)
    with Darkroom(context.darkroom, context.folder("sizes")) as server:
        for number in range(context.report.rounds):
            for megapixels, image in images.items():
                for part, milliseconds in zip(("server", "workers"), cpu_of(context, server, megapixels, image, number)):
                    parts.setdefault((part, megapixels), []).append(milliseconds)
    for megapixels in images:
        for part in ("server", "workers"):
            context.report.add(
                f"{part} {megapixels:g} MP", f"source of {megapixels:g} MP, CPU time of the {part}", parts[part, megapixels],
                "ms/image", x=megapixels)


def cpu_of(context: Context, server: Darkroom, megapixels: float, image: Path, number: int) -> list[float]:
    # Enough images for the kernel's ticks of 10 ms.
    count = max(8, min(60, round(60 / megapixels)))
    with sources(context.nginx, [image] * count, f"sizes-{number}-{megapixels:g}") as urls:
        before = server.settled_cpu()
        fetch_all([server.url(url) for url in urls], 2)
        after = server.settled_cpu()
    return [(new - old) / count * 1000 for new, old in zip(after, before)]
