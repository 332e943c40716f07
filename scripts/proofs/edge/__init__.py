"""Puts Varnish and nginx in front of one node and of three, changes originals under load, purges, and counts stale answers.

Originals change, and are purged by URL, host, tag and prefix with `wait=true`, while clients request images through both
caches and, with three nodes, a node is killed. After the answer that the purge holds and that the caches were told, no
answer may be older. With --self-test, the proof must find stale answers without tags, and without purges of the caches.
"""

import argparse


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=60, help="duration of each part (default: 60)")
    parser.add_argument("--seed", type=int, default=1, help="of all random choices (default: 1)")
    parser.add_argument("--only", choices=["one", "ban", "three"], help="one part")
    parser.add_argument("--self-test", action="store_true", help="parts without a defense must find stale answers")
    parser.add_argument("--keep", action="store_true", help="keep logs")


def run(arguments: argparse.Namespace) -> int:
    import sys

    from server import ROOT

    # Nodes, the object store, HAProxy and an origin whose images have versions.
    sys.path.append(str(ROOT / "scripts/cluster"))
    from edge import proof

    return proof.run(arguments)
