"""Fits the model of `q=auto` to photographs and prints the Swift source of its numbers.

    fit.py FOLDER > numbers.swift

Each JPEG of FOLDER is scaled to 400 pixels (every eighth to 640), encoded at the qualities of KNOTS and scored by
SSIMULACRA2 against its own pixels, and encoded once more as the trial of `QualityChooser`, of which the features of
`StructuralSimilarity` are computed. One ridge regression makes the score of the trial, one line for each knot the score
at that quality. Images are left out in turn, a quarter of the sources at a time, to print how far results would miss
the targets (standard error). Takes a few minutes; needs pyvips besides requirements.txt.
"""

import os

os.environ.setdefault("VIPS_CONCURRENCY", "1")

import sys
from pathlib import Path

import numpy as np
import pyvips
from scipy import ndimage
from ssimulacra2 import ssimulacra2 as reference

KNOTS = {
    "jpeg": [30, 45, 60, 70, 78, 84, 90, 95], "webp": [30, 50, 65, 76, 84, 92], "avif": [30, 45, 57, 68, 80],
    "jxl": [45, 62, 75, 85, 92],
}  # fmt: skip
TARGETS = {"high": 82, "medium": 75, "low": 65}
BLUR = np.array([1, 4, 6, 4, 1]) / 16
RIDGE = 3.0


def encode(pixels, fmt, quality, quick=False):
    image = pyvips.Image.new_from_memory(np.ascontiguousarray(pixels).data, pixels.shape[1], pixels.shape[0], 3, "uchar")
    image = image.copy(interpretation="srgb")
    match fmt:
        case "jpeg": data = image.jpegsave_buffer(Q=quality, optimize_coding=not quick, strip=True)
        case "webp": data = image.webpsave_buffer(Q=quality, effort=0 if quick else 4, strip=True)
        case "avif": data = image.heifsave_buffer(Q=quality, effort=0 if quick else 2, compression="av1", bitdepth=8, strip=True)
        case "jxl": data = image.jxlsave_buffer(Q=quality, effort=3 if quick else 4, strip=True)
    decoded = pyvips.Image.new_from_buffer(data, "")
    return samples(decoded if decoded.interpretation == "srgb" else decoded.colourspace("srgb"))


def samples(image):
    return np.ndarray(buffer=image.write_to_memory(), dtype=np.uint8, shape=[image.height, image.width, image.bands])[:, :, :3].copy()


def xyb(linear):
    return reference.make_positive_xyb(reference.linear_rgb_to_xyb(linear.transpose(1, 0, 2)))


class Reference:
    """The reference's side of SSIMULACRA2, computed once."""

    def __init__(self, pixels):
        self.scales = []
        linear = reference.srgb_to_linear(pixels.astype(np.float64))
        for _ in range(6):
            if min(linear.shape[:2]) < 8:
                break
            plane = xyb(linear)
            self.scales.append((plane, reference.blur_image(plane), reference.blur_image(plane * plane)))
            linear = reference.downsample(linear, 2, 2)

    def score(self, pixels):
        linear, result = reference.srgb_to_linear(pixels.astype(np.float64)), reference.Msssim()
        for one, mean, square in self.scales:
            two, scale = xyb(linear), reference.MsssimScale()
            other = reference.blur_image(two)
            scale.avg_ssim = reference.ssim_map(
                mean, other, square, reference.blur_image(two * two), reference.blur_image(one * two))
            scale.avg_edgediff = reference.edge_diff_map(one, mean, two, other)
            result.scales.append(scale)
            linear = reference.downsample(linear, 2, 2)
        return result.score()


