"""Requests the URLs one at a time, and counts the unanswered ones."""

import argparse
import html
import json
import re
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple

from server import Answer, Server, encoded
from urls import sources
from urls.sources import Source

SETTINGS = ("--iiif=true", "--log-level=warning")
ANYTHING, BROWSER = "*/*", "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"
ELEMENT = re.compile(r'<source type="([^"]+)" srcset="([^"]+)"')
PATH = re.compile(r"(?:https?://[^/]+)?(/\S+)")
WIDTHS = (320, 1280, 2560)
"""Widths that pages have for any image, as a client without `/srcset` writes them."""
IMAGE, EXPLAIN = "/image?", "/explain?"
MAX_SOURCE_BYTES, MAX_SIDE = 50 << 20, 8192
"""The defaults of `max-source-bytes`, and of `max-output-side`: an image in the size of a larger source is refused."""
FULL_MEGAPIXELS = 12.1
"""Up to this size, a photograph is answered at its full width too."""


class Named(NamedTuple):
    """A URL of the server's, and who names it."""

    kind: str
    target: str
    accept: str


def run(arguments: argparse.Namespace) -> int:
    if not sees():
        return 1
    if not shutil.which("vips"):
        print("urls: vips is missing; install libvips-tools", file=sys.stderr)
        return 2
    megapixels = [float(text) for text in arguments.megapixels.split(",")]
    with tempfile.TemporaryDirectory(prefix="darkroom-urls-") as name:
        images = Path(name) / "images"
        images.mkdir()
        server = Server(arguments.server, Path(name), f"--local-root={images}", *SETTINGS, *arguments.settings.split())
        server.wait_until_it_listens()
        try:
            return Proof(server, arguments).run(sources.made(arguments.photograph, megapixels, images))
        finally:
            server.stop()


class Proof:
    def __init__(self, server: Server, arguments: argparse.Namespace) -> None:
        self.server, self.is_widest, self.explains = server, arguments.widest, arguments.explain
        self.seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.slowest: Counter[str] = Counter()
        self.breaches: list[str] = []

    def run(self, photographs: Iterator[Source]) -> int:
        kinds: dict[str, None] = {}
        for source in photographs:
            if source.bytes > MAX_SOURCE_BYTES:
                print(f"urls: {source.name:20} not requested: {source.bytes >> 20} MiB are more than max-source-bytes", flush=True)
                continue
            before = len(self.breaches)
            for named in self.named(source):
                kinds[named.kind] = None
                self.judge(source, named, asked(self.server, self.request(named.target), named.accept))
            counts = ", ".join(f"{kind} {self.seen[source.name][kind]}" for kind in kinds)
            slowest = self.slowest[source.name]
            refused = len(self.breaches) - before
            print(
                f"urls: {source.name:20} {source.width:5} x {source.height:5}  {counts}; "
                f"{refused} refused, slowest {slowest:.1f} s", flush=True)
        total = sum(self.seen[name].total() for name in self.seen)
        print(f"urls: {total:,} URLs of {len(self.seen)} photographs, {len(self.breaches)} not answered")
        return 1 if self.breaches else 0

    def request(self, target: str) -> str:
        is_image = self.explains and target.startswith(IMAGE)
        return f"{EXPLAIN}{target.removeprefix(IMAGE)}&fetch=true" if is_image else target

    def judge(self, source: Source, named: Named, answer: Answer) -> None:
        self.seen[source.name][named.kind] += 1
        self.slowest[source.name] = max(self.slowest[source.name], answer.seconds)
        if why := fault(answer):
            self.breaches.append(named.target)
            print(f"urls: {named.kind}: {named.target} for {named.accept}: {why}", file=sys.stderr, flush=True)

    def named(self, source: Source) -> Iterator[Named]:
        url = encoded(f"local:///{source.name}")
        for query in ("", "&output=auto") if max(source.width, source.height) <= MAX_SIDE else ():
            yield from (Named("plain", f"/image?url={url}{query}", accept) for accept in (ANYTHING, BROWSER))
        yield from self.of_srcset(url)
        # As the playground asks, for each format.
        yield from self.of_srcset(url, "&output=avif", "srcset avif")
        is_full = source.width * source.height <= FULL_MEGAPIXELS * 1e6
        for width in self.chosen([*WIDTHS, source.width] if is_full else [*WIDTHS]):
            yield Named("page", f"/image?url={url}&w={width}&output=avif", ANYTHING)
        info = f"/iiif/{url}/info.json"
        yield Named("iiif", info, ANYTHING)
        answer = asked(self.server, info, ANYTHING)
        listed = json.loads(answer.body).get("sizes", []) if answer.status == 200 else []
        sizes = [f"{size['width']},{size['height']}" for size in self.chosen(listed)]
        for size in [] if self.explains else [*sizes, "max"]:
            yield Named("iiif", f"/iiif/{url}/full/{size}/0/default.jpg", ANYTHING)

    def of_srcset(self, url: str, more: str = "", kind: str = "srcset") -> Iterator[Named]:
        target = f"/srcset?url={url}{more}"
        yield Named(kind, target, ANYTHING)
        answer = asked(self.server, target, ANYTHING)
        if answer.status == 200:
            named = targets(json.loads(answer.body), kind)
            yield from named if not self.is_widest else {(one.kind, one.accept): one for one in named}.values()

    def chosen(self, ascending: list) -> list:
        return ascending[-1:] if self.is_widest else ascending


def targets(document: dict, kind: str) -> list[Named]:
    """The URLs of a document of `/srcset`, URLs of `picture` with the `Accept` of their formats."""
    named = [Named(kind, path(candidate["url"]), ANYTHING) for candidate in document["candidates"]]
    named += [named[-1]._replace(accept=BROWSER)]
    for media_type, srcset in ELEMENT.findall(document.get("picture") or ""):
        format = media_type.rpartition("/")[2]
        for candidate in html.unescape(srcset).split(", "):
            named.append(Named(format, path(candidate.split(" ")[0]), f"{media_type},*/*;q=0.8"))
    return named


def path(url: str) -> str:
    return PATH.fullmatch(url)[1]


def asked(server: Server, target: str, accept: str) -> Answer:
    try:
        return server.ask(target, headers={"Accept": accept}, timeout=600)
    except (OSError, HTTPException) as error:
        return Answer(0, {}, repr(error).encode(), 0)


def fault(answer: Answer) -> str | None:
    if answer.status == 200 and answer.body:
        return None
    return f"{answer.status} {answer.problem} {answer.body[:300].decode(errors='replace')}"


def sees() -> bool:
    """Whether made-up failures are detected, and every URL of a made-up document is found."""
    good = Answer(200, {}, b"x", 0.1)
    bad = [good._replace(status=400), good._replace(status=0), good._replace(body=b"")]
    document = {
        "candidates": [{"url": "http://a.org/image?a", "width": 1}, {"url": "/image?b", "width": 2}],
        "picture": '<picture><source type="image/avif" srcset="/image?a&amp;output=avif 1w, /image?b 2w" sizes="1">',
    }
    found = [(named.kind, named.target) for named in targets(document, "srcset")]
    expected = [("srcset", "/image?a"), *[("srcset", "/image?b")] * 2, ("avif", "/image?a&output=avif"), ("avif", "/image?b")]
    is_sighted = fault(good) is None and all(map(fault, bad)) and found == expected
    print(f"urls: the judge {'detects each made-up failure' if is_sighted else 'misses failures'}")
    return is_sighted
