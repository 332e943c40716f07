"""Two-step AVIF: time to first byte and bytes, against waiting for AVIF and against WebP alone, quiet and under load."""

import http.client
import statistics
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from context import Context
from figures import ratios
from servers import Darkroom, sources

WIDTHS = (400, 800, 1600)
LOADED_WIDTH = 800
COUNT = 12
"""Images of one pass."""
CONCURRENCY = 16
"""Requests at a time under load: every image twice, as when two visitors open a page."""
SETTLE_SECONDS = 120
WAYS = {
    "webp": ("image/webp", {}),
    "wait": ("image/avif,image/webp", {"wait": "best"}),
    "two-step": ("image/avif,image/webp", {}),
}


class Answer(NamedTuple):
    milliseconds: float
    """Until the first byte of the head."""
    size: int
    format: str


def measure(context: Context) -> None:
    images = context.images[:COUNT]
    context.report.begin(
        "formats", f"{len(images)} JPEGs of 2–3 MP; formats=avif,webp; misses by each way in a server of its own; 'wait' "
        f"is wait=best; under load: each image twice, {CONCURRENCY} requests at a time")
    samples: dict[str, list[float]] = {}
    for number in range(context.report.rounds):
        for width in WIDTHS:
            for way in WAYS:
                with Darkroom(context.darkroom, context.folder(f"formats {way}"), "--formats=avif,webp") as server, sources(
                    context.nginx, images, f"formats-{number}-{width}-{way}"
                ) as urls:
                    quiet(server, urls, width, way, samples)
        for way in WAYS:
            with Darkroom(context.darkroom, context.folder(f"loaded {way}"), "--formats=avif,webp") as server, sources(
                context.nginx, images, f"formats-{number}-loaded-{way}"
            ) as urls:
                loaded(server, urls, way, samples)
    report(context, samples)
    context.report.end()


def quiet(server: Darkroom, urls: list[str], width: int, way: str, samples: dict[str, list[float]]) -> None:
    """One request at a time; two-step images are asked for again once they are made."""
    first = []
    for url in urls:
        first.append(fetch(server, url, width, way))
        settle(server)
    keep(samples, f"{way} {width}", first)
    if way == "two-step":
        keep(samples, f"again {width}", [fetch(server, url, width, way) for url in urls])


def loaded(server: Darkroom, urls: list[str], way: str, samples: dict[str, list[float]]) -> None:
    with ThreadPoolExecutor(CONCURRENCY) as pool:
        answers = list(pool.map(lambda url: fetch(server, url, LOADED_WIDTH, way), [url for url in urls for _ in range(2)]))
    keep(samples, f"{way} loaded", answers)
    slowest = sorted(answer.milliseconds for answer in answers)[int(len(answers) * 0.95)]
    samples.setdefault(f"{way} loaded p95", []).append(slowest)
    if way == "two-step":
        settle(server)
        keep(samples, "again loaded", [fetch(server, url, LOADED_WIDTH, way) for url in urls])


def fetch(server: Darkroom, url: str, width: int, way: str) -> Answer:
    accept, query = WAYS[way]
    path = "/image?" + urllib.parse.urlencode({"url": url, "w": width} | query, safe=":/")
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.connect()
        start = time.monotonic()
        connection.request("GET", path, headers={"Accept": accept})
        answer = connection.getresponse()
        milliseconds = (time.monotonic() - start) * 1000
        body = answer.read()
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {body[:200]!r}")
        return Answer(milliseconds, len(body), answer.getheader("Content-Type"))
    finally:
        connection.close()


def settle(server: Darkroom) -> None:
    """Returns once every interim answer has its preferred format, or had to do without."""
    end = time.monotonic() + SETTLE_SECONDS
    while time.monotonic() < end:
        if server.metric("darkroom_format_upgrades_waiting") + server.metric("darkroom_format_upgrades_running") == 0:
            return
        time.sleep(0.02)
    raise SystemExit(f"images still wait for their preferred format after {SETTLE_SECONDS} seconds")


def keep(samples: dict[str, list[float]], key: str, answers: list[Answer]) -> None:
    samples.setdefault(f"{key} ms", []).append(statistics.median(answer.milliseconds for answer in answers))
    samples.setdefault(f"{key} KB", []).append(sum(answer.size for answer in answers) / len(answers) / 1000)
    share = sum(answer.format == "image/avif" for answer in answers) / len(answers) * 100
    samples.setdefault(f"{key} AVIF", []).append(share)


def report(context: Context, samples: dict[str, list[float]]) -> None:
    names = {
        "webp": "WebP alone", "wait": "waiting for AVIF", "two-step": "two-step AVIF, first request",
        "again": "two-step AVIF, from then on",
    }
    for place in (*map(str, WIDTHS), "loaded"):
        where = f"w={LOADED_WIDTH} under load" if place == "loaded" else f"w={place}"
        for way, name in names.items():
            key = f"{way} {place}"
            context.report.add(f"{key} ttfb", f"{name}, {where}, first byte", samples[f"{key} ms"], "ms")
            if f"{key} p95" in samples:
                context.report.add(f"{key} p95", f"{name}, {where}, 95th percentile", samples[f"{key} p95"], "ms")
            context.report.add(f"{key} bytes", f"{name}, {where}, mean size", samples[f"{key} KB"], "KB")
            context.report.add(f"{key} share", f"{name}, {where}, answered in AVIF", samples[f"{key} AVIF"], "%")
        for other in ("webp", "wait"):
            context.report.add(
                f"two-step {place} of {other}", f"two-step AVIF, {where}, first byte",
                ratios(samples[f"two-step {place} ms"], samples[f"{other} {place} ms"]), compared_to=names[other])
