"""The difference of two pictures of one image: premultiplied color and alpha, in the means of blocks."""

import io
from typing import NamedTuple

import numpy
from PIL import Image

GRID = 32
"""Blocks on the longer side, or one for each pixel of a smaller image. Means ignore how an edge was smoothed or dithered."""
MEAN_COLOR, WORST_COLOR = 3.0, 24.0
MEAN_ALPHA, WORST_ALPHA = 3.0, 24.0
"""The greatest difference, of 255, that counts as agreement: as a mean of all blocks, and in the worst one."""


class Difference(NamedTuple):
    mean: float
    worst: float


class Pair(NamedTuple):
    color: Difference
    alpha: Difference

    @property
    def cause(self) -> str:
        """`alpha`, `color`, or nothing for images that agree."""
        if self.alpha.mean > MEAN_ALPHA or self.alpha.worst > WORST_ALPHA:
            return "alpha"
        return "color" if self.color.mean > MEAN_COLOR or self.color.worst > WORST_COLOR else ""

    def __str__(self) -> str:
        difference = self.alpha if self.cause == "alpha" else self.color
        return f"mean {difference.mean:.1f}, worst {difference.worst:.0f}"


def compared(first: numpy.ndarray, second: numpy.ndarray) -> Pair:
    """Two images of rows of red, green, blue and alpha, which may have different sizes of one ratio."""
    difference = numpy.abs(means(first, *grid(first)) - means(second, *grid(first)))
    color = difference[..., :3].max(axis=2)
    alpha = difference[..., 3]
    return Pair(Difference(color.mean(), color.max()), Difference(alpha.mean(), alpha.max()))


def misses() -> list[str]:
    """The made-up differences that a comparison does not find, and differences that it finds in equal images."""
    picture = numpy.full((48, 64, 4), 255, numpy.uint8)
    picture[..., 0] = numpy.linspace(0, 255, 64)
    brighter, clear, spotted = picture.copy(), picture.copy(), picture.copy()
    brighter[..., :3] = (picture[..., :3] / 255.0) ** (1 / 2.2) * 255
    clear[..., 3] = 200
    spotted[8:12, 8:12, :3] = 0
    wanted = [("", picture), ("color", brighter), ("alpha", clear), ("color", spotted)]
    return [cause or "equality" for cause, other in wanted if compared(picture, other).cause != cause]


def grid(pixels: numpy.ndarray) -> tuple[int, int]:
    """The numbers of rows and columns of an image's blocks, which are nearly square."""
    height, width, _ = pixels.shape
    scale = min(1, GRID / max(height, width))
    return max(1, round(height * scale)), max(1, round(width * scale))


def reduced(pixels: numpy.ndarray) -> numpy.ndarray:
    """A small image of which each pixel is the mean of a block."""
    blocks = means(pixels, *grid(pixels))
    alpha = blocks[..., 3:]
    blocks[..., :3] *= numpy.divide(255, alpha, out=numpy.zeros_like(alpha), where=alpha > 0)
    return blocks.round().clip(0, 255).astype(numpy.uint8)


def means(pixels: numpy.ndarray, rows: int, columns: int) -> numpy.ndarray:
    """The means of blocks, with premultiplied colors."""
    premultiplied = pixels.astype(numpy.float32)
    premultiplied[..., :3] *= premultiplied[..., 3:] / 255
    height, width, channels = pixels.shape
    lines = shares(rows, height) @ premultiplied.reshape(height, width * channels)
    return numpy.einsum("cx,rxk->rck", shares(columns, width), lines.reshape(rows, width, channels), optimize=True)


def shares(count: int, length: int) -> numpy.ndarray:
    """A matrix of the share that each pixel of a line has in each block."""
    starts = numpy.arange(count)[:, None] * length / count
    pixels = numpy.arange(length)[None, :]
    overlap = numpy.minimum(pixels + 1, starts + length / count) - numpy.maximum(pixels, starts)
    return (overlap.clip(0) * count / length).astype(numpy.float32)


def pixels_of(png: bytes) -> numpy.ndarray:
    with Image.open(io.BytesIO(png)) as image:
        return numpy.asarray(image.convert("RGBA"))


def png_of(pixels: numpy.ndarray) -> bytes:
    out = io.BytesIO()
    image = Image.fromarray(pixels)
    is_opaque = (pixels[..., 3] == 255).all()
    (image.convert("RGB") if is_opaque else image).save(out, "png", optimize=True)
    return out.getvalue()


def side_by_side(first: numpy.ndarray, second: numpy.ndarray | None) -> numpy.ndarray:
    """Two images on one; only the first if there is no second."""
    parts = [part for part in (first, second) if part is not None]
    picture = numpy.zeros((max(part.shape[0] for part in parts), sum(part.shape[1] + 8 for part in parts) - 8, 4), numpy.uint8)
    left = 0
    for part in parts:
        picture[: part.shape[0], left : left + part.shape[1]] = part
        left += part.shape[1] + 8
    return picture
