"""The dialects in which an image can be requested, and how to request the prediction in each of them."""

import random
from typing import NamedTuple
from urllib.parse import quote

from costs.grammar import Query, encoded

REGIONS = {"full": "", "pct:10,10,80,80": "10p,10p,80p,80p", "pct:0,0,50,50": "0,0,50p,50p"}
WIDTHS = ("16", "400", "1600", "4000", "7000")
FORMATS = {"jpg": "jpg", "png": "png", "webp": "webp", "gif": "gif", "tif": "tiff", "avif": "avif", "jxl": "jxl"}
QUALITIES = {"default": "", "gray": "greyscale", "bitonal": "bitonal"}
UNKNOWN_TO_WSRV = {
    "enlarge", "resample", "ar", "min-w", "min-h", "duotone", "pixelate", "text", "textsize", "textcolor", "texta", "border",
    "radius", "pad", "scaledown", "orient", "bri", "crop", "cut", "fields", "target", "nl", "rules", "layout", "steps",
    "inset", "tcorner", "focus", "swap", "pick", "chroma", "layers", "redact", "facezoom",
}


class Request(NamedTuple):
    path: str
    """With its query."""
    explanation: str
    """The path of `/explain` for the same work."""
    source: str
    query: Query
    """What the search changes; of IIIF the segments."""
    dialect: str

    def __str__(self) -> str:
        return self.path.replace("local%3A%2F%2F%2F", "").replace("local:///", "")


def darkroom(source: str, query: Query) -> Request:
    text = encoded({"url": f"local:///{source}"} | query)
    return Request(f"/image?{text}", f"/explain?{text}&fetch=true", source, query, "darkroom")


def wsrv(source: str, query: Query) -> Request:
    """The parameters that wsrv.nl shares, which enlarge without being asked to."""
    shared = {name: value for name, value in query.items() if name not in UNKNOWN_TO_WSRV and "." not in name}
    if query.get("a") in ("face", "faces"):
        shared["a"] = "attention"
    if query.get("n") == "256":
        shared["n"] = "-1"
    text = encoded({"url": f"local:///{source}"} | shared)
    return Request(f"/?{text}", f"/explain?compat=wsrv&{text}&fetch=true", source, query, "wsrv")


def iiif(source: str, query: Query) -> Request:
    """An IIIF path, and Darkroom's parameters for the same image."""
    chosen = random.Random(encoded(query))
    region, width, quality = chosen.choice([*REGIONS]), chosen.choice(WIDTHS), chosen.choice([*QUALITIES])
    format = next((name for name, output in FORMATS.items() if output == query.get("output")), "jpg")
    degrees = query.get("ro", "0")
    path = f"/iiif/{quote(f'local:///{source}', safe='')}/{region}/^{width},/{degrees}/{quality}.{format}"
    same = {"w": width, "enlarge": "true", "ro": degrees, "output": FORMATS[format], "n": "1"}
    same |= {"crop": REGIONS[region]} if REGIONS[region] else {}
    same |= {"filt": QUALITIES[quality]} if QUALITIES[quality] else {}
    return Request(path, darkroom(source, same).explanation, source, query, "iiif")


DIALECTS = {"darkroom": darkroom, "wsrv": wsrv, "iiif": iiif}