def shrink(pixels, factor):
    rows, columns = (side // factor * factor for side in pixels.shape[:2])
    return pixels[:rows, :columns].reshape(rows // factor, factor, columns // factor, factor, 3).mean((1, 3))


def blur(plane):
    rows = ndimage.convolve1d(plane, BLUR, axis=0, mode="nearest")
    return ndimage.convolve1d(rows, BLUR, axis=1, mode="nearest")


def norm(errors):
    return (errors**4).mean((0, 1)) ** 0.25


def features(original, result):
    """Those of StructuralSimilarity: for each scale four statistics of three channels."""
    one, two = (reference.srgb_to_linear(np.floor(shrink(image.astype(np.float64), 4) + 0.5)) for image in (original, result))
    values = []
    for _ in range(3):
        x, y = xyb(one), xyb(two)
        mean_x, mean_y = blur(x), blur(y)
        variances = blur(x * x) - mean_x**2 + blur(y * y) - mean_y**2
        covariance = blur(x * y) - mean_x * mean_y
        error = np.maximum(1 - (1 - (mean_x - mean_y) ** 2) * (2 * covariance + 0.0009) / (variances + 0.0009), 0)
        edge = (1 + abs(y - mean_y)) / (1 + abs(x - mean_x)) - 1
        values += [error.mean((0, 1)), norm(error), norm(np.maximum(edge, 0)), norm(np.maximum(-edge, 0))]
        one, two = shrink(one, 2), shrink(two, 2)
    return np.concatenate(values)


TRIALS = {"jpeg": 70, "webp": 70, "avif": 55, "jxl": 70}


def bands(width, height, fmt):
    """`QualityChooser.rows` of images of less than a megapixel."""
    share = 0.5 if fmt == "jxl" else min(0.5, (1 << 17) / (width * height))
    band = max(int(height * share / 3) // 16 * 16, 32)
    if fmt not in ("jpeg", "jxl") or 3 * band >= height:
        return [slice(0, height)]
    return [slice(top, top + band) for top in (0, (height - band) // 2, height - band)]


def measure(path, width):
    image = pyvips.Image.thumbnail(str(path), width, height=20_000, export_profile="srgb")
    pixels = samples(image.colourspace("srgb") if image.bands == 1 else image)
    scorer, measured = Reference(pixels), {}
    for fmt, knots in KNOTS.items():
        rows = np.concatenate([pixels[rows] for rows in bands(pixels.shape[1], pixels.shape[0], fmt)])
        trial = np.sqrt(features(rows, encode(rows, fmt, TRIALS[fmt], quick=True)))
        measured[fmt] = trial, np.array([scorer.score(encode(pixels, fmt, knot)) for knot in knots])
    return measured


def regress(values, scores):
    """Weights and bias of a ridge regression on standardized values."""
    mean, deviation = values.mean(0), values.std(0) + 1e-6
    table = np.c_[(values - mean) / deviation, np.ones(len(values))]
    penalty = RIDGE * np.eye(table.shape[1])
    penalty[-1, -1] = 0
    solution = np.linalg.solve(table.T @ table + penalty, table.T @ scores)
    weights = solution[:-1] / deviation
    return weights, solution[-1] - (weights * mean).sum()


class Model:
    def __init__(self, images):
        values, scores = [], []
        for measured in images:
            for fmt, (trial, curve) in measured.items():
                values.append(trial)
                scores.append(np.interp(TRIALS[fmt], KNOTS[fmt], curve))
        self.weights, self.bias = regress(np.array(values), np.array(scores))
        self.lines = {}
        for fmt in KNOTS:
            trials = np.array([measured[fmt][0] @ self.weights + self.bias for measured in images])
            curves = np.array([measured[fmt][1] for measured in images])
            self.lines[fmt] = np.linalg.lstsq(np.c_[np.ones(len(trials)), trials], curves, rcond=None)[0]

    def quality(self, fmt, trial, target):
        intercepts, slopes = self.lines[fmt]
        scores = np.maximum.accumulate(intercepts + slopes * (trial @ self.weights + self.bias))
        knots = KNOTS[fmt]
        return float(np.clip(np.ceil(np.interp(target, scores, knots)), knots[0], knots[-1]))


def report(sources, images):
    """What images that were left out of the fit would score."""
    folds = {source: index % 4 for index, source in enumerate(sorted(set(sources)))}
    models = [Model([image for source, image in zip(sources, images) if folds[source] != fold]) for fold in range(4)]
    for fmt, knots in KNOTS.items():
        for name, target in TARGETS.items():
            reached = np.array([
                np.interp(models[folds[source]].quality(fmt, image[fmt][0], target), knots, image[fmt][1])
                for source, image in zip(sources, images)
            ])
            print(f"{fmt} {name} {target}: mean {reached.mean():.1f}, deviation {reached.std():.1f}, "
                  f"lowest {reached.min():.1f}", file=sys.stderr)


def numbers(values, digits):
    text, lines, line = [f"{value:.{digits}f}" for value in values], [], "       "
    for item in text:
        if len(line) + len(item) > 116:
            lines.append(line)
            line = "       "
        line += f" {item},"
    return "\n".join([*lines, line])


def source(model):
    print("/// Printed by Benchmarks/quality/fit.py.\nextension QualityModel {")
    print(f"    static let bias = {model.bias:.3f}\n    static let weights: [Double] = [\n{numbers(model.weights, 3)}\n    ]")
    for fmt, (intercepts, slopes) in model.lines.items():
        print(f"\n    static let {fmt}Lines = Lines(\n        qualities: {KNOTS[fmt]},")
        print(f"        intercepts: [\n    {numbers(intercepts, 2)}\n        ],\n        slopes: [\n    {numbers(slopes, 4)}\n        ])")
    print("}")


def main():
    files = sorted(path for path in Path(sys.argv[1]).glob("*.jpg") if path.name != "large.jpg")
    jobs = [(path, 640 if index % 8 == 7 else 400) for index, path in enumerate(files)]
    images = [measure(*job) for job in jobs]
    report([path.name for path, _ in jobs], images)
    source(Model(images))


if __name__ == "__main__":
    main()
