"""Measures the whole service on this machine, and compares it with baselines, nginx and goals.

Everything runs over loopback. The programs take turns in each round, ratios are computed within a round, and medians over the
rounds are printed. Each section replaces its own part of the JSON file.
"""

import argparse
import os
import resource
import sys
import tempfile
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "scripts/proofs"))  # process trees, and the client for load without waiting

SECTIONS = ["misses", "hits", "random_hits", "memory", "growth", "store", "shared", "formats"]


def main() -> None:
    parser = argparse.ArgumentParser(prog="measure", description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", help=f"any of {', '.join(SECTIONS)} (default: all)")
    parser.add_argument("--images", type=Path, required=True, help="folder of make-bench-images.py")
    parser.add_argument("--darkroom", type=Path, required=True)
    parser.add_argument("--floor", type=Path)
    parser.add_argument("--download", type=Path)
    parser.add_argument("--bare", type=Path)
    parser.add_argument("--store-bench", type=Path)
    parser.add_argument("--entries", type=int, default=1_000_000, help="entries of the section store")
    parser.add_argument("--random-entries", type=int, default=100_000, help="images of the section random_hits")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, default=ROOT / ".build/bench/latest.json")
    options = parser.parse_args()
    if unknown := set(options.sections) - set(SECTIONS):
        parser.error(f"unknown sections: {', '.join(sorted(unknown))}; known: {', '.join(SECTIONS)}")
    allow_descriptors()
    with tempfile.TemporaryDirectory(prefix="darkroom-bench-") as folder:
        measure(options, Path(folder))


def measure(options: argparse.Namespace, work: Path) -> None:
    from context import Context
    from figures import Report
    from servers import Nginx

    os.chmod(work, 0o755)  # nginx reads as another user if root starts it
    images = sorted(options.images.resolve().glob("[0-9]*.jpg"))
    with Nginx(work) as nginx:
        context = Context(
            Report(options.json, options.rounds), nginx, work, options.darkroom.resolve(), options.floor,
            options.download, options.bare, options.store_bench, options.entries, options.random_entries, images)
        for section in options.sections or SECTIONS:
            import_module(section).measure(context)
    print(f"figures: {options.json}")


def allow_descriptors() -> None:
    """Thousands of connections need as many descriptors, in this process and its children."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


if __name__ == "__main__":
    main()
