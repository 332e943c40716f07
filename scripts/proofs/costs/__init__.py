"""Searches for valid requests that take more processor time or memory than the server predicted for them.

Requests are made from the parameters of the server's contract, in all dialects, for generated sources of every format; the
worst ones are changed further. `/explain` states the prediction, and the kernel what the workers took. Fails if a request
takes more than three times what was predicted, or five seconds in all.
"""

import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=int, default=600, help="duration of the search (default: 600)")
    parser.add_argument("--seed", type=int, help="seed of the search (default: a random one, which is printed)")
    parser.add_argument("--settings", default="", help="further settings of the server, separated by spaces")


def run(arguments: argparse.Namespace) -> int:
    from costs import proof

    return proof.run(arguments)
