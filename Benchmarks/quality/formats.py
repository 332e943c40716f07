"""Compares WebP, AVIF and JPEG XL at equal SSIMULACRA2 scores, by bytes and processor time.

    formats.py PHOTOGRAPH...

Each photograph is scaled to 400, 800 and 1,600 pixels. Its target is the score of WebP at the default quality. AVIF and
JPEG XL are encoded at two qualities, and bytes and times at the target are read off the line through both. Encoders
have the default efforts. Needs pyvips besides requirements.txt; takes about a minute for two photographs.
"""

import os

os.environ.setdefault("VIPS_CONCURRENCY", "1")

import math
import statistics
import sys
import time

import numpy as np
import pyvips
from fit import Reference, samples

WIDTHS = [400, 800, 1600]
QUALITIES = {"webp": [82], "avif": [60, 76], "jxl": [70, 88]}


def encode(image, fmt, quality):
    """The bytes and milliseconds of one encode, the fastest of three."""
    times = []
    for _ in range(3):
        start = time.process_time()
        data = encoded(image, fmt, quality)
        times.append(time.process_time() - start)
    return data, min(times) * 1000


def encoded(image, fmt, quality):
    match fmt:
        case "webp": return image.webpsave_buffer(Q=quality, effort=4, strip=True)
        case "avif": return image.heifsave_buffer(Q=quality, effort=3, compression="av1", bitdepth=8, strip=True)
        case "jxl": return image.jxlsave_buffer(Q=quality, effort=4, strip=True)


def measured(pixels):
    """The bytes and milliseconds of each format at the score of WebP."""
    scorer, points = Reference(pixels), {}
    image = pyvips.Image.new_from_memory(pixels.data, pixels.shape[1], pixels.shape[0], 3, "uchar")
    image = image.copy(interpretation="srgb")
    for fmt, qualities in QUALITIES.items():
        points[fmt] = []
        for quality in qualities:
            data, milliseconds = encode(image, fmt, quality)
            decoded = pyvips.Image.new_from_buffer(data, "")
            decoded = decoded if decoded.interpretation == "srgb" else decoded.colourspace("srgb")
            points[fmt].append((scorer.score(samples(decoded)), math.log(len(data)), math.log(milliseconds)))
    target, results = points["webp"][0][0], {}
    for fmt, ends in points.items():
        low, high = np.array(ends[0]), np.array(ends[-1])
        share = (target - low[0]) / (high[0] - low[0]) if len(ends) > 1 else 0
        results[fmt] = np.exp((low + share * (high - low))[1:])
    return target, results


def main():
    print(f"libvips {'.'.join(str(pyvips.version(part)) for part in range(3))}")
    print("| Width | Score | Format | Bytes | Time |\n|---|---|---|---|---|")
    for width in WIDTHS:
        rows = []
        for path in sys.argv[1:]:
            image = pyvips.Image.thumbnail(path, width, height=20_000, export_profile="srgb")
            rows.append(measured(samples(image)))
        score = statistics.mean(target for target, _ in rows)
        webp = np.array([results["webp"] for _, results in rows])
        for fmt in QUALITIES:
            ratios = np.exp(np.mean(np.log(np.array([results[fmt] for _, results in rows]) / webp), axis=0))
            milliseconds = statistics.mean(results[fmt][1] for _, results in rows)
            times = f"{ratios[1]:.2f} ({milliseconds:.0f} ms)"
            print(f"| {width} | {score:.1f} | {fmt} | {ratios[0] - 1:+.0%} | {times} |", flush=True)


if __name__ == "__main__":
    main()
