"""Runs iiif-validator, the validator of the IIIF consortium, against a built server.

All tests up to level 2 run, and the tests of further features that info.json lists. Left out of the rest are formats
that the server does not have, and a test whose ^max is the size of the image, which is true only of servers that set
that limit.
"""

import contextlib
import io
import random
import sys
import tempfile
import types
from pathlib import Path
from urllib.parse import quote, urlsplit

from PIL import Image
from servers import OriginHandler, running

# Only the tests of JPEG 2000 and PDF use it, and it needs a library of the system.
sys.modules.setdefault("magic", types.ModuleType("magic"))
# The validator prints what it imports.
with contextlib.redirect_stdout(io.StringIO()):
    from iiif_validator.validator import ImageAPI, TestSuite, ValidationInfo

VERSION, LEVEL = "3.0", 2
FEATURES = {
    *("linkheader_canonical", "linkheader_profile", "rot_mirror", "rot_mirror_180"),
    *("rot_full_non90", "rot_region_non90", "format_gif", "format_tif"),
}
SQUARE = 100
# With hyphens, which one of the tests encodes.
NAME = "/reference-image.png"


def run(server: Path, seed: int) -> int:
    random.seed(seed)
    with tempfile.TemporaryDirectory(prefix="iiif-") as folder:
        picture = Path(folder) / "reference.png"
        draw(picture)
        OriginHandler.images = OriginHandler.images | {NAME: picture}
        with running(server) as target:
            failures = validate(urlsplit(target.base).netloc, quote(target.origin + NAME, safe=""))
    for name, reason in failures.items():
        print(f"iiif: {name}: {reason}", file=sys.stderr)
    return len(failures)


def draw(picture: Path) -> None:
    """Draws the validator's reference image of 1000x1000 pixels: squares of the colors that it expects."""
    columns = ValidationInfo().colorInfo
    image = Image.new("RGB", (SQUARE * len(columns), SQUARE * len(columns[0])))
    for x, column in enumerate(columns):
        for y, color in enumerate(column):
            image.paste(color, (x * SQUARE, y * SQUARE, (x + 1) * SQUARE, (y + 1) * SQUARE))
    image.save(picture)


def validate(host: str, identifier: str) -> dict[str, str]:
    """The reasons of failed tests by name."""
    suite = TestSuite(ValidationInfo())
    tests = suite.list_tests(VERSION)
    names = sorted(name for name, test in tests.items() if test["level"] <= LEVEL or name in FEATURES)
    assert set(names) > FEATURES, "The validator lacks a test."
    failures = {}
    for name in names:
        result = ImageAPI(identifier, host, "iiif", version=VERSION, debug=False)
        try:
            suite.run_test(name, result)
        except Exception as error:
            result.exception = error
        if result.exception:
            failures[name] = f"{result.exception!r} after {result.urls[-1:]}"
    print(f"iiif: {len(names) - len(failures)} of {len(names)} tests passed")
    return failures
