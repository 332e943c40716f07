"""Fits the model of `q=auto` to photographs and prints the Swift source of its numbers.

    fit.py CROPS BACKGROUNDS > QualityModel+Numbers.swift
    fit.py CROPS BACKGROUNDS FORMAT...

CROPS are the images of scripts/make-bench-images.py, cut from 17 photographs; all are scaled to 400 pixels, and every
fifth to 800 too. BACKGROUNDS is the folder of that name in Debian's packages lomiri-wallpapers-16.04 and -20.04; 15
photographs of it are scaled to 400 pixels, whole and their middles. Each image is encoded at the qualities of KNOTS and
scored by SSIMULACRA2 against its own pixels.

For each format, a ridge regression over the features of `StructuralSimilarity` makes the score at the quality of
MIDDLING, and a line for each knot the score at that quality. All photographs count alike. To print how far results
would miss the targets, each photograph is judged by a model that was fitted without any image of it. Takes a few
minutes; needs pyvips besides requirements.txt.
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
DEFAULTS = {"jpeg": 80, "webp": 82, "avif": 67, "jxl": 80}
MIDDLING = {"jpeg": 72, "webp": 75, "avif": 60, "jxl": 72}
NUMBERS = {
    "avif": ([1, 20, 30, 45, 57, 68, 80, 92, 100], [1, 18, 27, 42, 54, 64, 78, 92, 100]),
    "avifTunedForImages": ([1, 20, 30, 45, 57, 68, 80, 92, 100], [1, 10, 21, 39, 50, 60, 71, 91, 100]),
}
"""The numbers of `AVIFQuality` at the default effort."""
TARGETS = {"high": 82, "medium": 75, "low": 65}
CROPPED_PHOTOGRAPHS = 17
PHOTOGRAPHS = [
    "Bridge_by_Sander_Klootwijk", "Dragonfly_by_Bolly", "Kleiber_by_Lukas_Baubkus", "Picture_0B_by_freespace",
    "Picture_1A_by_freespace", "Wine_by_Jakkub_Mede", "aitzgorri_by_Aitzol_Berasategi",
    "analogpattern_by_Peter_Nerlich", "free_by_Peter_Nerlich", "friends_by_Aitzol_Berasategi",
    "greentock_by_Peter_Nerlich", "life_by_Aitzol_Berasategi", "picosdeeuropa_by_Aitzol_Berasategi",
    "seeding_by_Clements_Engelhardt", "sunset_by_Aitzol_Berasategi",
]  # fmt: skip
RIDGE = 30.0
SIDE = 32
LUMINANCE = [16, 11, 10, 16, 12, 12, 14, 19, 14, 13, 16, 24, 14, 17, 22, 29]
CHROMINANCE = [17, 18, 24, 47, 18, 21, 26, 66, 24, 26, 56, 99, 47, 66, 99, 99]
TO_YCC = np.array([[0.299, 0.587, 0.114], [-0.168736, -0.331264, 0.5], [0.5, -0.418688, -0.081312]])
FROM_YCC = np.array([[1, 0, 1.402], [1, -0.344136, -0.714136], [1, 1.772, 0]])
BLUR = np.array([1, 4, 6, 4, 1]) / 16


def encode(pixels, fmt, quality):
    image = pyvips.Image.new_from_memory(np.ascontiguousarray(pixels).data, pixels.shape[1], pixels.shape[0], 3, "uchar")
    image = image.copy(interpretation="srgb")
    match fmt:
        case "jpeg": data = image.jpegsave_buffer(Q=quality, optimize_coding=True, strip=True)
        case "webp": data = image.webpsave_buffer(Q=quality, effort=4, strip=True)
        case "avif" | "avifTunedForImages":
            number = round(np.interp(quality, *NUMBERS[fmt]))
            data = image.heifsave_buffer(Q=number, effort=3, compression="av1", bitdepth=8, strip=True)
        case "jxl": data = image.jxlsave_buffer(Q=quality, effort=4, strip=True)
    decoded = pyvips.Image.new_from_buffer(data, "")
    return len(data), samples(decoded if decoded.interpretation == "srgb" else decoded.colourspace("srgb"))


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


def at_quality_70(steps):
    return (np.array(steps) * 60 + 50) // 100


def rounded(plane, steps):
    """`BlockRounding`."""
    side = len(steps)
    frequencies, places = np.arange(side)[:, None], np.arange(side)[None]
    cosines = np.sqrt(2 / side) * np.cos((2 * places + 1) * frequencies * np.pi / (2 * side))
    cosines[0] /= np.sqrt(2)
    blocks = plane.reshape(plane.shape[0] // side, side, plane.shape[1] // side, side).transpose(0, 2, 1, 3)
    coefficients = np.round(cosines @ blocks @ cosines.T / steps) * steps
    return (cosines.T @ coefficients @ cosines).transpose(0, 2, 1, 3).reshape(plane.shape)


def coded(half):
    """`StripeComparison.code`."""
    luminance = at_quality_70(LUMINANCE).reshape(4, 4) / 2
    chrominance = np.full((8, 8), float(at_quality_70(99)))
    chrominance[:4, :4] = at_quality_70(CHROMINANCE).reshape(4, 4)
    ycc = half @ TO_YCC.T
    planes = [rounded(ycc[..., 0] - 128, luminance) + 128, *(rounded(ycc[..., i], chrominance) for i in (1, 2))]
    return np.clip(np.stack(planes, -1) @ FROM_YCC.T, 0, 255)


def stripes(pixels):
    """`QualityChooser.stripes` of an image of one frame, with the columns of `StripeComparison`."""
    height, width = pixels.shape[:2]
    rows, columns = height // SIDE, width // SIDE * SIDE
    share = min(0.5, (1 << 17) / (width * height))
    count, left = min(max(int(np.ceil(rows * share)), 2), rows), (width - columns) // 2
    tops = [(2 * index + 1) * rows // (2 * count) * SIDE for index in range(count)]
    return [pixels[top : top + SIDE, left : left + columns] for top in tops]


def features(pixels):
    """The constants of `StructuralSimilarity`."""
    sums, counts = np.zeros((3, 4, 3)), np.zeros(3)
    for stripe in stripes(pixels):
        half = shrink(stripe.astype(np.float64), 2)
        one, two = (reference.srgb_to_linear(np.floor(image + 0.5)) for image in (half, coded(half)))
        for scale in range(3):
            x, y = xyb(one), xyb(two)
            mean_x, mean_y = blur(x), blur(y)
            variances = blur(x * x + y * y) - mean_x**2 - mean_y**2
            covariance = blur(x * y) - mean_x * mean_y
            error = np.maximum(1 - (1 - (mean_x - mean_y) ** 2) * (2 * covariance + 0.0009) / (variances + 0.0009), 0)
            edge = (1 + abs(y - mean_y)) / (1 + abs(x - mean_x)) - 1
            powers = error**4, np.maximum(edge, 0) ** 4, np.maximum(-edge, 0) ** 4
            sums[scale] += [error.sum((0, 1)), *(power.sum((0, 1)) for power in powers)]
            counts[scale] += x.shape[0] * x.shape[1]
            one, two = shrink(one, 2), shrink(two, 2)
    means = sums / counts[:, None, None]
    means[:, 1:] **= 0.25
    return np.concatenate([means[0, :, 1], means[1:].ravel()])


class Measured:
    """One image: its features, and for each format and knot its score and the logarithm of its bytes."""

    def __init__(self, photograph, image):
        pixels = samples(image.colourspace("srgb") if image.bands == 1 else image)
        scorer = Reference(pixels)
        self.photograph, self.width = photograph, pixels.shape[1]
        self.features, self.scores, self.sizes = np.sqrt(features(pixels)), {}, {}
        for fmt, knots in KNOTS.items():
            encoded = [encode(pixels, fmt, knot) for knot in knots]
            self.scores[fmt] = np.array([scorer.score(decoded) for _, decoded in encoded])
            self.sizes[fmt] = np.log([size for size, _ in encoded])

    def score(self, fmt, quality):
        return np.interp(quality, KNOTS[fmt], self.scores[fmt])

    def size(self, fmt, quality):
        return np.exp(np.interp(quality, KNOTS[fmt], self.sizes[fmt]))


def weights_of(images):
    """Weights by which all photographs count alike but for the square root of the number of their images."""
    photographs = [image.photograph for image in images]
    weights = np.array([photographs.count(photograph) for photograph in photographs]) ** -0.5
    return weights / weights.mean()


class Model:
    def __init__(self, images, fmt):
        self.fmt, weights = fmt, weights_of(images)
        scores = np.array([image.score(fmt, MIDDLING[fmt]) for image in images])
        values = np.array([image.features for image in images])
        mean, deviation = np.average(values, axis=0, weights=weights), values.std(0) + 1e-6
        middle, roots = np.average(scores, weights=weights), np.sqrt(weights)[:, None]
        table = (values - mean) / deviation * roots
        penalty = RIDGE * np.eye(table.shape[1])
        self.weights = np.linalg.solve(table.T @ table + penalty, table.T @ ((scores - middle) * roots[:, 0])) / deviation
        self.bias = middle - self.weights @ mean
        line = np.c_[np.ones(len(images)), values @ self.weights + self.bias]
        curves = np.array([image.scores[fmt] for image in images])
        self.intercepts, self.slopes = np.linalg.lstsq(line * roots, curves * roots, rcond=None)[0]

    def quality(self, image, target):
        scores = np.maximum.accumulate(self.intercepts + self.slopes * (image.features @ self.weights + self.bias))
        knots = KNOTS[self.fmt]
        return float(np.clip(np.ceil(np.interp(target, scores, knots)), knots[0], knots[-1]))


def report(images):
    """What images would score by a model that was fitted without their photograph, and how many bytes they take."""
    print("| Format | Setting | Qualities | Bytes | Score: mean | Deviation | Lowest |", file=sys.stderr)
    judged = [image for image in images if image.width == 400]
    counts = {image.photograph: sum(other.photograph == image.photograph for other in judged) for image in judged}
    weights = np.array([1 / counts[image.photograph] for image in judged])
    for fmt in KNOTS:
        models = {name: Model([image for image in images if image.photograph != name], fmt) for name in counts}
        fixed = np.array([image.size(fmt, DEFAULTS[fmt]) for image in judged])
        for name, target in {f"q={DEFAULTS[fmt]}": None, **TARGETS}.items():
            qualities = np.array([
                models[image.photograph].quality(image, target) if target else DEFAULTS[fmt] for image in judged
            ])
            scores = np.array([image.score(fmt, quality) for image, quality in zip(judged, qualities)])
            size = np.array([image.size(fmt, quality) for image, quality in zip(judged, qualities)])
            mean = np.average(scores, weights=weights)
            deviation = np.sqrt(np.average((scores - mean) ** 2, weights=weights))
            print(f"| {fmt} | {name} | {qualities.min():.0f}–{qualities.max():.0f} "
                  f"| {(size @ weights) / (fixed @ weights) - 1:+.0%} | {mean:.1f} | {deviation:.1f} | {scores.min():.1f} |",
                  file=sys.stderr)


def listed(items):
    lines, line = [], " " * 11
    for item in items:
        if len(line) + len(item) > 116:
            lines.append(line)
            line = " " * 11
        line += f" {item},"
    return "\n".join([*lines, line])


def source(models):
    print("/// Printed by Benchmarks/quality/fit.py.\nextension QualityModel {")
    for index, model in enumerate(models):
        print(f"{chr(10) if index else ''}    static let {model.fmt} = QualityModel(\n        bias: {model.bias:.3f},")
        print(f"        weights: [\n{listed(f'{weight:.3f}' for weight in model.weights)}\n        ],")
        knots = zip(KNOTS[model.fmt], model.intercepts, model.slopes)
        print(f"        knots: [\n{listed(f'({knot}, {start:.2f}, {slope:.4f})' for knot, start, slope in knots)}\n        ])")
    print("}")


def images(crops, backgrounds):
    """The name of each photograph, and its images."""
    for index, path in enumerate(sorted(path for path in crops.glob("*.jpg") if path.name != "large.jpg")):
        for width in (400, 800) if index % 5 == 0 else (400,):
            yield index % CROPPED_PHOTOGRAPHS, pyvips.Image.thumbnail(str(path), width, height=20_000, export_profile="srgb")
    for name in PHOTOGRAPHS:
        whole = pyvips.Image.new_from_file(str(backgrounds / f"{name}.jpg")).copy_memory()
        middle = whole.crop(whole.width // 4, whole.height // 4, whole.width // 2, whole.height // 2)
        for image in (whole, middle):
            yield name, image.thumbnail_image(400, height=20_000, export_profile="srgb")


def main():
    if names := sys.argv[3:]:
        for table in (KNOTS, DEFAULTS, MIDDLING):
            known = {**table, "avifTunedForImages": table["avif"]}
            table.clear()
            table.update({name: known[name] for name in names})
    measured = [Measured(*image) for image in images(*map(Path, sys.argv[1:3]))]
    report(measured)
    source([Model(measured, fmt) for fmt in KNOTS])


if __name__ == "__main__":
    main()
