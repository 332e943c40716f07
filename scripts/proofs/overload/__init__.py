"""Asks the server for ten times as much as it can do, and holds it to what it has promised for such times.

Its capacity is found first: new pictures, for clients who wait for each answer. Then a multiple of that is offered without
waiting for answers: most of it by one greedy client, some by a crowd, with a polite client and a reader of cached pictures
among them, each from a loopback address of its own. At last large results are asked for at once, more than fit into the
memory budget together. `--settings=--memory-budget=100GiB` breaks that promise.
"""

import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=int, default=15, help="of each phase (15)")
    parser.add_argument("--factor", type=float, default=10, help="times the capacity that is offered (10)")
    parser.add_argument("--reads", type=int, default=50, help="cached pictures a second (50)")
    parser.add_argument("--budget-mib", type=int, default=128, help="memory budget of the last phase (128)")
    parser.add_argument("--base-mib", type=int, default=32, help="what work may take besides: downloads, caches, copies (32)")
    parser.add_argument("--settings", default="", help="more settings of the server, apart by spaces")


def run(arguments: argparse.Namespace) -> int:
    from overload import proof

    return proof.run(arguments)
