"""Rules between parameters, which the schema of a single parameter cannot express.

Generated valid requests are adjusted to follow them, so that the server must accept them: a 400 is then a failure.
"""

import math
import os
import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

Query = dict[str, Any]
Choice = TypeVar("Choice")

ORIGIN = os.environ["CONFORMANCE_ORIGIN"]
FIXTURES = Path(__file__).resolve().parents[3] / "Fixtures/images"
MAX_SIDE = 8192
MAX_BORDER = 999
# Mostly single-page images with sides of at least 16 pixels; the others cause each of the failures.
SOURCES = [
    *("local:///formats/photo.jpg", "local:///formats/alpha.png", "local:///formats/photo.webp"),
    *("local:///formats/photo.avif", "local:///formats/photo.jxl", "local:///formats/photo.heic"),
    *("local:///formats/deflate.tiff", "local:///animation/still.gif", "local:///orientation/f-6.jpg"),
    *("local:///color/cmyk.jpg", "local:///color/sixteen-bit.png", "local:///sample.jpg"),
    *(f"{ORIGIN}/photo.jpg", f"{ORIGIN}/other.jpg"),
    *("local:///hostile/truncated.jpg", "local:///hostile/other.tga", "local:///hostile/bomb.png"),
    *("local:///nothing.jpg", f"{ORIGIN}/missing.jpg", f"{ORIGIN}/broken.jpg", "https://example.com/photo.jpg"),
]
# Small ones, because nothing is cached: each request costs its whole work.
UPLOADS = [
    *("orientation/f-6.jpg", "orientation/f-6.webp", "animation/still.gif"),
    *("hostile/truncated.jpg", "hostile/other.tga", "hostile/bomb.png"),
]
TEXTS = ("json", "blurhash", "thumbhash", "color", "lqip")
# Queries of /image without a source, for prefetch jobs.
QUERIES = ["w=40", "w=24&h=24&fit=cover&output=webp", "output=color", "output=json&fields=all", "ro=90&w=16&q=50", ""]
# Never valid on a server without keys and presets.
ACCESS = ("preset", "exp", "s")
# Never valid on a server that looks for no faces.
FACES = () if os.environ.get("CONFORMANCE_FACES") == "true" else ("redact", "facezoom")
# Requires parameters whose names the request chooses. No schema lists them, so the fuzzer takes such a request for invalid.
NAMED = ("layers",)
SELECTORS = ("url", "prefix", "host", "tag", "all", "expired")
RATIOS = ("16:9", "1:1", "2.5:1")
COLOR_NAMES = ("red", "white", "transparent", "rebeccapurple")
SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800, "y": 31_536_000}


# IIIF regions and sizes that fit every source with sides of at least 16 pixels.
REGIONS = ("full", "square", "1,2,9,9", "0,0,9000,9000", "pct:10,20.5,50,99", "pct:0,0,100,100")
SIZES = ("max", "8,", ",7", "5,9", "!9,9", "pct:80", "^40,", "^,33", "^20,90", "^!50,50", "^pct:150.5")
ROTATIONS = ("0", "90", "!90", "22.5", "!0")


def consistent_iiif(path: Query) -> Query:
    """Adjusts the segments of an IIIF path, which are encoded, to an image that exists."""
    chosen = dict(path) | {"identifier": quote(chosen_of(SOURCES, path), safe="")}
    if "region" in chosen:
        chosen["region"] = chosen_of(REGIONS, path)
        chosen["size"] = chosen_of(SIZES, path)
        # Generated ones are percent-encoded, which the fuzzer takes for invalid after this change.
        chosen["rotation"] = chosen_of(ROTATIONS, path)
    return chosen


def consistent_image(query: Query, takes: set[str]) -> Query:
    """Adjusts a query of /image, or of a path that shares its parameters."""
    chosen = dict(query) | {"url": chosen_of(SOURCES, query)}
    for name in ACCESS + FACES + NAMED:
        chosen.pop(name, None)
    if FACES and chosen.get("a") in ("face", "faces"):
        chosen["a"] = "attention"
    if FACES and "fields" in chosen:
        chosen["fields"] = ",".join(name for name in str(chosen["fields"]).split(",") if name != "faces") or "color"
    for name, rule in RULES.items():
        if name in chosen:
            rule(chosen)
    if "fields" in chosen and "output" in takes:
        chosen["output"] = "json"
    if "formats" in chosen:
        # Each once.
        chosen["formats"] = ",".join(dict.fromkeys(str(chosen["formats"]).split(",")))
        chosen.pop("formats" if chosen.get("output") == "json" else "output", None)
    if "target" in chosen:
        chosen["q"] = "auto"
    if "placeholder" in chosen and chosen.get("output") in TEXTS:
        chosen.pop("placeholder")
    if "widths" in takes:
        images_only(chosen)
    return chosen


