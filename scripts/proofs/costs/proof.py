"""Runs the search on a server of its own and judges what it finds."""

import argparse
import random
import tempfile
from pathlib import Path

from costs.dialects import darkroom
from costs.search import KEPT, Finding, Search
from costs.sources import made
from server import Server

SETTINGS = (
    "--pixel-workers=1", "--cache-decoded-bytes=0", "--cache-disk-bytes=0", "--iiif=true", "--quarantine=0",
    "--faces=true", "--log-level=error", "--request-timeout=60s")
FACTOR, MOST_SECONDS = 3.0, 5.0


def run(arguments: argparse.Namespace) -> int:
    if not judge_sees():
        return 1
    seed = random.SystemRandom().randrange(1 << 32) if arguments.seed is None else arguments.seed
    print(f"costs: seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="darkroom-costs-") as name:
        folder = Path(name)
        images = folder / "images"
        images.mkdir()
        sources = made(arguments.server, images)
        settings = [f"--local-root={images}", *SETTINGS, *arguments.settings.split()]
        server = Server(arguments.server, folder, *settings)
        try:
            server.wait_until_it_listens()
            return searched(Search(server, sources, seed), arguments.seconds)
        finally:
            server.stop()


def searched(search: Search, seconds: float) -> int:
    search.calibrate("large.jpg")
    breaches = [found for found in search.run(seconds) if breach(found)]
    print(f"costs: {search.sent} requests, {search.refused} refused, {search.unplanned} without a plan; "
          f"this machine takes {search.factor:.2f} of the predicted time")
    for title, worst in zip(("most time of the predicted", "most memory of the predicted", "most time"), search.worst):
        print(f"\n{title}:", *table(worst), sep="\n")
    print(f"\ncosts: {'BROKEN' if breaches else 'kept  '} {len(breaches)} requests over {FACTOR:g} times the prediction, "
          f"or over {MOST_SECONDS:g} s")
    return 1 if breaches else 0


def table(worst: list[Finding]) -> list[str]:
    head = ["| Request | Status | Predicted | Measured | Ratio | Predicted | Measured | Ratio |",
            "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    return head + [row(found) for found in worst[:KEPT]]


def row(found: Finding) -> str:
    columns = [
        f"`{found.request}`", str(found.status), f"{found.predicted_seconds:.2f} s", f"{found.seconds:.2f} s",
        f"{found.time_ratio:.1f}", f"{found.predicted_bytes >> 20} MiB", f"{found.bytes >> 20} MiB",
        f"{found.memory_ratio:.1f}"]
    return "| " + " | ".join(columns) + " |"


def breach(found: Finding) -> bool:
    return found.time_ratio > FACTOR or found.memory_ratio > FACTOR or found.seconds > MOST_SECONDS


def judge_sees() -> bool:
    """Whether made-up findings are judged as they should be."""
    request = darkroom("made-up.jpg", {})
    fine = Finding(request, 200, 1.0, 1.4, 100 << 20, 120 << 20)
    bad = [fine._replace(seconds=3.5), fine._replace(bytes=400 << 20), fine._replace(seconds=5.1, predicted_seconds=6.0)]
    sees = not breach(fine) and all(map(breach, bad))
    print(f"costs: the judge {'detects made-up breaches' if sees else 'misses breaches'}")
    return sees
