#!/usr/bin/env python3
"""Makes docs/icons.png, on which every icon and bitmap of the fixtures is drawn by a server.

    make-icon-sheet.py [--server EXECUTABLE] [--output FILE]

Needs the packages of scripts/fixtures/requirements.txt. An icon is drawn at 16 and 32 pixels and at the size of its
largest image, a bitmap at its own; pixels are enlarged, and a checkerboard shows through transparent ones.
"""

import argparse
import io
import sys
from pathlib import Path
from urllib.parse import quote
from urllib.request import urlopen

from PIL import Image, ImageDraw, ImageFont

from playground.server import ROOT, running

IMAGES = ROOT / "Fixtures/images"
CELL, GAP, LABEL = 96, 8, 18
COLUMNS = 9
ICON_SIDES = (16, 32, None)
INK, PAPER, CHECKS = "#202020", "#ffffff", ("#ffffff", "#d8d8d8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", type=Path, default=ROOT / ".build/release/darkroom", help="the built executable")
    parser.add_argument("--output", type=Path, default=ROOT / "docs/icons.png")
    arguments = parser.parse_args()
    icons = sorted(file for file in (IMAGES / "icons").iterdir())
    bitmaps = sorted((IMAGES / "bitmaps").iterdir())
    with running(arguments.server) as base:
        cells = [(file.stem, drawn(base, file, side)) for file in icons for side in ICON_SIDES]
        cells += [(file.stem, drawn(base, file, None)) for file in bitmaps]
    sheet(cells).save(arguments.output, optimize=True)
    print(f"{arguments.output}: {len(cells)} images, {arguments.output.stat().st_size} bytes")
    return 0


def drawn(base: str, file: Path, side: int | None) -> Image.Image:
    """The image of a file, no wider than `side`."""
    source = quote(f"local:///{file.relative_to(IMAGES)}", safe="")
    size = f"&w={side}&h={side}" if side else ""
    with urlopen(f"{base}/image?url={source}{size}&output=png") as answer:
        return Image.open(io.BytesIO(answer.read())).convert("RGBA")


def sheet(cells: list[tuple[str, Image.Image]]) -> Image.Image:
    rows = -(-len(cells) // COLUMNS)
    picture = Image.new("RGB", (COLUMNS * (CELL + GAP) + GAP, rows * (CELL + LABEL + GAP) + GAP), PAPER)
    draw, font = ImageDraw.Draw(picture), ImageFont.load_default(11)
    for index, (name, image) in enumerate(cells):
        x, y = GAP + index % COLUMNS * (CELL + GAP), GAP + index // COLUMNS * (CELL + LABEL + GAP)
        picture.paste(checkerboard(), (x, y))
        factor = CELL // max(image.size)
        shown = image.resize((image.width * factor, image.height * factor), Image.NEAREST) if factor else image.copy()
        shown.thumbnail((CELL, CELL))
        picture.paste(shown, (x + (CELL - shown.width) // 2, y + (CELL - shown.height) // 2), shown)
        draw.text((x, y + CELL + 3), f"{name} {image.width}", INK, font)
    return picture.quantize(64, dither=Image.Dither.NONE)


def checkerboard() -> Image.Image:
    board = Image.new("RGB", (CELL, CELL), CHECKS[0])
    draw = ImageDraw.Draw(board)
    for x in range(0, CELL, 8):
        for y in range(x // 8 % 2 * 8, CELL, 16):
            draw.rectangle((x, y, x + 7, y + 7), CHECKS[1])
    return board


if __name__ == "__main__":
    sys.exit(main())
