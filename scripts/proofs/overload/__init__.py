"""Sends ten times as many requests as the server can handle, and checks its promises for overload.

The capacity is measured first, with clients that wait for each response. Then a multiple of it is offered without waiting
for responses: most of it by one greedy client, some by many clients, with a polite client and a reader of cached images
among them, each from its own loopback address. Finally, more large results are requested at once than fit into the memory
budget together. `--settings=--memory-budget=100GiB` breaks that promise.

With `--hostile`, two clients attack instead, in a network namespace: one sends drawings whose rendering is endless, one
asks for names that are never answered. The 99th percentile of other clients must stay as it is without the two.

With `--worst`, ten of the valid requests that take the longest are repeated instead, each by a client of its own. The
99th percentile of thumbnails beside them must be at most a second.

With `--greedy-key`, a signing key with quotas requests more than them, beside a polite key: hit ratio and 99th percentile
of the polite key must stay as they are without it. `--without-quotas` breaks that promise.
"""

import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=int, default=15, help="duration of each phase (default: 15)")
    parser.add_argument("--factor", type=float, default=10, help="offered load, as a multiple of the capacity (default: 10)")
    parser.add_argument("--reads", type=int, default=50, help="requests for cached images per second (default: 50)")
    parser.add_argument("--budget-mib", type=int, default=128, help="memory budget of the last phase (default: 128)")
    parser.add_argument("--base-mib", type=int, default=32, help="further memory for downloads, caches and copies (default: 32)")
    parser.add_argument("--hostile", action="store_true", help="measure other clients beside two hostile ones instead")
    parser.add_argument("--worst", action="store_true", help="measure thumbnails beside the longest valid requests instead")
    parser.add_argument("--greedy-key", action="store_true", help="measure one signing key beside a greedy one instead")
    parser.add_argument("--without-quotas", action="store_true", help="give the greedy key no quotas")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--settings", default="", help="further settings of the server, separated by spaces")


def run(arguments: argparse.Namespace) -> int:
    from overload import greedy, hostile, proof, worst

    chosen = [(arguments.hostile, hostile), (arguments.worst, worst), (arguments.greedy_key, greedy), (True, proof)]
    return next(part for is_asked, part in chosen if is_asked).run(arguments)
