"""Shows that no address is contacted that must not be, whatever spelling, redirect or DNS answer leads there.

All addresses that there are lead to this machine in a network namespace of its own. A raw socket sees every first packet
of a connection and every datagram, to any address and port; listeners on the usual ports answer as canaries do, with a
picture. The public internet is two addresses: an origin that redirects to wherever it is told, and a resolver that says
what suits an attacker. What goes anywhere else is a breach. Before that a server with its defence switched off has to be
seen contacting what the guarded one must not.
"""

import argparse
import sys
from pathlib import Path

from server import CORPUS
from ssrf import namespace


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="folder with ssrf/url-cases.jsonl and more (../shared/corpus)")
    parser.add_argument("--only-prove-harness", action="store_true", help="stop once breaches were seen to be seen")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)


def run(arguments: argparse.Namespace) -> int:
    if not arguments.inside:
        return namespace.enter(sys.argv)
    from ssrf import proof

    return proof.run(arguments)
