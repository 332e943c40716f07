"""Scores the pixels of each resampling by SSIMULACRA2 against linear light, by the width of the source.

    pixels.py --server EXECUTABLE BACKGROUNDS

BACKGROUNDS is the folder usr/share/backgrounds of Debian's packages lomiri-wallpapers-16.04 and -20.04 and
mate-backgrounds. Six photographs are scaled to each width of SOURCES and encoded. The service makes JPEGs of quality 80
of them, as does `vips_thumbnail`. The reference is made of all pixels of the source, in linear light. Times are of the
processor, of the server and its workers, for each image. Needs pyvips besides requirements.txt; takes some minutes.
"""

import os

os.environ.setdefault("VIPS_CONCURRENCY", "1")

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import pyvips
from fit import Reference, samples

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts/proofs"))
from processes import cpu_seconds  # noqa: E402
from server import Server  # noqa: E402

# 1,340 and 2,680 leave the smallest factors to the resampler behind a decoder that shrinks by 2 and by 4.
SOURCES = [768, 1100, 1340, 1400, 1700, 2000, 2500, 2680, 3000, 3500, 4000]
WIDTH = 512
QUALITY = 80
PHOTOGRAPHS = [
    "Dragonfly_by_Bolly", "Bridge_by_Sander_Klootwijk", "sunset_by_Aitzol_Berasategi",
    "seeding_by_Clements_Engelhardt", "Kleiber_by_Lukas_Baubkus", "mate/abstract/Elephants_5640x3172",
]  # fmt: skip


class Result(NamedTuple):
    score: float
    size: int
    milliseconds: float
    """0 where it is not measured."""


def scaled(photograph: Path, width: int) -> bytes:
    image = pyvips.Image.thumbnail(str(photograph), width, height=100_000, linear=True, size="down")
    return image.jpegsave_buffer(Q=90, optimize_coding=True, strip=True)


def reference(source: bytes) -> Reference:
    """All pixels of the source in linear light of floating point, reduced by Lanczos."""
    image = pyvips.Image.jpegload_buffer(source)
    light = image.colourspace("scrgb")
    height = max(1, round(image.height * WIDTH / image.width))
    small = light.reducev(image.height / height).reduceh(image.width / WIDTH).colourspace("srgb")
    return Reference(samples(small))


def decoded(answer: bytes):
    return samples(pyvips.Image.jpegload_buffer(answer))


def thumbnail(source: bytes, linear: bool) -> bytes:
    image = pyvips.Image.thumbnail_buffer(source, WIDTH, height=100_000, linear=linear)
    return image.jpegsave_buffer(Q=QUALITY, optimize_coding=True, strip=True)


def of_service(server: Server, name: str, resampling: str) -> tuple[bytes, float]:
    before = sum(cpu_seconds(server.process.pid))
    answer = server.ask(f"/image?url=local:///{name}&w={WIDTH}&output=jpg&q={QUALITY}&resample={resampling}")
    if answer.status != 200:
        raise SystemExit(f"{name}: {answer.status} {answer.body[:200]!r}")
    return answer.body, (sum(cpu_seconds(server.process.pid)) - before) * 1000


def measured(server: Server, folder: Path, name: str, source: bytes) -> dict[str, Result]:
    (folder / name).write_bytes(source)
    scorer, results = reference(source), {}
    for resampling in ("fast", "accurate", "linear"):
        body, milliseconds = of_service(server, name, resampling)
        results[resampling] = Result(scorer.score(decoded(body)), len(body), milliseconds)
    for way, linear in {"vips_thumbnail": False, "vips_thumbnail --linear": True}.items():
        body = thumbnail(source, linear)
        results[way] = Result(scorer.score(decoded(body)), len(body), 0)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", type=Path, required=True)
    parser.add_argument("backgrounds", type=Path)
    arguments = parser.parse_args()
    print("| Source | Way | Score | Bytes | Time |\n| --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "images"
        folder.mkdir()
        settings = [f"--local-root={folder}", "--cache-disk-bytes=0", "--cache-decoded-bytes=0"]
        server = Server(arguments.server.resolve(), Path(work), *settings)
        try:
            server.wait_until_it_listens()
            for width in SOURCES:
                rows = [
                    measured(
                        server, folder, f"{Path(name).name}-{width}.jpg",
                        scaled(arguments.backgrounds / f"{name}.jpg", width))
                    for name in PHOTOGRAPHS
                ]
                for way in rows[0]:
                    score, size, time = (statistics.mean(row[way][index] for row in rows) for index in range(3))
                    spent = f"{time:.1f} ms" if time else ""
                    print(f"| {width} px | {way} | {score:.1f} | {size:.0f} | {spent} |", flush=True)
        finally:
            server.kill()


if __name__ == "__main__":
    main()
