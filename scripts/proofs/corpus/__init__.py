"""Requests every image of the fixtures and of a corpus, and checks the results and their time.

The fixtures are always included, a corpus of other projects' images if present; through `/image?w=64` and `/info`. Nothing
may be a 5xx, take more than five seconds or cost a decoder process without being refused, and what the tables say of a
image has to come true. Gzip data and JPEG 2000, which loaders of libvips are known to die of, must not reach one.
"""

import argparse
from pathlib import Path

from server import CORPUS


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="directory with MANIFEST.tsv (default: ../shared/corpus)")
    parser.add_argument("--settings", default="", help="further settings of the server, separated by spaces")


def run(arguments: argparse.Namespace) -> int:
    from corpus import proof

    return proof.run(arguments)
