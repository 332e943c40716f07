"""Replays attacks that once cost more than a request may cost, and checks the bound of each.

Each attack is a function with a bound, in one file per theme: `rotation`, `drawings`, `expensive`, `steps`, `hosts`,
`shares`, `readers`, `connections`, `store`, `access`, `signatures`, `origins`, `process`, `disks`, `streams`, `configuration`, and
`names`, which runs in a network namespace with a resolver that does not answer some names. Every server listens on
loopback and has the default settings except what the attack needs.
"""

import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", default="", help="themes or attacks to run, separated by commas")
    parser.add_argument("--list", action="store_true", help="list the attacks with their bounds, and run none")
    parser.add_argument("--settings", default="", help="further settings of the server, separated by spaces")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    from attack import proof

    return proof.run(arguments)
