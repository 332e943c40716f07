"""Shows that no forbidden address is contacted, whatever spelling, redirect or DNS response leads to it.

In a network namespace, all addresses lead to this machine. A raw socket records every first packet of a connection and
every datagram, to any address and port; canaries on the usual ports respond with an image. The public internet consists of
two addresses: an origin that redirects anywhere, and a resolver that responds as an attacker would. Traffic to any other
address is a breach. First, a server with its address guard disabled must be seen contacting the forbidden addresses.
"""

import argparse
import sys
from pathlib import Path

from server import CORPUS
from ssrf import namespace


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="directory with ssrf/url-cases.jsonl (default: ../shared/corpus)")
    parser.add_argument("--only-prove-harness", action="store_true", help="stop after showing that breaches are detected")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    if not arguments.inside:
        return namespace.enter(sys.argv)
    from ssrf import proof

    return proof.run(arguments)
