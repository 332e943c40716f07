"""The table "Where Darkroom differs from a browser" of docs/browsers.md: the exceptions of the comparison."""

import re
import subprocess
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).resolve().parent.parent.parent / "docs/browsers.md"
HEADING = "## Where Darkroom differs from a browser"
DAMAGED = "damaged file"
"""The kind of files that browser and server show only in part."""
CAUSES = ("size", "alpha", "color", "refused")


class Row(NamedTuple):
    name: str
    kinds: list[str]
    """Names of `KINDS`, or patterns of paths or file names."""
    causes: set[str]

    def covers(self, path: str, body: bytes, cause: str, is_damaged: bool) -> bool:
        """Whether the row states this difference of a file. `is_damaged` is what browser and server agree on."""
        return cause in self.causes and any(is_damaged if kind == DAMAGED else is_of_kind(kind, path, body) for kind in self.kinds)


def rows() -> list[Row]:
    lines = PAGE.read_text().partition(HEADING)[2].partition("\n## ")[0].splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    found = [Row(name, re.findall(r"`([^`]+)`", files), set(re.findall(r"\w+", causes))) for name, files, causes, *_ in cells[2:]]
    for row in found:
        if not row.kinds or not all(kind in (DAMAGED, *KINDS) or re.search(r"[*.]", kind) for kind in row.kinds) or not row.causes <= set(CAUSES):
            raise ValueError(f"{PAGE.name}: '{row.name}' needs file names or {', '.join(KINDS)} in backticks, and {', '.join(CAUSES)}")
    return found


def is_of_kind(kind: str, path: str, body: bytes) -> bool:
    if kind in KINDS:
        return KINDS[kind](body)
    return fnmatchcase(path, kind) or fnmatchcase(path.rpartition("/")[2], kind)


def segments(body: bytes) -> Iterator[tuple[int, bytes]]:
    """The marker and the content of each segment before the scan of a JPEG."""
    at = 2
    while body[:2] == b"\xff\xd8" and at + 4 <= len(body) and body[at] == 0xFF and body[at + 1] != 0xDA:
        length = int.from_bytes(body[at + 2 : at + 4], "big")
        yield body[at + 1], body[at + 4 : at + 2 + length]
        at += 2 + length


def has_four_channels(body: bytes) -> bool:
    """A JPEG whose frame header has four components, which are CMYK or YCCK."""
    frames = [content for marker, content in segments(body) if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC)]
    return any(content[5:6] == b"\4" for content in frames)


def has_odd_orientation(body: bytes) -> bool:
    """A JPEG whose EXIF orientation has another type than SHORT, the only one that EXIF 2.32, 4.6.4, allows."""
    for marker, content in segments(body):
        if marker == 0xE1 and content.startswith(b"Exif\0\0"):
            tiff, order = content[6:], "little" if content[6:8] == b"II" else "big"
            start = int.from_bytes(tiff[4:8], order)
            for at in range(start + 2, start + 2 + 12 * int.from_bytes(tiff[start : start + 2], order), 12):
                if int.from_bytes(tiff[at : at + 2], order) == 0x0112:
                    return int.from_bytes(tiff[at + 2 : at + 4], order) != 3
    return False


def is_small_of_half_chroma(body: bytes) -> bool:
    """An AVIF with sides of at most 256 pixels and subsampled chroma, by its boxes `ispe` and `av1C`."""
    size, codec = body.find(b"ispe") + 8, body.find(b"av1C") + 6
    if body[4:12] != b"ftypavif" or size < 8 or codec < 6 or len(body) < max(size + 8, codec + 1):
        return False
    sides = [int.from_bytes(body[at : at + 4], "big") for at in (size, size + 4)]
    return max(sides) <= 256 and body[codec] & 0x18 == 0x08


def has_exif(body: bytes) -> bool:
    """A WebP with EXIF data."""
    return body[:4] == b"RIFF" and body[8:12] == b"WEBP" and b"EXIF" in body


def has_animation_and_profile(body: bytes) -> bool:
    """An animated WebP with an ICC profile, by the flags of its header."""
    return body[:4] == b"RIFF" and body[8:16] == b"WEBPVP8X" and len(body) > 20 and body[20] & 0x22 == 0x22


def has_no_size(body: bytes) -> bool:
    """An SVG whose root lacks an absolute width or height."""
    root = re.search(rb"<(?:\w+:)?svg\b([^>]*)", body)
    sides = [re.search(rb"\s" + side + rb"\s*=\s*[\"']\s*[\d.]+(?![\d.%])", root[1]) for side in (b"width", b"height")] if root else []
    return None in sides


def has_outside_images(body: bytes) -> bool:
    """An SVG with an image that is not part of it."""
    return bool(re.search(rb"<(?:\w+:)?svg\b", body) and re.search(rb"<(?:\w+:)?image\b[^>]*?href\s*=\s*[\"']\s*(?!data:|#)", body))


def has_missing_font(body: bytes) -> bool:
    """An SVG with text in none of the fonts of this system by name."""
    named = re.findall(rb"font-family\s*[:=]\s*[\"']?([^;\"'>]*)", body)
    families = {name.strip().lower() for names in named for name in names.decode(errors="replace").split(",")}
    return b"<text" in body and not families & installed_fonts()


@cache
def installed_fonts() -> set[str]:
    shown = subprocess.run(["fc-list", ":", "family"], capture_output=True, text=True, check=True).stdout
    return {name.strip().lower() for line in shown.splitlines() for name in line.split(",")}


ALPHA_ITEM = b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha"

KINDS: dict[str, Callable[[bytes], bool]] = {
    "AVIF with alpha": lambda body: body[4:12] == b"ftypavif" and ALPHA_ITEM in body,
    "small AVIF of half chroma": is_small_of_half_chroma,
    "animated AVIF": lambda body: body[4:12] == b"ftypavis",
    "AVIF with a crop": lambda body: body[4:12] == b"ftypavif" and b"clap" in body,
    "JPEG without its end": lambda body: body[:2] == b"\xff\xd8" and b"\xff\xd9" not in body[-64:],
    "JPEG of four channels": has_four_channels,
    "JPEG with an odd orientation tag": has_odd_orientation,
    "WebP with EXIF": has_exif,
    "animated WebP with a profile": has_animation_and_profile,
    "SVG without size": has_no_size,
    "SVG with outside images": has_outside_images,
    "SVG in a missing font": has_missing_font,
    "SVG with systemLanguage": lambda body: b"systemLanguage" in body,
}
