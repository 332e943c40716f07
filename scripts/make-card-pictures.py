#!/usr/bin/env python3
"""Makes the pictures of docs/cards.md with a server that has the presets of the page.

    make-card-pictures.py [--server EXECUTABLE] [--full FOLDER]

Each recipe has a link to the playground, which has the query of its card. --full also keeps the cards in their own size.
"""

import argparse
import re
import sys
import tempfile
from pathlib import Path
from urllib.request import Request, urlopen

from playground.server import ROOT, running

PICTURES_FOLDER = ROOT / "docs/cards"
PAGE = ROOT / "docs/cards.md"
LINK = re.compile(r"\(http://127\.0\.0\.1:8080/#(preset=([a-z-]+)&[^)]*)\)")
YAML = re.compile(r"^```yaml\npresets:\n(.*?)^```$", re.MULTILINE | re.DOTALL)
WIDTH = 600
MAX_BYTES = 24_576
QUALITIES = (85, 75, 60, 45)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", type=Path, default=ROOT / ".build/debug/darkroom", help="path of the executable")
    parser.add_argument("--full", type=Path, help="folder for the cards in their own size")
    options = parser.parse_args()
    page = PAGE.read_text()
    PICTURES_FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="darkroom-cards-") as name:
        folder = Path(name)
        (folder / "presets.yaml").write_text("presets:\n" + "".join(YAML.findall(page)))
        with running(options.server, folder, "--config", folder / "presets.yaml") as address:
            for query, card in LINK.findall(page):
                image = get(f"{address}/image?{query}&output=png")
                (folder / f"{card}.png").write_bytes(image)
                if options.full:
                    (options.full / f"{card}.png").write_bytes(image)
                (PICTURES_FOLDER / f"{card}.webp").write_bytes(picture(address, card))
    files = list(PICTURES_FOLDER.glob("*.webp"))
    print(f"{len(files)} pictures, {sum(file.stat().st_size for file in files):,} bytes")
    return 0


def picture(address: str, card: str) -> bytes:
    for quality in QUALITIES:
        image = get(f"{address}/image?url=local:///{card}.png&w={WIDTH}&output=webp&q={quality}")
        if len(image) <= MAX_BYTES:
            return image
    raise SystemExit(f"{card}: the picture is larger than {MAX_BYTES} bytes at quality {QUALITIES[-1]}")


def get(target: str) -> bytes:
    with urlopen(Request(target)) as response:
        return response.read()


if __name__ == "__main__":
    sys.exit(main())
