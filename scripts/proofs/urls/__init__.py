"""Requests each URL that the server names for photographs of 0.1 to 50 megapixels, with the `Accept` that a browser sends.

The sources are one photograph, resampled with `vips` (Debian: libvips-tools) to several sizes, in landscape and portrait,
in four formats. The URLs come from `/srcset` and its `picture` and from IIIF's `info.json`, or have only the source.
Settings are the default ones, except IIIF. No status but 200 may be seen. Files that are larger than `max-source-bytes`
are left out.
"""

import argparse
from pathlib import Path

from server import ROOT

MEGAPIXELS = "0.1,1,6,12,24,50"


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--photograph", type=Path, default=ROOT / "Fixtures/images/sample.jpg", help="the photograph to resample")
    parser.add_argument("--megapixels", default=MEGAPIXELS, help="sizes, separated by commas")
    parser.add_argument("--widest", action="store_true", help="of each list of URLs, request only the widest image")
    parser.add_argument("--explain", action="store_true", help="ask /explain whether the images would be refused, and make none")
    parser.add_argument("--settings", default="", help="further settings of the server, separated by spaces")


def run(arguments: argparse.Namespace) -> int:
    from urls import proof

    return proof.run(arguments)
