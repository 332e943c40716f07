"""Sends mixed requests for a long time, and checks that the memory of server and workers stops growing.

The requests vary in size, so that most images are decoded, transformed and encoded anew; the caches are small enough to
fill up early. Memory, the proportional set size of all processes, must be flat after the first fifth, and bounded.
"""

import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--requests", type=int, default=50_000, help="number of requests (default: 50000)")
    parser.add_argument("--settings", default="", help="further settings of the server, separated by spaces")


def run(arguments: argparse.Namespace) -> int:
    from soak import proof

    return proof.run(arguments)
