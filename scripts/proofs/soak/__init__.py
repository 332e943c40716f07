"""Sends mixed work for as long as it takes, and looks whether the memory of server and workers goes on growing.

Every picture is asked for in a size of its own, so that each request is decoded, transformed and encoded anew, while caches
are small enough to be full early. The line has to be flat from the first fifth on.
"""

import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--requests", type=int, default=50_000, help="how many (50000)")
    parser.add_argument("--settings", default="", help="more settings of the server, apart by spaces")


def run(arguments: argparse.Namespace) -> int:
    from soak import proof

    return proof.run(arguments)
