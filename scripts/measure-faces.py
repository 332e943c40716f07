#!/usr/bin/env python3
"""Measures how often faces are found, and how often crops cut heads.

Places portraits at several sizes, positions and angles on photographs without people, has a server crop, describe and
hide them, and prints tables in Markdown. Needs vips (Debian: libvips-tools), a server that was built with libdlib-dev,
and a folder with these portraits, which may all be copied: astronaut.png of scikit-image (PyPI: scikit-image,
skimage/data), and biden.jpg, obama.jpg, obama2.jpg and obama3.jpg, works of the government of the United States, of
face_recognition (PyPI: face-recognition 1.3.0, sources, tests/test_images).
"""

import argparse
import json
import math
import re
import subprocess
import tempfile
import urllib.request
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HEADS = {
    "astronaut.png": (0.33, 0.0, 0.56, 0.40),
    "biden.jpg": (0.395, 0.045, 0.78, 0.276),
    "obama.jpg": (0.367, 0.025, 0.704, 0.398),
    "obama2.jpg": (0.314, 0.135, 0.868, 0.567),
    "obama3.jpg": (0.405, 0.092, 0.638, 0.286),
}
"""Left, top, right and bottom of the head in each portrait, with hair and chin, as parts of its sides."""
CANVAS = (1200, 800)
HEIGHTS = [40, 80, 120, 200, 400]
"""Of heads, in pixels."""
ANGLES = [-20, -10, 10, 20]
PLACES = [0.0, 0.5, 1.0]
"""Of the portrait, as a part of the free width."""
CROP = 400
"""The width of crops of the whole height."""


@dataclass
class Scene:
    name: str
    group: str
    head: tuple[float, float, float, float]
    """Left, top, right and bottom in pixels."""

    def contains(self, x: float, y: float) -> bool:
        left, top, right, bottom = self.head
        return left <= x <= right and top <= y <= bottom


def vips(*arguments: object) -> None:
    subprocess.run(["vips", *map(str, arguments)], check=True)


def size(image: Path) -> tuple[int, int]:
    fields = [subprocess.run(["vipsheader", "-f", name, image], check=True, capture_output=True, text=True).stdout
              for name in ("width", "height")]
    return int(fields[0]), int(fields[1])


def scene(folder: Path, portrait: Path, background: Path, height: int, place: float, angle: int) -> Scene:
    """Writes a canvas with one portrait, cut where it exceeds the canvas."""
    name = f"{portrait.stem}-{height}-{place}-{angle}"
    left, top, right, bottom = HEADS[portrait.name]
    scaled, turned, window, ground = (folder / f"{part}.v" for part in ("scaled", "turned", "window", "ground"))
    vips("resize", portrait, scaled, height / (size(portrait)[1] * (bottom - top)))
    width, full = size(scaled)
    half = ((right - left) * width / 2, height / 2)
    across, down = (left + right) / 2 * width, (top + bottom) / 2 * full
    if angle:
        # Clockwise about the middle.
        vips("rotate", scaled, turned, angle % 360)
        sine, cosine = math.sin(math.radians(angle)), math.cos(math.radians(angle))
        x, y = across - width / 2, down - full / 2
        scaled = turned
        width, full = size(scaled)
        across, down = width / 2 + x * cosine - y * sine, full / 2 + x * sine + y * cosine
    # A part around the head, no larger than the canvas.
    kept = (min(width, CANVAS[0]), min(full, CANVAS[1]))
    start = (int(min(max(across - kept[0] / 2, 0), width - kept[0])), int(min(max(down - kept[1] / 2, 0), full - kept[1])))
    vips("crop", scaled, window, *start, *kept)
    vips("thumbnail", background, ground, CANVAS[0], "--height", CANVAS[1], "--crop", "centre")
    at = (int((CANVAS[0] - kept[0]) * place), CANVAS[1] - kept[1])
    vips("insert", ground, window, folder / f"{name}.png[strip]", *at)
    middle = (at[0] + across - start[0], at[1] + down - start[1])
    group = f"{height} px" if not angle else f"200 px, {abs(angle)}°"
    return Scene(name, group, (middle[0] - half[0], middle[1] - half[1], middle[0] + half[0], middle[1] + half[1]))


