"""Injects failures of origins, clients, disk and processes for minutes, and checks every response.

Every origin misbehaves in one way of a table that says what may come of it. Clients ask for images whose color names the
source and its version, so that another's, an outdated or a damaged one is seen; some leave early, some read slowly, some
purge. Meanwhile decoder processes and the server are killed or stopped, and the cache's volume runs full. The last third is
one life of the server: what it holds after that, when it is quiet again, is held against what it held before.
"""

import argparse
import sys

from chaos import volume


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--minutes", type=float, default=10, help="how long (10)")
    parser.add_argument("--seed", type=int, default=1, help="of all random choices (1)")
    parser.add_argument("--clients", type=int, default=24, help="requests at a time (24)")
    parser.add_argument("--settings", default="", help="more of the server's; with --settings=--min-fresh=1h it has to find breaches")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    if not arguments.inside:
        return volume.enter(sys.argv)
    from chaos import proof

    return proof.run(arguments)