def consistent_upload(query: Query, takes: set[str]) -> Query:
    """Adjusts a query of POST /image."""
    chosen = consistent_image(query, takes)
    chosen.pop("url")
    return chosen


def upload_of(query: Query) -> bytes:
    """The bytes of an image, or of a file that is not one."""
    return (FIXTURES / chosen_of(UPLOADS, query)).read_bytes()


def images_only(query: Query) -> None:
    """Adjusts a query of /srcset, which rejects text formats, and least widths above its own."""
    query.pop("min-w", None)
    if "ar" in query:
        query.pop("h", None)
        query.pop("min-h", None)
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
    for name in ("w", "h"):
        if is_percentage(query.get(name)):
            query[name] = percentage(query[name])
    sides = [float(query[name]) for name in ("w", "h") if name in query and not is_percentage(query[name])]
    border = re.match(r"\d+", str(query.get("border", "")))
    ratio = float(query.get("dpr", 1))
    if max(sides, default=1) * ratio > MAX_SIDE or border and int(border[0]) * ratio > MAX_BORDER:
        query.pop("dpr", None)


def is_percentage(value: Any) -> bool:
    return str(value).endswith(("p", "%"))


def percentage(value: Any) -> str:
    """The same percentage up to 100."""
    return f"{int(float(str(value)[:-1])) % 100 + 1}p"


def wide_ratio(query: Query) -> None:
    """Leaves the ratio a side to give, and keeps that side within the limit."""
    query["ar"] = chosen_of(RATIOS, query["ar"])
    query["fit"] = "cover"
    if "w" in query:
        query.pop("h", None)
    if "h" in query and not is_percentage(query["h"]):
        query["h"] = int(query["h"]) % 400 + 1


def least(name: str, side: str) -> Callable[[Query], None]:
    def rule(query: Query) -> None:
        given = query.get(side, 64)
        query[name] = int(query[name]) % (64 if is_percentage(given) else int(given)) + 1
        if "ar" in query:
            query.pop(name)

    return rule


def known_percentage(query: Query) -> None:
    if is_percentage(query["pixelate"]):
        query["pixelate"] = percentage(query["pixelate"])


def one_way_to_enlarge(query: Query) -> None:
    query.pop("we")


def focal(query: Query) -> None:
    query["a"] = "focal"


def small_crop(query: Query) -> None:
    x, y, width, height = query["crop"].split(",")
    places = ["10p" if is_percentage(number) else str(int(number) % 8) for number in (x, y)]
    sides = ["50p" if is_percentage(number) else str(int(number) % 8 + 1) for number in (width, height)]
    query["crop"] = ",".join(places + sides)


def a_mark(query: Query) -> None:
    query["mark"] = chosen_of(SOURCES, query["mark"])


def length_of_mark(name: str) -> Callable[[Query], None]:
    def rule(query: Query) -> None:
        query.setdefault("mark", SOURCES[1])
        digits = re.sub(r"\..*|[^0-9]", "", str(query[name])) or "0"
        query[name] = f"{int(digits) % 100 + 1}{'p' if str(query[name])[-1] in 'p%' else ''}"

    return rule


def beside_mark(query: Query) -> None:
    query.setdefault("mark", SOURCES[1])


def known_color(name: str) -> Callable[[Query], None]:
    def rule(query: Query) -> None:
        colors = str(query[name]).split(",")
        query[name] = ",".join(chosen_of(COLOR_NAMES, color) if color.isalpha() else color for color in colors)

    return rule


def small_cut(query: Query) -> None:
    """A rectangle with sides, wherever it lies."""
    x, y, width, height = query["cut"].split(",")
    sides = ["50p" if is_percentage(number) else str(int(number) % 8 + 1) for number in (width, height)]
    query["cut"] = ",".join([x, y, *sides])


