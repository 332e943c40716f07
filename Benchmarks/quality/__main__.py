"""Scores what the product `quality` has encoded, and prints bytes, scores and times of each setting.

Reads the product's lines from standard input. Scores are SSIMULACRA2 by the PyPI package of that name, against the PNG
of the same pixels. Needs vips (Debian: libvips-tools).
"""

import argparse
import math
import os
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

from ssimulacra2 import compute_ssimulacra2

# libvips' tools warn of each AVIF otherwise.
os.environ["VIPS_WARNING"] = "0"

SETTINGS = ["fixed", "high", "medium", "low"]


def score(results: Path, image: str, fmt: str, setting: str) -> float:
    decoded = results / f"{image}-{setting}-{fmt}.png"
    subprocess.run(["vips", "colourspace", str(results / f"{image}-{setting}.{fmt}"), str(decoded), "srgb"], check=True)
    try:
        return compute_ssimulacra2(str(results / f"{image}-reference.png"), str(decoded))
    finally:
        decoded.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path)
    results = parser.parse_args().results
    rows = [line.rstrip("\n").split("\t") for line in sys.stdin]
    cells: dict[tuple[str, str], dict[str, tuple[int, int, float, float]]] = defaultdict(dict)
    for image, fmt, setting, quality, size, milliseconds in rows:
        value = score(results, image, fmt, setting)
        cells[fmt, setting][image] = (int(quality), int(size), float(milliseconds), value)
    print("| Format | Setting | Quality | Bytes | Score: mean | deviation | lowest tenth | Time of one encode |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for fmt in dict.fromkeys(fmt for fmt, _ in cells):
        fixed = cells[fmt, "fixed"]
        for setting in SETTINGS:
            of = cells[fmt, setting]
            scores = sorted(cell[3] for cell in of.values())
            qualities = [cell[0] for cell in of.values()]
            size = sum(cell[1] for cell in of.values()) / sum(cell[1] for cell in fixed.values()) - 1
            ratio = math.exp(statistics.mean(math.log(of[name][2] / fixed[name][2]) for name in of))
            tenth = scores[: max(len(scores) // 10, 1)]
            print(
                f"| {fmt} | {setting} | {min(qualities)}–{max(qualities)} | {size:+.1%} | {statistics.mean(scores):.1f} "
                f"| {statistics.pstdev(scores):.1f} | {statistics.mean(tenth):.1f} | {ratio:.2f} |"
            )


if __name__ == "__main__":
    main()
