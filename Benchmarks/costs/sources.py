"""Sources of every format in three sizes, made from one photograph with the programs of libvips."""

import struct
import subprocess
import zlib
from pathlib import Path
from typing import NamedTuple

SIZES = {"small": (640, 480), "medium": (1920, 1280), "large": (4000, 3000)}
TINY = (48, 32)
ANIMATIONS = {"small": (60, 60, 100), "medium": (320, 240, 40), "large": (800, 600, 20)}
"""Width, height and frames."""


class Kind(NamedTuple):
    """A way to store a source: the ending decides what a worker has loaded, and `save` is an operation of libvips."""

    ending: str
    save: str
    options: str = ""


KINDS = {
    "jpeg": Kind("jpg", "jpegsave", "--Q 88"),
    "progressive": Kind("jpg", "jpegsave", "--Q 88 --interlace"),
    "png": Kind("png", "pngsave"),
    "interlaced": Kind("png", "pngsave", "--interlace"),
    "webp": Kind("webp", "webpsave", "--Q 82"),
    "webp-lossless": Kind("webp", "webpsave", "--lossless --effort 2"),
    "gif": Kind("gif", "gifsave"),
    "avif": Kind("avif", "heifsave", "--compression av1 --effort 1"),
    "heic": Kind("heic", "heifsave", "--compression hevc"),
    "jxl": Kind("jxl", "jxlsave", "--effort 4"),
    "jxl-lossless": Kind("jxl", "jxlsave", "--lossless --effort 3"),
    "tiff": Kind("tiff", "tiffsave", "--compression deflate"),
    "tiff-plain": Kind("tiff", "tiffsave"),
}
"""Opaque sources; `png-alpha`, `webp-alpha`, `bmp`, `ico`, the SVGs and the animations are made apart."""


