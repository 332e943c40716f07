"""The measured cases: decoders, outputs, steps and pairs of steps, each at three sizes."""

import subprocess
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from sources import SIZES, endings

WIDTHS = (200, 800, 1600)
PLAIN = "output=jpg"
USUAL_EFFORTS = ("webp-effort=4", "avif-effort=3", "jxl-effort=4")
MARK = "png-alpha"
"""The source that marks are drawn from, in its small size."""
ANIMATED_STEPS = (
    "ro=30", "blur=1.0", "blur=50.0", "sharp=1", "mask=circle", "text=Hello", "mark&markw=25p", "fit=contain&bg=blur",
    "tint=red", "pixelate=10", "trim=10", "enlarge")
PAIRED = (
    "resample=linear", "fit=cover", "fit=cover&a=attention", "fit=contain", "fit=contain&bg=blur", "enlarge", "orient=6",
    "crop=10p,10p,80p,80p", "trim=10", "ro=90", "ro=30", "flip", "flop", "cut=10p,10p,80p,80p", "bg=red", "bri=25",
    "mod=1.5", "con=40", "sat=2", "hue=120", "gam=2", "tint=red", "filt=sepia", "duotone=black,red", "blur=1.0",
    "blur=50.0", "sharp=1", "pixelate=10", "text=Hello", "border=8", "radius=20", "mask=circle", "pad=20",
    "mark&markw=25p", "mark&marka=tile")
"""One value of each parameter, two where the way depends on the value."""


UNPREDICTED = dict.fromkeys(
    ("output=webp&ll, webp-effort=5", "output=webp&ll, webp-effort=6"),
    "libwebp tries every way to compress, but only with small images"
) | {"output=avif&max_bytes=20000": "the search for a quality ends after one to five encodes"}
"""Cases whose cost does not follow from what a plan knows, and why: they are measured, but not judged."""


class Case(NamedTuple):
    section: str
    source: str
    size: str
    width: int
    """0 = the size of the source."""
    output: str = PLAIN
    steps: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The same at all sizes."""
        query = "&".join(part for part in (*self.steps, self.output if self.output != PLAIN else "") if part)
        return f"{self.source}: {query}" if self.source != "jpeg" or not query else query

    @property
    def where(self) -> str:
        return f"{self.size} source, w={self.width or 'source'}"


CALIBRATION = Case("calibration", "jpeg", "medium", 400)


def every(driver: Path) -> Iterator[Case]:
    """The cases of all sections."""
    names = {"step": [], "output": []}
    listed = subprocess.run([str(driver), "list"], check=True, capture_output=True, text=True).stdout
    for line in listed.splitlines():
        kind, name = line.split("\t")
        names[kind].append(name)
    if unknown := {*PAIRED, *ANIMATED_STEPS} - set(names["step"]):
        raise SystemExit(f"the driver does not know: {', '.join(sorted(unknown))}")
    yield from decoders()
    yield from outputs(names["output"])
    yield from steps(names["step"])
    yield from animations()
    yield from drawings()
    for pair in combinations(PAIRED, 2):
        if all(name.startswith(("fit=", "blur=", "mark")) for name in pair) and same_parameter(*pair):
            continue
        yield from (Case("pair", "jpeg", "medium", width, steps=pair) for width in WIDTHS)


def same_parameter(one: str, other: str) -> bool:
    return one[:4] == other[:4]


def decoders() -> Iterator[Case]:
    for source in endings():
        for size in SIZES:
            yield Case("decoder", source, size, 400)


def outputs(names: list[str]) -> Iterator[Case]:
    for name in names:
        # Great efforts take minutes for large images.
        is_usual = "effort=" not in name or name.endswith(USUAL_EFFORTS)
        yield from (Case("output", "jpeg", "medium", width, name) for width in (WIDTHS if is_usual else WIDTHS[:2]))
    for name in ("output=png", "output=webp", "output=webp&ll, webp-effort=4", "output=avif", "output=jxl", "output=gif",
                 "output=png&palette", "output=tiff"):
        yield Case("output", "png-alpha", "medium", 800, name)


def steps(names: list[str]) -> Iterator[Case]:
    for name in names:
        for width in WIDTHS:
            yield Case("step", "jpeg", "medium", width, steps=(name,))
        yield Case("step", "png-alpha", "medium", 800, steps=(name,))
        if name == "enlarge":
            yield from (Case("step", "jpeg", "small", width, steps=(name,)) for width in (1600, 4000))


def animations() -> Iterator[Case]:
    for source in ("animated-gif", "animated-webp"):
        for output in ("output=gif", "output=webp", "output=webp&ll, webp-effort=4"):
            for size in SIZES:
                yield Case("animation", source, size, 0, output)
                yield Case("animation", source, size, 200, output, ("enlarge",))
        yield from (Case("animation", source, size, 0, "output=webp", ("trim=10",)) for size in SIZES)
    for source in ("framed-gif", "animated-gif"):
        yield from (Case("animation", source, size, 0, "output=gif", ("trim=10",)) for size in SIZES)
    for name in ANIMATED_STEPS:
        yield from (Case("animation", "animated-webp", size, 200, "output=webp", (name,)) for size in SIZES)


def drawings() -> Iterator[Case]:
    """AVIF, whose time depends on the content: drawings, photographs with little detail, alpha, and sources that are small
    for their pixels, also because these repeat."""
    for source in ("drawing", "drawing-alpha", "screen", "screen-alpha", "smooth", "avif", "webp", "svg", "svg-paths",
                   "tiles"):
        for output in ("output=avif", "output=avif&ll, avif-effort=3"):
            yield from (Case("drawing", source, "medium", width, output) for width in (*WIDTHS, 0))
        yield from (Case("drawing", source, size, 0, "output=avif") for size in ("small", "large"))
    for width in (*WIDTHS, 0):
        yield Case("drawing", "png-alpha", "medium", width, "output=avif")
