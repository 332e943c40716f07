#!/usr/bin/env python3
"""Cuts the benchmark's sources from the photographs in two of Debian's wallpaper packages.

Writes 001.jpg to 100.jpg (2.2 to 3.1 megapixels, quality 88, 4:2:0) and large.jpg (10000x10000) into a folder.
The packages are downloaded once, unpacked into a cache folder and not installed. Needs apt-get, dpkg and vips
(Debian: libvips-tools). The same packages and libvips give the same bytes; existing files are kept.
"""

import argparse
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PACKAGES = ["plasma-workspace-wallpapers", "mate-backgrounds"]
COUNT = 100
SIZES = [(1920, 1280), (2000, 1500), (1800, 1200), (2100, 1400), (1950, 1300), (1500, 1500), (2200, 1400)]
ENCODING = "[Q=88,optimize_coding=true,strip=true]"
PHOTOGRAPHS = [
    "usr/share/backgrounds/mate/abstract/Elephants_5640x3172.jpg",
    *(f"usr/share/backgrounds/mate/nature/{name}.jpg"
      for name in ("Aqua", "Garden", "LadyBird", "TwoWings", "Wood", "YellowFlower")),
    *(f"usr/share/wallpapers/{name}/contents/images/2560x1600.jpg"
      for name in ("Autumn", "BytheWater", "ColdRipple", "ColorfulCups", "DarkestHour", "EveningGlow", "FallenLeaf",
                   "Kite", "OneStandsOut", "Path")),
]  # fmt: skip
LARGE_SIDE = 10_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path, help="directory for the images")
    parser.add_argument(
        "--cache", type=Path, default=Path.home() / ".cache" / "darkroom-bench", help="cache directory for the packages"
    )
    arguments = parser.parse_args()
    absent = [command for command in ("apt-get", "dpkg", "vips", "vipsheader") if shutil.which(command) is None]
    if absent:
        print(f"missing commands: {' '.join(absent)}", file=sys.stderr)
        return 2
    arguments.output.mkdir(parents=True, exist_ok=True)
    targets = [arguments.output / f"{number:03}.jpg" for number in range(1, COUNT + 1)]
    large = arguments.output / "large.jpg"
    if all(target.exists() for target in [*targets, large]):
        return 0
    photographs = [unpacked(arguments.cache) / path for path in PHOTOGRAPHS]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda number: cut(photographs, number, targets[number]), range(COUNT)))
    enlarge(photographs[0], large)
    return 0


def unpacked(cache: Path) -> Path:
    """The directory with the unpacked packages."""
    tree, whole = cache / "tree", cache / "tree.whole"
    if whole.exists():
        return tree
    cache.mkdir(parents=True, exist_ok=True)
    if subprocess.run(["apt-get", "download", *PACKAGES], cwd=cache, capture_output=True, check=False).returncode != 0:
        if os.geteuid() == 0:
            subprocess.run(["apt-get", "update"], capture_output=True, check=False)
        subprocess.run(["apt-get", "download", *PACKAGES], cwd=cache, check=True, stdout=subprocess.DEVNULL)
    for package in cache.glob("*.deb"):
        subprocess.run(["dpkg", "-x", str(package), str(tree)], check=True)
        package.unlink()
    whole.touch()
    return tree


def cut(photographs: list[Path], number: int, target: Path) -> None:
    """Cuts crop `number`: cycles through photographs and sizes, with evenly spread positions."""
    if target.exists():
        return
    photograph = photographs[number % len(photographs)]
    width, height = SIZES[(number + number // len(photographs)) % len(SIZES)]
    full_width, full_height = size(photograph)
    left = int((full_width - width) * (number * 0.618_034 % 1))
    top = int((full_height - height) * (number * 0.754_878 % 1))
    save(target, "crop", photograph, str(left), str(top), str(width), str(height))


def enlarge(photograph: Path, target: Path) -> None:
    """A photograph scaled up and cropped to a square of 100 megapixels."""
    if not target.exists():
        side = str(LARGE_SIDE)
        save(target, "thumbnail", photograph, side, "--height", side, "--crop", "centre", "--size", "both")


def size(image: Path) -> tuple[int, int]:
    def field(name: str) -> int:
        command = ["vipsheader", "-f", name, str(image)]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    return field("width"), field("height")


def save(target: Path, operation: str, source: Path, *arguments: str) -> None:
    """Runs a libvips operation; the file gets its final name only when it is complete."""
    partial = target.with_suffix(".partial.jpg")
    command = ["vips", operation, str(source), f"{partial}{ENCODING}", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {result.stderr.strip()}")
    partial.rename(target)


if __name__ == "__main__":
    sys.exit(main())
