"""Encodes and decodes PNGs, mostly of a single color, with the standard library only."""

import random
import zlib
from functools import lru_cache

SIGNATURE = b"\x89PNG\r\n\x1a\n"
Size = tuple[int, int]


def drawn(size: Size, color: bytes, noise: bytes = b"", rows: int | None = None) -> bytes:
    """A PNG of a single color. `noise` in a private chunk makes it larger; `rows` is the number of rows really present."""
    width, height = size
    return encoded(size, (b"\x00" + color * width) * (height if rows is None else rows), noise)


def random_pixels(size: Size, seed: int) -> bytes:
    """A PNG of random pixels, which no encoder without loss makes much smaller."""
    width, height = size
    samples = random.Random(seed)
    return encoded(size, b"".join(b"\x00" + samples.randbytes(3 * width) for _ in range(height)))


def encoded(size: Size, rows: bytes, noise: bytes = b"") -> bytes:
    width, height = size
    chunks = {
        b"IHDR": width.to_bytes(4) + height.to_bytes(4) + bytes((8, 2, 0, 0, 0)),
        b"noIs": noise,
        b"IDAT": zlib.compress(rows),
        b"IEND": b"",
    }
    return SIGNATURE + b"".join(
        len(body).to_bytes(4) + name + body + zlib.crc32(name + body).to_bytes(4) for name, body in chunks.items()
    )


@lru_cache(maxsize=500)
def noise(seed: int, length: int) -> bytes:
    return random.Random(seed).randbytes(length)


GRAY, RGB, PALETTE = 0, 2, 3
CHANNELS = {GRAY: 1, RGB: 3, PALETTE: 1}
"""By the color type. The server writes the one that takes the fewest bytes."""


@lru_cache(maxsize=20_000)
def seen(png: bytes) -> tuple[Size, set[bytes]]:
    """The size and the RGB colors of an opaque PNG of up to 8 bits; raises ValueError if it is incomplete or corrupt."""
    header, palette, packed, name, at = b"", b"", b"", b"", len(SIGNATURE)
    while png.startswith(SIGNATURE) and at < len(png):
        length = int.from_bytes(png[at : at + 4])
        name, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        if png[at + 8 + length : at + 12 + length] != zlib.crc32(name + body).to_bytes(4):
            raise ValueError("a chunk is corrupt or truncated")
        header = body if name == b"IHDR" else header
        palette = body if name == b"PLTE" else palette
        packed += body if name == b"IDAT" else b""
        at += 12 + length
    if name != b"IEND" or len(header) != 13 or header[8] > 8 or header[9] not in CHANNELS or any(header[10:]):
        raise ValueError("it is not an opaque PNG of up to 8 bits, or its end is missing")
    width, height = int.from_bytes(header[:4]), int.from_bytes(header[4:8])
    try:
        data = zlib.decompress(packed)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    depth, kind = header[8], header[9]
    length = (width * CHANNELS[kind] * depth + 7) // 8
    row, colors = bytearray(length), set()
    if len(data) != (length + 1) * height:
        raise ValueError("rows are missing")
    for start in range(0, len(data), length + 1):
        row = unfiltered(data[start], data[start + 1 : start + 1 + length], row, CHANNELS[kind])
        colors |= row_colors(row, width, depth, kind, palette)
    return (width, height), colors


def row_colors(row: bytearray, width: int, depth: int, kind: int, palette: bytes) -> set[bytes]:
    if kind == RGB:
        return {bytes(row[at : at + 3]) for at in range(0, 3 * width, 3)}
    highest, each = (1 << depth) - 1, 8 // depth
    values = {row[at // each] >> 8 - depth * (at % each + 1) & highest for at in range(width)}
    if kind == GRAY:
        return {bytes([value * 255 // highest] * 3) for value in values}
    return {palette[3 * value : 3 * value + 3] for value in values}


def unfiltered(kind: int, row: bytes, above: bytearray, step: int) -> bytearray:
    """A row without its PNG filter. `step` is the number of bytes of a pixel, at least 1."""
    plain = bytearray(row)
    for at in range(len(row) if kind else 0):
        left, up, corner = (plain[at - step], above[at], above[at - step]) if at >= step else (0, above[at], 0)
        paeth = min((left, up, corner), key=lambda sample: abs(left + up - corner - sample))
        plain[at] = (row[at] + (0, left, up, (left + up) // 2, paeth)[kind]) & 255
    return plain
