"""Photographs of several sizes, shapes and formats, resampled from one."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

SHAPES = {"landscape": 1.5, "portrait": 2 / 3}
ENCODINGS = {"jpg": "[Q=85]", "png": "[compression=6]", "webp": "[Q=80,effort=0]", "avif": "[Q=50,effort=0,compression=av1]"}


class Source(NamedTuple):
    name: str
    """Of its file."""
    width: int
    height: int
    bytes: int
    """Of its file."""


def made(photograph: Path, megapixels: list[float], folder: Path) -> Iterator[Source]:
    """One source for each size, shape and format, whose file exists until the next source is asked for."""
    for size in megapixels:
        for shape, ratio in SHAPES.items():
            height = round((size * 1e6 / ratio) ** 0.5)
            width = round(height * ratio)
            pixels = folder / f"{size:g}-{shape}.v"
            vips("thumbnail", photograph, pixels, width, "--height", height, "--crop", "centre", "--size", "both")
            for ending, options in ENCODINGS.items():
                file = folder / f"{size:g}-{shape}.{ending}"
                vips("copy", pixels, f"{file}{options}")
                yield Source(file.name, width, height, file.stat().st_size)
                file.unlink()
            pixels.unlink()


def vips(*arguments: object) -> None:
    subprocess.run(["vips", *map(str, arguments)], check=True, capture_output=True)
