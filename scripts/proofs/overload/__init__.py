"""Sends ten times as many requests as the server can handle, and checks its promises for overload.

The capacity is measured first, with clients that wait for each response. Then a multiple of it is offered without waiting
for responses: most of it by one greedy client, some by many clients, with a polite client and a reader of cached images
among them, each from its own loopback address. Finally, more large results are requested at once than fit into the memory
budget together. `--settings=--memory-budget=100GiB` breaks that promise.
"""

import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=int, default=15, help="duration of each phase (default: 15)")
    parser.add_argument("--factor", type=float, default=10, help="offered load, as a multiple of the capacity (default: 10)")
    parser.add_argument("--reads", type=int, default=50, help="requests for cached images per second (default: 50)")
    parser.add_argument("--budget-mib", type=int, default=128, help="memory budget of the last phase (default: 128)")
    parser.add_argument("--base-mib", type=int, default=32, help="further memory for downloads, caches and copies (default: 32)")
    parser.add_argument("--settings", default="", help="further settings of the server, separated by spaces")


def run(arguments: argparse.Namespace) -> int:
    from overload import proof

    return proof.run(arguments)
