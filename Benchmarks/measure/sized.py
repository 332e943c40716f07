"""JPEGs of several sizes, scaled from the JPEG of 100 MP."""

import subprocess
from pathlib import Path

from context import Context

SIDES = {0.25: 500, 1: 1000, 4: 2000, 16: 4000, 49: 7000}
"""Megapixels and side of squares, up to what the default limits accept."""


def sized_images(context: Context) -> dict[float, Path]:
    folder = context.large.parent / "sizes"
    folder.mkdir(exist_ok=True)
    return {megapixels: sized_image(context.large, folder / f"{side}.jpg", side) for megapixels, side in SIDES.items()}


def sized_image(large: Path, image: Path, side: int) -> Path:
    if not image.exists():
        partial = image.with_suffix(".partial.jpg")
        subprocess.run(["vips", "thumbnail", str(large), f"{partial}[Q=88,strip=true]", str(side)], check=True)
        partial.rename(image)
    return image
