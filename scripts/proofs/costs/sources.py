"""Sources of every format in two sizes, which the tested executable makes itself, beside some of the fixtures."""

import shutil
import subprocess
from pathlib import Path

from server import ROOT

FIXTURES = ROOT / "Fixtures/images"
WIDTHS = {"small": 320, "large": 2400}
ENDINGS = ("jpg", "png", "webp", "gif", "avif", "jxl", "tiff")
COPIED = (
    "formats/photo.heic", "formats/alpha.png", "formats/interlaced.png", "formats/progressive.jpg", "svg/drawing.svg",
    "animation/disposal.gif", "bitmaps/twenty-four-bit.bmp", "icons/favicon.ico", "color/cmyk.jpg", "color/sixteen-bit.png")
FRAMES = 60
FILTERED = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="75"><filter id="f">'
    '<feTurbulence baseFrequency=".2" numOctaves="3"/><feGaussianBlur stdDeviation="2"/></filter>'
    '<rect width="100" height="75" filter="url(#f)"/></svg>')


def made(executable: Path, folder: Path) -> list[str]:
    """The names of all sources in the folder."""
    for size, width in WIDTHS.items():
        for ending in ENDINGS:
            transform(executable, FIXTURES / "sample.jpg", folder / f"{size}.{ending}", width)
    transform(executable, FIXTURES / "formats/alpha.png", folder / "large-alpha.png", WIDTHS["large"])
    (folder / "filtered.svg").write_text(FILTERED)
    animate(folder / "small.gif", folder / "animated.gif")
    transform(executable, folder / "animated.gif", folder / "animated.webp", 200)
    for name in COPIED:
        shutil.copy(FIXTURES / name, folder / name.replace("/", "-"))
    return sorted(path.name for path in folder.iterdir())


def transform(executable: Path, source: Path, target: Path, width: int) -> None:
    subprocess.run([executable, "transform", source, target, "--w", str(width), "--enlarge"], check=True)


def animate(still: Path, target: Path) -> None:
    """An animation that shows the frame of a GIF again and again."""
    data = still.read_bytes()
    table = 3 << ((data[10] & 7) + 1) if data[10] & 0x80 else 0
    head, rest = data[:13 + table], data[13 + table:-1]
    target.write_bytes(head + rest * FRAMES + b";")
