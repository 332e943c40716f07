"""The samples and their expected results."""

import csv
import gzip
import random
from pathlib import Path
from typing import NamedTuple

from server import ROOT

FIXTURES = ROOT / "Fixtures/images"
# 400 if an image is so tall that its height exceeds the limit at a width of 64 pixels.
REFUSALS = frozenset({400, 413, 415, 422})
ANYTHING = REFUSALS | {200}
# The outcomes named in Fixtures/README.md and the README of the corpus.
FIXTURE_STATUSES = {"decode": {200}, "corrupt": {422}, "unsupported": {415}, "too-large": {413}}
CORPUS_STATUSES = {"decode": {200}, "reject": REFUSALS, "reject-unsupported": {415}, "limit": {413}, "either": ANYTHING}
# The corpus considers the first frame only: the fourth one is corrupt, so the animation is rejected. It is older than the
# decoders of BMP and ICO.
OTHERWISE = {
    "libvips/invalid_multiframe.gif": {422},
    "libvips/favicon.ico": {200}, "libvips/invisible.ico": {200}, "libvips/small.bmp": {200},
}  # fmt: skip


class Sample(NamedTuple):
    group: str
    name: str
    body: bytes | Path
    statuses: frozenset[int]
    """Allowed for `/image`."""

    @property
    def bytes(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else self.body.read_bytes()

    @property
    def statuses_of_info(self) -> frozenset[int]:
        """Only the header is read, so corrupt pixel data goes unnoticed."""
        return self.statuses if self.statuses in ({200}, {415}) else ANYTHING


def all_samples(corpus: Path, libvips: tuple[int, ...]) -> list[Sample]:
    """The fixtures, the corpus and data out of reach, with what this version of libvips makes of them."""
    changed = {row["path"]: row for row in rows(FIXTURES.parent / "images-by-libvips.tsv") if holds(row, libvips)}
    samples = [of_fixture(row, changed.get(row["path"])) for row in rows(FIXTURES.parent / "images.tsv")]
    if (corpus / "MANIFEST.tsv").is_file():
        samples += [of_corpus(row | changed.get(row["path"], {}), corpus) for row in rows(corpus / "MANIFEST.tsv")]
    return samples + unreachable()


def holds(row: dict[str, str], libvips: tuple[int, ...]) -> bool:
    return numbers(row["from"]) <= libvips and (row["before"] == "-" or libvips < numbers(row["before"]))


def of_fixture(row: dict[str, str], changed: dict[str, str] | None) -> Sample:
    outcome = changed["expected"] if changed else row["outcome"]
    group = f"fixtures/{row['path'].partition('/')[0]}"
    return Sample(group, row["path"], FIXTURES / row["path"], frozenset(FIXTURE_STATUSES[outcome]))


def of_corpus(row: dict[str, str], corpus: Path) -> Sample:
    statuses = OTHERWISE.get(row["path"]) or CORPUS_STATUSES.get(row["expected"], ANYTHING)
    return Sample(f"corpus/{row['set']}", row["path"], corpus / row["path"], frozenset(statuses))


def numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def rows(table: Path) -> list[dict[str, str]]:
    with table.open(newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def unreachable() -> list[Sample]:
    """Data that must not reach a loader of libvips: gzip, which its format detection unpacks, and JPEG 2000."""
    boxes = b"\x00\x00\x00\x0cjP  \r\n\x87\n\x00\x00\x00\x14ftyp"
    codestream = b"\xff\x4f\xff\x51\x00\x2f" + bytes(60)
    made = random.Random(1)
    bodies = {
        "jpeg-2000.jp2": boxes + b"jp2 " + bytes(8) + codestream,
        "jpeg-2000.jpx": boxes + b"jpx " + bytes(8) + codestream,
        "jpeg-2000.j2c": codestream,
        **{f"zeros-{size}.gz": gzip.compress(bytes(size)) for size in (0, 1, 100, 65_536, 1 << 24)},
        **{f"noise-{size}.gz": gzip.compress(made.randbytes(size)) for size in (1, 100, 4_096, 65_536)},
        "jpeg-2000.jp2.gz": gzip.compress(boxes + b"jp2 " + codestream),
        "twice.gz": gzip.compress(gzip.compress(bytes(1 << 20))),
        "cut.gz": gzip.compress(made.randbytes(5_000))[:3_000],
        "header-only.gz": b"\x1f\x8b\x08\x00" + bytes(6),
    }
    return [Sample("out of reach", name, body, frozenset({415})) for name, body in bodies.items()]
