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


@lru_cache(maxsize=20_000)
def seen(png: bytes) -> tuple[Size, set[bytes]]:
    """The size and the colors of an RGB PNG; raises ValueError if it is incomplete or corrupt."""
    header, packed, name, at = b"", b"", b"", len(SIGNATURE)
    while png.startswith(SIGNATURE) and at < len(png):
        length = int.from_bytes(png[at : at + 4])
        name, body = png[at + 4 : at + 8], png[at + 8 : at + 8 + length]
        if png[at + 8 + length : at + 12 + length] != zlib.crc32(name + body).to_bytes(4):
            raise ValueError("a chunk is corrupt or truncated")
        header = body if name == b"IHDR" else header
        packed += body if name == b"IDAT" else b""
        at += 12 + length
    if name != b"IEND" or header[8:] != bytes((8, 2, 0, 0, 0)):
        raise ValueError("it is not an 8-bit RGB PNG, or its end is missing")
    width, height = int.from_bytes(header[:4]), int.from_bytes(header[4:8])
    try:
        data = zlib.decompress(packed)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    row, colors = bytearray(3 * width), set()
    if len(data) != (3 * width + 1) * height:
        raise ValueError("rows are missing")
    for start in range(0, len(data), 3 * width + 1):
        row = unfiltered(data[start], data[start + 1 : start + 1 + 3 * width], row)
        colors |= {bytes(row[at : at + 3]) for at in range(0, 3 * width, 3)}
    return (width, height), colors


def unfiltered(kind: int, row: bytes, above: bytearray) -> bytearray:
    """A row of RGB without its PNG filter."""
    plain = bytearray(row)
    for at in range(len(row) if kind else 0):
        left, up, corner = (plain[at - 3], above[at], above[at - 3]) if at >= 3 else (0, above[at], 0)
        paeth = min((left, up, corner), key=lambda sample: abs(left + up - corner - sample))
        plain[at] = (row[at] + (0, left, up, (left + up) // 2, paeth)[kind]) & 255
    return plain
