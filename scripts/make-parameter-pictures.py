#!/usr/bin/env python3
"""Makes the images of docs/gallery.md with a server, and the table that shows them.

    make-parameter-pictures.py [--server EXECUTABLE]

Each row of PICTURES becomes docs/pictures/NAME.webp. A row whose parameters the server does not know is skipped, with a
note; so is its cell in the gallery. Pictures that are no longer in the table are removed.
"""

import argparse
import json
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

from playground.server import ROOT, running

PICTURES_FOLDER = ROOT / "docs/pictures"
PAGE = ROOT / "docs/gallery.md"
BEGIN, END = "<!-- gallery: scripts/make-parameter-pictures.py -->", "<!-- end of the gallery -->"
MAX_BYTES = 8_192
COLUMNS = 4
QUALITIES = (75, 60, 45, 30)

CAT = "Sources/Web/Pages/Samples/cat.jpg"
COFFEE = "Sources/Web/Pages/Samples/coffee.jpg"
PLANE = "Sources/Web/Pages/Samples/paper-plane.svg"
LETTER = "Fixtures/images/orientation/f-1.jpg"
BORDER = "Fixtures/images/geometry/border.png"

BOX = "w=160&h=160"
SQUARE = "w=160&h=160&fit=cover"

# Name of the file, source, what is sent to the server, and what the caption shows of it (default: the same).
PICTURES = [
    ("w", COFFEE, "w=240", None),
    ("dpr", COFFEE, "w=80&dpr=2", None),
    ("fit-inside", CAT, f"{BOX}&fit=inside", "fit=inside"),
    ("fit-cover", CAT, f"{BOX}&fit=cover", "fit=cover"),
    ("fit-contain", CAT, f"{BOX}&fit=contain&bg=c98a1b", "fit=contain&bg=c98a1b"),
    ("fit-fill", CAT, "w=160&h=160&fit=fill", "fit=fill"),
    ("a-left", COFFEE, f"{SQUARE}&a=left", "a=left"),
    ("a-attention", CAT, f"{SQUARE}&a=attention", "a=attention"),
    ("fpx", CAT, f"{SQUARE}&a=focal&fpx=0.7&fpy=0.3", "a=focal&fpx=0.7&fpy=0.3"),
    ("ar", COFFEE, "w=240&ar=2:1", None),
    ("w-percent", COFFEE, "w=25p", None),
    ("min-h", COFFEE, "w=160&min-h=200", None),
    ("crop", CAT, "crop=120,40,240,160&w=240", "crop=120,40,240,160"),
    ("trim", BORDER, "trim=10&w=160&enlarge", "trim=10"),
    ("orient", LETTER, "orient=6&w=160&enlarge", "orient=6"),
    ("ro", CAT, "w=200&ro=12&bg=white", "ro=12&bg=white"),
    ("flip", CAT, "w=240&flip", "flip"),
    ("flop", CAT, "w=240&flop", "flop"),
    ("bg", PLANE, "w=240&bg=f8e6df", "bg=f8e6df"),
    ("bg-blur", CAT, "w=240&h=240&fit=contain&bg=blur", "fit=contain&bg=blur"),
    ("bri", CAT, "w=240&bri=25", "bri=25"),
    ("con", CAT, "w=240&con=40", "con=40"),
    ("sat", CAT, "w=240&sat=2", "sat=2"),
    ("hue", CAT, "w=240&hue=120", "hue=120"),
    ("gam", CAT, "w=240&gam=2", "gam=2"),
    ("tint", CAT, "w=240&tint=rebeccapurple", "tint=rebeccapurple"),
    ("filt-greyscale", CAT, "w=240&filt=greyscale", "filt=greyscale"),
    ("filt-sepia", CAT, "w=240&filt=sepia", "filt=sepia"),
    ("filt-negate", CAT, "w=240&filt=negate", "filt=negate"),
    ("duotone", CAT, "w=240&duotone=1a237e,ffb300", "duotone=1a237e,ffb300"),
    ("blur", CAT, "w=240&blur=4", "blur=4"),
    ("sharp", CAT, "w=240&sharp=3", "sharp=3"),
    ("pixelate", CAT, "w=240&pixelate=12", "pixelate=12"),
    ("pad", CAT, "w=200&pad=20&bg=f8e6df", "pad=20&bg=f8e6df"),
    ("border", CAT, "w=220&border=8,ab3218", "border=8,ab3218"),
    ("radius", CAT, "w=240&radius=32", "radius=32"),
    *((f"mask-{shape}", CAT, f"{SQUARE}&mask={shape}", f"mask={shape}") for shape in (
        "circle", "ellipse", "triangle", "triangle-180", "pentagon", "pentagon-180", "hexagon", "square", "star", "heart",
    )),
    ("mbg", CAT, f"{SQUARE}&mask=star&mbg=c98a1b", "mask=star&mbg=c98a1b"),
    ("text", COFFEE, "w=240&text=Good morning", "text=Good morning"),
    ("textsize", COFFEE, "w=240&text=Sale&textsize=60&textcolor=ffcc00&texta=center", "text=Sale&textsize=60&textcolor=ffcc00&texta=center"),
    ("mark", COFFEE, f"w=240&mark=local:///{PLANE}&markw=25%", "mark=…&markw=25%"),
    ("marka", COFFEE, f"w=240&mark=local:///{PLANE}&markw=25%&marka=top-left", "mark=…&marka=top-left"),
    ("markalpha", COFFEE, f"w=240&mark=local:///{PLANE}&markw=60%&marka=center&markalpha=40", "mark=…&markalpha=40"),
    ("markblend", COFFEE, f"w=240&mark=local:///{PLANE}&markw=80%&marka=center&markblend=multiply", "mark=…&markblend=multiply"),
    ("marktile", COFFEE, f"w=240&mark=local:///{PLANE}&markw=15%&marka=tile", "mark=…&marka=tile"),
]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", type=Path, default=ROOT / ".build/debug/darkroom", help="path of the executable")
    options = parser.parse_args()
    PICTURES_FOLDER.mkdir(exist_ok=True)
    with running(options.server, local_root=ROOT) as address:
        made = [cell for row in PICTURES if (cell := make(address, *row))]
    names = {f"{name}.webp" for name, _ in made}
    for file in PICTURES_FOLDER.glob("*.webp"):
        if file.name not in names:
            file.unlink()
    write_gallery(made)
    print(f"{len(made)} pictures, {sum(file.stat().st_size for file in PICTURES_FOLDER.glob('*.webp')):,} bytes")
    return 0


