"""Rules between parameters, which the schema of a single parameter cannot express.

Generated valid requests are adjusted to follow them, so that the server must accept them: a 400 is then a failure.
"""

import math
import os
import zlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

Query = dict[str, Any]
Choice = TypeVar("Choice")

ORIGIN = os.environ["CONFORMANCE_ORIGIN"]
MAX_SIDE = 8192
# Mostly single-page images with sides of at least 16 pixels; the others cause each of the failures.
SOURCES = [
    *("local:///formats/photo.jpg", "local:///formats/alpha.png", "local:///formats/photo.webp"),
    *("local:///formats/photo.avif", "local:///formats/photo.jxl", "local:///formats/photo.heic"),
    *("local:///formats/deflate.tiff", "local:///animation/still.gif", "local:///orientation/f-6.jpg"),
    *("local:///color/cmyk.jpg", "local:///color/sixteen-bit.png", "local:///sample.jpg"),
    *(f"{ORIGIN}/photo.jpg", f"{ORIGIN}/other.jpg"),
    *("local:///hostile/truncated.jpg", "local:///hostile/other.bmp", "local:///hostile/bomb.png"),
    *("local:///nothing.jpg", f"{ORIGIN}/missing.jpg", f"{ORIGIN}/broken.jpg", "https://example.com/photo.jpg"),
]
TEXTS = ("json", "blurhash", "thumbhash", "color", "lqip")
# Queries of /image without a source, for prefetch jobs.
QUERIES = ["w=40", "w=24&h=24&fit=cover&output=webp", "output=color", "output=json&fields=all", "ro=90&w=16&q=50", ""]
# Never valid on a server without keys and presets.
ACCESS = ("preset", "exp", "s")
SELECTORS = ("url", "prefix", "host", "tag", "all", "expired")
COLOR_NAMES = ("red", "white", "transparent", "rebeccapurple")
SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800, "y": 31_536_000}


def consistent_image(query: Query, takes: set[str]) -> Query:
    """Adjusts a query of /image, or of a path that shares its parameters."""
    chosen = dict(query) | {"url": chosen_of(SOURCES, query)}
    for name in ACCESS:
        chosen.pop(name, None)
    for name, rule in RULES.items():
        if name in chosen:
            rule(chosen)
    if "fields" in chosen and "output" in takes:
        chosen["output"] = "json"
    if "placeholder" in chosen and chosen.get("output") in TEXTS:
        chosen.pop("placeholder")
    if "widths" in takes:
        images_only(chosen)
    return chosen


def images_only(query: Query) -> None:
    """Adjusts a query of /srcset, which rejects text formats."""
    if query.get("output") in TEXTS:
        query.pop("output")
    if "widths" in query:
        most = MAX_SIDE // math.ceil(float(query.get("dpr", 1)))
        query["widths"] = ",".join(str(int(width) % most + 1) for width in query["widths"].split(","))


def consistent_order(order: Any) -> Any:
    """Adjusts a body of /prefetch to a few small images."""
    chosen = dict(order) | {"urls": few(SOURCES, order["urls"])}
    if "queries" in order:
        chosen["queries"] = few(QUERIES, order["queries"])
    if "widths" in order:
        chosen["widths"] = [width % 64 + 1 for width in order["widths"][:3]]
    return chosen


def few(choices: Sequence[Choice], seeds: Sequence[object]) -> list[Choice]:
    return [chosen_of(choices, seed) for seed in seeds[:3]]


def chosen_of(choices: Sequence[Choice], seed: object) -> Choice:
    """The same choice for the same seed, in every run."""
    return choices[zlib.crc32(repr(seed).encode()) % len(choices)]


def other_source(query: Query) -> None:
    query["default"] = chosen_of(SOURCES, query["default"])


def small_box(query: Query) -> None:
    """Keeps device pixels within the limit, and avoids slow enlargements."""
    query["enlarge"] = "false"
    if query.get("fit") == "contain":
        query["fit"] = "inside"
    width, height, ratio = (float(query.get(name, 1)) for name in ("w", "h", "dpr"))
    if max(width, height) * ratio > MAX_SIDE:
        query.pop("dpr", None)


def one_way_to_enlarge(query: Query) -> None:
    query.pop("we")


def focal(query: Query) -> None:
    query["a"] = "focal"


def small_crop(query: Query) -> None:
    x, y, width, height = (int(number) for number in query["crop"].split(","))
    query["crop"] = f"{x % 8},{y % 8},{width % 8 + 1},{height % 8 + 1}"


def known_color(name: str) -> Callable[[Query], None]:
    def rule(query: Query) -> None:
        if str(query[name]).isalpha():
            query[name] = chosen_of(COLOR_NAMES, query[name])

    return rule


def first_page(query: Query) -> None:
    query["page"] = "1"


def at_most_a_year(query: Query) -> None:
    unit = query["maxage"][-1]
    count = int(query["maxage"][:-1])
    query["maxage"] = f"{min(max(count, 1), SECONDS['y'] // SECONDS[unit])}{unit}"


RULES: dict[str, Callable[[Query], None]] = {
    "default": other_source,
    "w": small_box,
    "h": small_box,
    "we": one_way_to_enlarge,
    "fpx": focal,
    "fpy": focal,
    "crop": small_crop,
    "bg": known_color("bg"),
    "tint": known_color("tint"),
    "page": first_page,
    "maxage": at_most_a_year,
}


def consistent_purge(query: Query) -> Query:
    """Keeps exactly one selector, `tier` only with `all`, and no short name."""
    given = [name for name in SELECTORS if query.get(name) not in (None, "", "false", False)]
    selector = chosen_of(given, query) if given else "all"
    chosen = {name: value for name, value in query.items() if name not in SELECTORS}
    chosen[selector] = "true" if selector in ("all", "expired") else query[selector]
    if selector == "url":
        chosen["url"] = chosen_of(SOURCES, query)
    if selector == "prefix" and not str(chosen["prefix"]).startswith(("http://", "https://", "s3://", "local:///")):
        # A short name, of which the server has none.
        chosen["prefix"] = chosen_of(SOURCES, query)
    if selector == "expired":
        return {"expired": "true"}
    if selector != "all" or chosen.get("soft") in ("", "true", True):
        chosen.pop("tier", None)
    return chosen