class Sources:
    def __init__(self, folder: Path, photograph: Path) -> None:
        self.folder, self.photograph = folder, photograph

    def path(self, kind: str, size: str) -> Path:
        """The file, which is made if it does not exist."""
        ending = endings()[kind]
        path = self.folder / (f"tiny.{ending}" if size == "tiny" else f"{kind}-{size}.{ending}")
        if not path.exists():
            self.tiny_of(kind, size)
            partial = path.with_name(f"partial-{path.name}")
            self.make(kind, size, partial)
            partial.rename(path)
        return path

    def tiny_of(self, kind: str, size: str) -> None:
        """The image that the driver warms up with."""
        if size != "tiny":
            self.path(kind, "tiny")

    def make(self, kind: str, size: str, path: Path) -> None:
        if kind.startswith("animated"):
            self.animate(kind, ANIMATIONS.get(size, (*TINY, 2)), path)
        elif kind.startswith("svg"):
            path.write_text(svg(kind, SIZES.get(size, TINY)))
        elif kind == "ico":
            png = self.path("png", size).read_bytes()
            path.write_bytes(struct.pack("<HHHBBBBHHII", 0, 1, 1, 0, 0, 0, 0, 1, 32, len(png), 22) + png)
        elif kind == "bmp":
            vips("copy", self.plain(size), f"{path.with_suffix('.ppm')}")
            path.write_bytes(bmp(path.with_suffix(".ppm").read_bytes()))
            path.with_suffix(".ppm").unlink()
        elif kind.endswith("-alpha"):
            # Alpha falls off from left to right, so that neither decoders nor steps can skip it.
            join = [f"{self.plain(size)} {self.ramp(size)}", f"{path}"]
            subprocess.run(["vips", "bandjoin", *join], check=True, capture_output=True)
        else:
            form = KINDS[kind]
            vips(form.save, self.plain(size), f"{path}", *form.options.split())

    def plain(self, size: str) -> Path:
        """The photograph as uncompressed pixels."""
        width, height = SIZES.get(size, TINY)
        return self.resized(width, height)

    def resized(self, width: int, height: int) -> Path:
        path = self.folder / f"plain-{width}x{height}.v"
        if not path.exists():
            subprocess.run(
                ["vips", "thumbnail", f"{self.photograph}", f"{path}", f"{width}", "--height", f"{height}", "--crop",
                 "centre"], check=True, capture_output=True)
        return path

    def ramp(self, size: str) -> Path:
        width, height = SIZES.get(size, TINY)
        path = self.folder / f"ramp-{width}x{height}.v"
        if not path.exists():
            gray = path.with_name(f"gray-{path.name}")
            subprocess.run(["vips", "grey", f"{gray}", f"{width}", f"{height}", "--uchar"], check=True)
            gray.rename(path)
        return path

    def animate(self, kind: str, shape: tuple[int, int, int], path: Path) -> None:
        """Frames that differ everywhere: strips of the photograph one below the other."""
        width, height, frames = shape
        # A column of frames is cut from a wide image that is scaled to the column's length.
        column = self.folder / f"column-{width}x{height}x{frames}.v"
        if not column.exists():
            tall = min(frames, 4)
            part = self.resized(width, height * tall)
            repeats = -(-frames // tall)
            whole = column.with_name(f"whole-{column.name}")
            vips("replicate", part, f"{whole}", "1", f"{repeats}")
            vips("extract_area", whole, f"{column}", "0", "0", f"{width}", f"{height * frames}")
            whole.unlink()
        save = "gifsave" if kind == "animated-gif" else "webpsave"
        vips(save, column, f"{path}", "--page-height", f"{height}", *(["--effort", "2"] if save == "webpsave" else []))


def endings() -> dict[str, str]:
    made_apart = {
        "png-alpha": "png", "webp-alpha": "webp", "bmp": "bmp", "ico": "ico", "svg": "svg", "svg-filter": "svg",
        "svg-paths": "svg", "animated-gif": "gif", "animated-webp": "webp",
    }
    return {name: kind.ending for name, kind in KINDS.items()} | made_apart


def vips(operation: str, source: Path, *rest: str) -> None:
    subprocess.run(["vips", operation, f"{source}", *rest], check=True, capture_output=True)


def bmp(ppm: bytes) -> bytes:
    """A bitmap of 24 bits without compression from a portable pixmap."""
    _, size, _, pixels = ppm.split(b"\n", 3) if b"#" not in ppm[:64] else without_comments(ppm)
    width, height = map(int, size.split())
    stride = (width * 3 + 3) // 4 * 4
    rows = []
    for y in reversed(range(height)):
        row = bytearray(pixels[y * width * 3:(y + 1) * width * 3])
        row[0::3], row[2::3] = row[2::3], row[0::3]
        rows.append(bytes(row).ljust(stride, b"\0"))
    data = b"".join(rows)
    head = struct.pack("<2sIHHI", b"BM", 54 + len(data), 0, 0, 54)
    return head + struct.pack("<IiiHHIIiiII", 40, width, height, 1, 24, 0, len(data), 2835, 2835, 0, 0) + data


def without_comments(ppm: bytes) -> list[bytes]:
    fields = []
    rest = ppm
    while len(fields) < 3:
        line, rest = rest.split(b"\n", 1)
        if not line.startswith(b"#"):
            fields.append(line)
    return [*fields, rest]


def svg(kind: str, size: tuple[int, int]) -> str:
    width, height = size
    body = {"svg": SHAPES, "svg-filter": FILTERED, "svg-paths": paths()}[kind]
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 100 75">{body}</svg>'


SHAPES = '<rect width="100" height="75" fill="#fed"/><circle cx="40" cy="30" r="25" fill="#36a" fill-opacity=".6"/>'
FILTERED = (
    '<filter id="f"><feTurbulence baseFrequency=".2" numOctaves="3"/><feGaussianBlur stdDeviation="1"/></filter>'
    '<rect width="100" height="75" filter="url(#f)"/>')


def paths() -> str:
    """A thousand translucent circles, spread by a checksum."""
    places = ((zlib.crc32(b"%d" % number) % 100, zlib.crc32(b"-%d" % number) % 75) for number in range(1000))
    return "".join(f'<circle cx="{x}" cy="{y}" r="6" fill="#36a" fill-opacity=".1"/>' for x, y in places)
