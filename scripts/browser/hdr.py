#!/usr/bin/env python3
"""Compares gain maps of Darkroom's JPEGs with their sources, as headless Chromium shows them on a display with headroom.

The gain of each pixel is the logarithm of its light with the map by its light without. Each file is resized, cropped, turned,
mirrored and stretched in the order of imgproxy; the gains of the result must be the gains of the source after the same step: on average
within `MOST_STOPS` and `MOST_SHARE` of them, and shifted by at most `MOST_PIXELS`. Exit status: 0 they are, 1 one is not, 2 wrong usage.
"""

import argparse
import base64
import itertools
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "scripts/proofs"))

from chromium import Chromium  # noqa: E402
from origin import Origin  # noqa: E402
from server import Answer, Server, encoded  # noqa: E402

SETTINGS = ("--allow-networks=127.0.0.0/8", "--log-level=error")
FLAGS = ("--enable-experimental-web-platform-features",)
"""For canvases with headroom."""
HEADROOM_STOPS = 6
MOST_STOPS, MOST_SHARE, MOST_PIXELS = 0.08, 0.5, 1.0
OFFSET = 1 / 64
"""Keeps the gain of black finite."""
EDGE = 3
"""Pixels at the edges that shifts move out of the image."""
SECONDS = 60
Array = numpy.ndarray

STEPS: list[tuple[str, str, Callable[[Array], Array]]] = [
    ("w=150", "/image?output=jpg&hdr=keep&w=150&url=", lambda light: light),
    ("crop", "/image?output=jpg&hdr=keep&crop=40p,10p,55p,60p&url=", lambda light: part(light, 0.4, 0.1, 0.55, 0.6)),
    ("ro=90", "/image?output=jpg&hdr=keep&ro=90&w=100&url=", lambda light: numpy.rot90(light, -1)),
    ("flop", "/image?output=jpg&hdr=keep&flop&w=150&url=", lambda light: light[:, ::-1]),
    ("imgproxy", "/image?output=jpg&hdr=keep&rules=imgproxy&layout=force&w=120&h=90&url=", lambda light: light),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*", help="JPEGs with a gain map (default: all of Fixtures/images/hdr)")
    parser.add_argument("--server", type=Path, default=ROOT / ".build/debug/darkroom", help="path of the executable")
    options = parser.parse_args()
    files = options.files or [file for file in sorted((ROOT / "Fixtures/images/hdr").glob("*.jpg")) if "cut" not in file.name]
    with ExitStack() as running:
        folder = running.enter_context(tempfile.TemporaryDirectory(prefix="darkroom-hdr-"))
        server = Server(options.server, Path(folder), *SETTINGS)
        running.callback(server.stop)
        server.wait_until_it_listens()
        viewer = Viewer()
        running.callback(viewer.chromium.stop)
        print(f"{viewer.chromium.version}; peak of the light (white is 1), mean difference in stops, shift in pixels")
        return 0 if all([viewer.agrees(file, server) for file in files]) else 1


class Viewer:
    def __init__(self) -> None:
        self.origin = Origin()
        self.chromium = Chromium(f"{self.origin.base}/", FLAGS)
        self.paths = (f"/light/{number}" for number in itertools.count())
        """A path for each image, because browser and server keep images."""

    def agrees(self, file: Path, server: Server) -> bool:
        path = next(self.paths)
        source = self.light(file.read_bytes(), path)
        print(f"{file.name}, {source[0].shape[1]}x{source[0].shape[0]}, peak {source[1].max():.2f}")
        answers = [server.ask(prefix + encoded(self.origin.base + path), timeout=SECONDS) for _, prefix, _ in STEPS]
        return all([self.keeps(source, answer, name, move) for answer, (name, _, move) in zip(answers, STEPS)])

    def keeps(self, source: tuple[Array, Array], answer: Answer, name: str, move: Callable[[Array], Array]) -> bool:
        """Whether the result of a step has the gains of its source."""
        if answer.status != 200:
            print(f"  {name:10} {answer.status} {answer.problem}")
            return False
        result = self.light(answer.body, next(self.paths))
        expected = gain(*(reduced(move(light), result[0].shape) for light in source))
        seen = gain(*result)
        stops, shift = float(numpy.abs(seen - expected).mean()), shift_of(seen, expected)
        is_near = stops <= min(MOST_STOPS, MOST_SHARE * float(numpy.abs(expected).mean()))
        holds = is_near and max(map(abs, shift)) <= MOST_PIXELS
        size = f"{result[0].shape[1]}x{result[0].shape[0]}"
        print(f"  {name:10} {size:9} {result[1].max():5.2f} {stops:6.3f} {shift[0]:+.2f},{shift[1]:+.2f}{'' if holds else '  DIFFERS'}")
        return holds

    def light(self, body: bytes, path: str) -> tuple[Array, Array]:
        """The image in linear light, without and with headroom."""
        self.origin.bodies[path] = ("image/jpeg", body)
        return self._light(path, 0), self._light(path, HEADROOM_STOPS)

    def _light(self, path: str, stops: int) -> Array:
        width, height, samples = self.chromium.evaluate(f"lightOf({path!r}, {stops})", SECONDS)
        pixels = numpy.frombuffer(base64.b64decode(samples), numpy.float32).reshape(height, width, 4)
        return pixels[..., :3].mean(axis=2).astype(float)


def part(light: Array, x: float, y: float, width: float, height: float) -> Array:
    rows, columns = light.shape
    left, top = round(x * columns), round(y * rows)
    return light[top : top + round(height * rows), left : left + round(width * columns)]


def gain(plain: Array, bright: Array) -> Array:
    return numpy.log2((bright + OFFSET) / (plain + OFFSET))


def reduced(light: Array, shape: tuple[int, ...]) -> Array:
    """The means of the areas of each pixel."""
    for axis, length in enumerate(shape):
        edges = numpy.linspace(0, light.shape[axis], length + 1)
        sums = numpy.insert(numpy.cumsum(light, axis=axis), 0, 0, axis=axis)
        below = numpy.minimum(edges.astype(int), light.shape[axis] - 1)
        first, second = sums.take(below, axis), sums.take(below + 1, axis)
        share = (edges - below).reshape((-1, 1) if axis == 0 else (1, -1))
        light = numpy.diff(first + (second - first) * share, axis=axis) / (light.shape[axis] / length)
    return light


def shift_of(seen: Array, expected: Array) -> tuple[float, float]:
    """How far one image must be moved, in quarters of a pixel, so that it differs least from another."""
    inner = expected[EDGE:-EDGE, EDGE:-EDGE]

    def difference(shift: tuple[float, float]) -> tuple[float, float]:
        error = float(((moved(seen, *shift) - inner) ** 2).mean())
        # Of equal differences, as in a flat image, the shortest shift.
        return (round(error, 9), abs(shift[0]) + abs(shift[1]))

    steps = numpy.arange(-2, 2.01, 0.25)
    return min(itertools.product(steps, steps), key=difference)


def moved(image: Array, x: float, y: float) -> Array:
    for axis, distance in ((1, x), (0, y)):
        whole = int(numpy.floor(distance))
        length = image.shape[axis] - 2 * EDGE
        at = range(EDGE + whole, EDGE + whole + length)
        image = image.take(at, axis) * (1 - distance + whole) + image.take([place + 1 for place in at], axis) * (distance - whole)
    return image


if __name__ == "__main__":
    sys.exit(main())
