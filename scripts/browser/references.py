"""Stored references: how Chromium shows each file, as `as-chromium/NAME.png`, and sizes in `chromium.tsv`."""

import csv
from pathlib import Path
from typing import NamedTuple

TABLE, PICTURES = "chromium.tsv", "as-chromium"
COLUMNS = ["file", "width", "height", "shown", "exception"]


class Reference(NamedTuple):
    size: tuple[int, int]
    picture: Path | None
    """Nil if the browser does not show the file."""


class Picture(NamedTuple):
    size: tuple[int, int]
    png: bytes
    row: str
    """The row of docs/browsers.md that excuses a difference; empty if there is none."""


def read(folder: Path) -> dict[str, Reference]:
    """The references of a folder by the name of the file."""
    with (folder / TABLE).open(newline="") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))
    return {row["file"]: reference(folder, row) for row in rows}


def reference(folder: Path, row: dict[str, str]) -> Reference:
    picture = folder / PICTURES / f"{row['file']}.png"
    if row["shown"] != "yes" or row["width"] == "0" or not picture.is_file():
        return Reference((0, 0), None)
    return Reference((int(row["width"]), int(row["height"])), picture)


def write(folder: Path, pictures: dict[str, Picture | None]) -> None:
    """Replaces the references of a folder."""
    for old in (folder / PICTURES).rglob("*.png"):
        old.unlink()
    rows = ["\t".join(COLUMNS)]
    for name, shown in sorted(pictures.items()):
        cells = [*map(str, shown.size), "yes", shown.row] if shown else ["", "", "no", ""]
        rows.append("\t".join([name, *cells]))
        if shown:
            path = folder / PICTURES / f"{name}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(shown.png)
    (folder / TABLE).write_text("\n".join([*rows, ""]))
