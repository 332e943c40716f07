#!/usr/bin/env python3
"""Generates Fixtures/images and their table Fixtures/images.tsv; with --check, verifies the table instead.

Needs the packages of scripts/fixtures/requirements.txt and the commands vips, heif-enc and cjxl
(Debian: libvips-tools libheif-examples libjxl-tools). `make fixtures` sees to both.
"""

import argparse
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent / "Fixtures"
IMAGES, TABLE = ROOT / "images", ROOT / "images.tsv"
COMMANDS = {"vips": "libvips-tools", "heif-enc": "libheif-examples", "cjxl": "libjxl-tools"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="verify the table without changing anything")
    arguments = parser.parse_args()
    missing = [package for command, package in COMMANDS.items() if shutil.which(command) is None]
    if missing:
        print(f"missing Debian packages: {' '.join(missing)}", file=sys.stderr)
        return 2
    return check() if arguments.check else make()


def make() -> int:
    from fixtures import animation, color, formats, geometry, hdr, hostile, icons, orientation
    from fixtures.model import COLUMNS

    rooms = (formats, orientation, color, animation, geometry, hdr, icons, hostile)
    made = [one for room in rooms for one in room.fixtures()]
    made.sort(key=lambda fixture: ("/" in fixture.path, fixture.path))
    shutil.rmtree(IMAGES, ignore_errors=True)
    for fixture in made:
        file = IMAGES / fixture.path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(fixture.data)
    rows = [COLUMNS, *(fixture.row() for fixture in made)]
    TABLE.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    print(f"{len(made)} files, {sum(len(fixture.data) for fixture in made)} bytes")
    return check()


def check() -> int:
    from fixtures.check import problems

    found = list(problems(IMAGES, TABLE))
    for problem in found:
        print(problem, file=sys.stderr)
    print(f"{TABLE.relative_to(ROOT.parent)}: {f'{len(found)} problems' if found else 'no problems'}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
