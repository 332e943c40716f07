"""Proofs that attack a built server, each as a command with its own exit status.

`ssrf` shows in a network namespace that no forbidden address is contacted. `chaos` injects failures of origins, clients,
disks and processes for minutes and checks each response. `corpus` requests every image of a corpus. `soak` keeps the
server under load and measures its memory. `overload` sends more requests than the server can handle. `attack` replays
attacks that once cost more than a request may. `costs` searches for requests that take more than was predicted. `edge`
puts caches in front of the server and purges images. `urls` requests each URL that the server names for photographs of
several sizes. Each proof first shows that it detects breaches. Exit status: 0 no breach, 1 a breach, 2 wrong usage, 77 not
supported on this machine.
"""

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path

from server import ROOT

PROOFS = ["ssrf", "chaos", "corpus", "soak", "overload", "attack", "costs", "edge", "urls"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="proofs", description=__doc__.splitlines()[0])
    parser.add_argument("--server", type=Path, help="path of the executable (default: the release build, otherwise the debug build)")
    proofs = parser.add_subparsers(dest="proof", required=True)
    for name in (name for name in PROOFS if (Path(__file__).parent / name).is_dir()):
        module = import_module(name)
        module.add_options(proofs.add_parser(name, description=module.__doc__.splitlines()[0]))
    arguments = parser.parse_args()
    arguments.server = executable(arguments.server)
    if not arguments.server:
        parser.error("no executable found; build it with `swift build -c release --product darkroom`")
    return import_module(arguments.proof).run(arguments)


def executable(named: Path | None) -> Path | None:
    candidates = [named] if named else [ROOT / ".build" / kind / "darkroom" for kind in ("release", "debug")]
    return next((path.resolve() for path in candidates if os.access(path, os.X_OK)), None)


if __name__ == "__main__":
    sys.exit(main())
