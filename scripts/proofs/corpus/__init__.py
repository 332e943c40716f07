"""Sends the server every picture there is, and looks at what it makes of each and how long it takes.

The fixtures always, and a corpus of other projects' pictures where there is one: through `/image?w=64` and `/info`. Nothing
may be a 5xx, take more than five seconds or cost a decoder process without being refused, and what the tables say of a
picture has to come true. Gzip data and JPEG 2000, which loaders of libvips are known to die of, must not reach one.
"""

import argparse
from pathlib import Path

from server import CORPUS


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="folder with MANIFEST.tsv (../shared/corpus)")
    parser.add_argument("--settings", default="", help="more settings of the server, apart by spaces")


def run(arguments: argparse.Namespace) -> int:
    from corpus import proof

    return proof.run(arguments)