class Server:
    def __init__(self, executable: Path, folder: Path) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [executable, "serve", "--port", "0", "--faces", "true", "--local-root", folder, "--cache-dir",
             folder / "cache", "--log-level", "error"], stdout=subprocess.PIPE, text=True)  # fmt: skip
        line = next(line for line in self.process.stdout or [] if "http://" in line)
        self.base = re.search(r"http://[0-9.:]+", line)[0]

    def get(self, path: str, name: str, query: str) -> tuple[bytes, str | None]:
        url = f"{self.base}/{path}?url=local:///{name}&{query}"
        with urllib.request.urlopen(url, timeout=120) as answer:
            return answer.read(), answer.headers["X-Faces"]

    def pixels(self, name: str, query: str) -> tuple[int, int, bytes]:
        """Width, height, and red, green and blue of a result."""
        file = self.folder / "result.png"
        file.write_bytes(self.get("image", name, query)[0])
        vips("rawsave", file, self.folder / "result.raw")
        return (*size(file), (self.folder / "result.raw").read_bytes())


def start_of(crop: tuple[int, int, bytes], whole: tuple[int, int, bytes]) -> int:
    """Where the columns of a crop of the whole height begin."""
    row = whole[1] // 2
    line = whole[2][row * whole[0] * 3 : (row + 1) * whole[0] * 3]
    place = line.find(crop[2][row * crop[0] * 3 : (row + 1) * crop[0] * 3])
    assert place >= 0 and place % 3 == 0
    return place // 3


def measure(server: Server, scene: Scene) -> Iterator[str]:
    """What holds for a scene."""
    file = f"{scene.name}.png"
    document = json.loads(server.get("info", file, "fields=faces")[0])
    middles = [(face["x"] + face["width"] / 2, face["y"] + face["height"] / 2) for face in document["faces"]]
    if any(scene.contains(*middle) for middle in middles):
        yield "found"
    if any(not scene.contains(*middle) for middle in middles):
        yield "false"
    hidden = server.pixels(file, "output=png&redact=face:ff00ff")
    x, y = (scene.head[0] + scene.head[2]) / 2, (scene.head[1] + scene.head[3]) / 2
    start = (int(y) * hidden[0] + int(x)) * 3
    if hidden[2][start : start + 3] == b"\xff\x00\xff":
        yield "hidden"
    whole = server.pixels(file, "output=png")
    for anchor in ("face", "attention", "center"):
        crop = server.pixels(file, f"w={CROP}&h={CANVAS[1]}&fit=cover&a={anchor}&output=png")
        left = start_of(crop, whole)
        if scene.head[0] < left or scene.head[2] > left + CROP:
            yield f"cut by {anchor}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", type=Path, default=Path(".build/release/darkroom"))
    parser.add_argument("portraits", type=Path)
    parser.add_argument("backgrounds", type=Path, help="JPEG photographs without people")
    arguments = parser.parse_args()
    backgrounds = sorted(arguments.backgrounds.glob("*.jpg"))
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        server = Server(arguments.server.resolve(), folder)
        try:
            cases = [(height, place, 0) for height in HEIGHTS for place in PLACES]
            cases += [(200, 0.5, angle) for angle in ANGLES]
            counts: dict[str, Counter[str]] = {}
            for index, (portrait, case) in enumerate((portrait, case) for portrait in HEADS for case in cases):
                made = scene(folder, arguments.portraits / portrait, backgrounds[index % len(backgrounds)], *case)
                counts.setdefault(made.group, Counter()).update(["scenes", *measure(server, made)])
            print_table(counts)
            print_false_alarms(server, backgrounds, folder)
        finally:
            server.process.terminate()
            server.process.wait()


def print_table(counts: dict[str, Counter[str]]) -> None:
    columns = ["scenes", "found", "hidden", "cut by face", "cut by attention", "cut by center", "false"]
    print("| Head | " + " | ".join(columns) + " |\n" + "| --- " * (len(columns) + 1) + "|")
    for group, row in counts.items():
        print(f"| {group} | " + " | ".join(str(row[column]) for column in columns) + " |")


def print_false_alarms(server: Server, backgrounds: list[Path], folder: Path) -> None:
    """The photographs without people in which a face is found."""
    alarms = Counter[str]()
    for background in backgrounds:
        (folder / background.name).write_bytes(background.read_bytes())
        # So narrow that something is cut off in any case, without which no face is looked for.
        for name, query in [("crop", "w=40&h=200&fit=cover&a=face"), ("redact", "w=40&redact=face")]:
            found = server.get("image", background.name, query)[1]
            assert found is not None, f"{background.name}: no search"
            alarms[name] += found != "0"
    print(f"Photographs without people: {len(backgrounds)}; with a face for a=face: {alarms['crop']}, "
          f"for redact: {alarms['redact']}")


if __name__ == "__main__":
    main()