def make(address: str, name: str, source: str, query: str, caption: str | None) -> tuple[str, str] | None:
    """Writes a picture; returns its name and caption, or None if the server refuses its parameters."""
    encoded = "&".join(f"{key}{equals}{quote(value, safe=',:')}" for key, equals, value in (pair.partition("=") for pair in query.split("&")))
    for quality in QUALITIES:
        target = f"{address}/image?url={quote(f'local:///{source}', safe='')}&{encoded}&output=webp&q={quality}"
        try:
            with urlopen(Request(target)) as response:
                image = response.read()
        except HTTPError as error:
            detail = json.loads(error.read())["detail"]
            if error.code != 400:
                raise SystemExit(f"{name}: {target} failed with {error.code}: {detail}") from None
            print(f"skipped {name}: {detail}", file=sys.stderr)
            return None
        if len(image) <= MAX_BYTES:
            (PICTURES_FOLDER / f"{name}.webp").write_bytes(image)
            return name, caption or query
    raise SystemExit(f"{name}: the picture is larger than {MAX_BYTES} bytes at quality {QUALITIES[-1]}")


def write_gallery(made: list[tuple[str, str]]) -> None:
    """Replaces the gallery in the page: a table whose first line is the first row, because Markdown wants a header."""
    cells = [f"![{caption}](pictures/{name}.webp)<br>`{caption}`" for name, caption in made]
    cells += [""] * (-len(cells) % COLUMNS)
    rows = [f"| {' | '.join(cells[at:at + COLUMNS])} |" for at in range(0, len(cells), COLUMNS)]
    rows.insert(1, f"|{' --- |' * COLUMNS}")
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}\n" + "\n".join(rows) + f"\n{END}{after}")


if __name__ == "__main__":
    sys.exit(main())