def own_parameters(query: Query) -> None:
    query["compat"] = "darkroom"


def with_trim(query: Query) -> None:
    query.setdefault("trim", "10")
    known_color("tbg")(query)


def with_corner(query: Query) -> None:
    query.setdefault("trim", "10")
    query.pop("tbg", None)


def known_steps(query: Query) -> None:
    query["steps"] = chosen_of(("blur:5,ro:90", "fill:red:1:2:3:4,scale:50p", "round:2,bg:auto", "cut:1:1:50p:50p,flip", "text:a:r5:t:h9:red,mod:1:2:9"), query)


def hidden_faces(query: Query) -> None:
    query["redact"] = chosen_of(("face", "face:pixelate", "face:000"), query["redact"])
    query["orient"] = "auto"


def with_face(query: Query) -> None:
    for name in ("fpx", "fpy", "focus"):
        query.pop(name, None)
    query["a"] = "face"


def small_inset(query: Query) -> None:
    query["inset"] = "1"


def focus(query: Query) -> None:
    query["a"] = "focal"
    query.pop("fpx", None)
    query.pop("fpy", None)


def with_layout(query: Query) -> None:
    query["rules"] = "imgproxy"
    query["layout"] = chosen_of(("fill", "auto,dpr:0.5", "force", "crop:0.5:9:top:1:2", "extend:left", "maxside:50"), query)


def with_sigma(query: Query) -> None:
    if query.get("sharp") in (None, "", "true", "false"):
        query["sharp"] = "1"


def known_border_color(query: Query) -> None:
    width, _, color = str(query["border"]).partition(",")
    if color.isalpha():
        query["border"] = f"{width},{chosen_of(COLOR_NAMES, color)}"


def with_mask(query: Query) -> None:
    query.setdefault("mask", chosen_of(("circle", "star"), query))
    if "mbg" in query:
        known_color("mbg")(query)


def with_number(query: Query) -> None:
    query.setdefault("n", 2)


def with_text(query: Query) -> None:
    """Keeps texts to a size and to characters that fit small images and any font."""
    query["text"] = chosen_of(("a", "Hi!"), query.get("text"))
    for name in ("crop", "cut", "trim", "tbg", "tcorner", "ar", "layout", "steps", "inset"):
        query.pop(name, None)
    query.update({name: 64 for name in ("w", "h") if name in query})
    if "textsize" in query:
        query["textsize"] = 6
    if "textcolor" in query:
        known_color("textcolor")(query)


def one_outline(query: Query) -> None:
    query.pop("radius", None)


def little_space(query: Query) -> None:
    """Keeps the result within the limits of its size."""
    query["pad"] = ",".join(str(int(width) % 64) for width in str(query["pad"]).split(","))


def any_source(query: Query) -> None:
    """No random hash is the hash of a source."""
    del query["digest"]


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
    "ar": wide_ratio,
    "pixelate": known_percentage,
    "fpx": focal,
    "fpy": focal,
    "focus": focus,
    "steps": known_steps,
    "inset": small_inset,
    "tcorner": with_corner,
    "pick": with_number,
    "crop": small_crop,
    "cut": small_cut,
    "compat": own_parameters,
    "tbg": with_trim,
    "layout": with_layout,
    "rbg": known_color("rbg"),
    "cbg": known_color("cbg"),
    "sharpf": with_sigma,
    "sharpj": with_sigma,
    "bg": known_color("bg"),
    "tint": known_color("tint"),
    "duotone": known_color("duotone"),
    "text": with_text,
    "textsize": with_text,
    "textcolor": with_text,
    "texta": with_text,
    "border": known_border_color,
    "mbg": with_mask,
    "mtrim": with_mask,
    "mask": one_outline,
    "pad": little_space,
    "mark": a_mark,
    "markw": length_of_mark("markw"),
    "markh": length_of_mark("markh"),
    "marka": beside_mark,
    "markx": length_of_mark("markx"),
    "marky": length_of_mark("marky"),
    "markalpha": beside_mark,
    "markblend": beside_mark,
    "redact": hidden_faces,
    # After every rule that sets the anchor.
    "facezoom": with_face,
    "page": first_page,
    "digest": any_source,
    "maxage": at_most_a_year,
    # After every rule that sets a side.
    "min-w": least("min-w", "w"),
    "min-h": least("min-h", "h"),
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
