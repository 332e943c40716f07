"""Proofs that attack the built server, each with one command and an exit status of its own.

`ssrf` shows in a network namespace that no address is contacted that must not be. `chaos` breaks origins, clients, disks
and processes for minutes and checks each answer. `corpus` sends it every picture that there is. `soak` keeps it at work and
watches its memory. `overload` asks for more than it can do. Each first shows that it would see a breach.
Exit: 0 nothing found, 1 a breach, 2 wrong usage, 77 this machine can't run it.
"""

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path

from server import ROOT

PROOFS = ["ssrf", "chaos", "corpus", "soak", "overload"]


def main() -> int:
    parser = argparse.ArgumentParser(prog="proofs", description=__doc__.splitlines()[0])
    parser.add_argument("--server", type=Path, help="the executable (the release build, else the debug build)")
    proofs = parser.add_subparsers(dest="proof", required=True)
    for name in (name for name in PROOFS if (Path(__file__).parent / name).is_dir()):
        module = import_module(name)
        module.add_options(proofs.add_parser(name, description=module.__doc__.splitlines()[0]))
    arguments = parser.parse_args()
    arguments.server = executable(arguments.server)
    if not arguments.server:
        parser.error("there is no executable; `swift build -c release --product darkroom` makes one")
    return import_module(arguments.proof).run(arguments)


def executable(named: Path | None) -> Path | None:
    candidates = [named] if named else [ROOT / ".build" / kind / "darkroom" for kind in ("release", "debug")]
    return next((path.resolve() for path in candidates if os.access(path, os.X_OK)), None)


if __name__ == "__main__":
    sys.exit(main())
