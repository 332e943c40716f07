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
"""Opaque sources; sources with alpha, `bmp`, `ico`, drawings and animations are made apart."""


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
        if kind == "framed-gif":
            self.frame(ANIMATIONS.get(size, (*TINY, 2)), path)
        elif kind == "smooth":
            width, height = SIZES.get(size, TINY)
            vips("thumbnail", self.resized(width // 4, height // 4), f"{path}[Q=88]", f"{width}", "--height", f"{height}",
                 "--size", "force")
        elif kind == "tiles":
            self.tile(SIZES.get(size, TINY), path)
        elif kind.startswith(("drawing", "screen")):
            drawn = path.with_suffix(".svg")
            drawn.write_text(svg(kind.removesuffix("-alpha"), SIZES.get(size, TINY)))
            vips(*(["copy"] if kind.endswith("-alpha") else ["flatten"]), drawn, f"{path}",
                 *([] if kind.endswith("-alpha") else ["--background", "255 255 255"]))
            drawn.unlink()
        elif kind.startswith("animated"):
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


    def tile(self, shape: tuple[int, int], path: Path) -> None:
        """Noise that repeats, so that its file is as small as a drawing's."""
        width, height = shape
        bands = [path.with_name(f"band{seed}-{path.stem}.v") for seed in (1, 2, 3)]
        for seed, band in enumerate(bands):
            subprocess.run(
                ["vips", "gaussnoise", f"{band}", "32", "32", "--mean", "128", "--sigma", "70", "--seed", f"{seed}"],
                check=True, capture_output=True)
        cell, samples, whole = (path.with_name(f"{name}-{path.stem}.v") for name in ("cell", "samples", "whole"))
        subprocess.run(["vips", "bandjoin", " ".join(map(str, bands)), f"{cell}"], check=True, capture_output=True)
        vips("cast", cell, f"{samples}", "uchar")
        vips("replicate", samples, f"{whole}", f"{-(-width // 32)}", f"{-(-height // 32)}")
        vips("extract_area", whole, f"{path}", "0", "0", f"{width}", f"{height}")
        for part in (*bands, cell, samples, whole):
            part.unlink()

    def frame(self, shape: tuple[int, int, int], path: Path) -> None:
        """Frames with a plain border of an eighth on each side."""
        width, height, frames = shape
        inner = (width * 3 // 4, height * 3 // 4)
        source = self.resized(inner[0], inner[1] * 2)
        cut, first, second, pair, column = (
            path.with_name(f"{name}-{path.stem}.v") for name in ("cut", "first", "second", "pair", "column"))
        for top, frame in ((0, first), (inner[1], second)):
            vips("extract_area", source, f"{cut}", "0", f"{top}", *map(str, inner))
            vips("embed", cut, f"{frame}", f"{width // 8}", f"{height // 8}", f"{width}", f"{height}", "--extend", "white")
        # Not `arrayjoin`, which crashes in libvips 8.14.
        vips("join", first, f"{second}", f"{pair}", "vertical")
        vips("replicate", pair, f"{column}", "1", f"{frames // 2}")
        vips("gifsave", column, f"{path}", "--page-height", f"{height}")
        for part in (cut, first, second, pair, column):
            part.unlink()


def endings() -> dict[str, str]:
    made_apart = {
        "png-alpha": "png", "webp-alpha": "webp", "bmp": "bmp", "ico": "ico", "svg": "svg", "svg-filter": "svg",
        "svg-paths": "svg", "animated-gif": "gif", "animated-webp": "webp", "framed-gif": "gif", "smooth": "jpg",
        "drawing": "png", "drawing-alpha": "png", "screen": "png", "screen-alpha": "png", "tiles": "png",
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
    body = {
        "svg": SHAPES, "svg-filter": FILTERED, "svg-paths": paths(), "drawing": page(), "screen": table()}[kind]
    return f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 100 75">{body}</svg>'


SHAPES = '<rect width="100" height="75" fill="#fed"/><circle cx="40" cy="30" r="25" fill="#36a" fill-opacity=".6"/>'
FILTERED = (
    '<filter id="f"><feTurbulence baseFrequency=".2" numOctaves="3"/><feGaussianBlur stdDeviation="1"/></filter>'
    '<rect width="100" height="75" filter="url(#f)"/>')


def paths() -> str:
    """A thousand translucent circles, spread by a checksum."""
    places = ((zlib.crc32(b"%d" % number) % 100, zlib.crc32(b"-%d" % number) % 75) for number in range(1000))
    return "".join(f'<circle cx="{x}" cy="{y}" r="6" fill="#36a" fill-opacity=".1"/>' for x, y in places)


WORDS = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore".split()


def word(place: str) -> str:
    return WORDS[zlib.crc32(place.encode()) % len(WORDS)]


def page() -> str:
    """Lines of text in two sizes, and a chart."""
    lines = (
        f'<text x="4" y="{8 + 3 * line}" font-size="{3.5 if line % 6 == 0 else 2}">'
        f'{" ".join(word(f"{line} {part}") for part in range(9))}</text>'
        for line in range(14))
    bars = (
        f'<rect x="{5 + 6 * bar}" y="{72 - 1.2 * (bar * 7 % 15)}" width="5" height="{1.2 * (bar * 7 % 15)}" '
        f'fill="#{zlib.crc32(b"%d" % bar) % 4096:03x}"/>' for bar in range(15))
    return "".join((*lines, *bars))


def table() -> str:
    """Cells of two tones each, as on a screen."""
    return "".join(
        f'<rect x="{2 + 12 * column}" y="{2 + 5 * row}" width="11" height="4" '
        f'fill="#{zlib.crc32(b"%d %d" % (column, row)) % 4096:03x}"/>'
        f'<text x="{3 + 12 * column}" y="{5 + 5 * row}" font-size="2.2">{word(f"{column} {row}")}</text>'
        for column in range(8) for row in range(14))
