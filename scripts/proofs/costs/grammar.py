"""Valid queries: a value for every parameter of the contract that changes what an image takes.

Ranges and choices are taken from the contract; what a schema cannot express is written here. Rules between parameters are
applied last, so that the server accepts most of what comes out.
"""

import random
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

Query = dict[str, str]

FREE = {
    "url", "default", "default-for", "compat", "cache", "store", "wait", "priority", "v", "_", "maxage", "filename",
    "attachment", "encoding", "preset", "exp", "s", "formats", "placeholder", "passthrough", "metadata", "gamut", "hdr", "depth", "slow_q", "digest", "damaged",
}
"""Parameters that change nothing about the work, or that the search sets itself."""
COLORS = ("red", "8f00", "12345680", "white", "transparent")
TEXTS = ("a", "Hello", "many words " * 18, "WWWW" * 40, "ﷺ" * 20, "i" * 200)
LARGE_SIDES = (16, 100, 400, 800, 1600, 2500, 4000, 7000)


class Grammar:
    def __init__(self, contract: dict[str, Any], marks: list[str]) -> None:
        components = contract["components"]["parameters"]
        names = [entry["$ref"].rpartition("/")[2] for entry in contract["paths"]["/image"]["get"]["parameters"]]
        self.schemas = {components[name]["name"]: resolved(components[name]["schema"], contract) for name in names}
        self.special = specials(marks)
        self.layers = layers(marks)
        self.names = sorted(set(self.schemas) - FREE)
        if unknown := [name for name in self.names if name not in self.special and not known(self.schemas[name])]:
            raise SystemExit(f"costs: the grammar has no values for {', '.join(unknown)}")

    def query(self, chance: random.Random) -> Query:
        """A random valid query without its source."""
        query = {name: self.value(name, chance) for name in chance.sample(self.names, chance.randint(0, 4))}
        query |= {name: self.value(name, chance) for name in ("w", "output") if chance.random() < 0.8}
        if chance.random() < 0.5:
            query["enlarge"] = "true"
        return self.consistent(query)

    def changed(self, query: Query, chance: random.Random) -> Query:
        """A query with one to three parameters changed, added or left out."""
        changed = dict(query)
        for _ in range(chance.randint(1, 3)):
            if changed and chance.random() < 0.3:
                changed.pop(chance.choice(sorted(changed)))
            else:
                name = chance.choice([*self.names, *changed])
                if name in self.names:
                    changed[name] = self.value(name, chance)
        return self.consistent(changed)

    def consistent(self, query: Query) -> Query:
        """Follows the rules between parameters, and gives each layer its own."""
        plain = consistent({name: value for name, value in query.items() if "." not in name})
        for layer in plain.get("layers", "").split(","):
            plain |= self.layers.get(layer, {})
        return plain

    def value(self, name: str, chance: random.Random) -> str:
        if name in self.special:
            return self.special[name](chance)
        return drawn(self.schemas[name], chance)


def resolved(schema: dict[str, Any], contract: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in schema:
        return schema
    for part in schema["$ref"].removeprefix("#/").split("/"):
        contract = contract[part]
    return contract


def known(schema: dict[str, Any]) -> bool:
    return "enum" in schema or schema.get("type") in ("integer", "number", "boolean")


def drawn(schema: dict[str, Any], chance: random.Random) -> str:
    """A value of a schema, the bounds of its range more often than what lies between."""
    if "enum" in schema:
        return str(chance.choice(schema["enum"]))
    if schema["type"] == "boolean":
        return "true"
    low, high = schema.get("minimum", 0), schema.get("maximum", 100)
    value = chance.choice([low, high, chance.uniform(low, high), low + (high - low) * chance.random() ** 3])
    return str(round(value)) if schema["type"] == "integer" else f"{max(round(value, 2), low):g}"


def specials(marks: list[str]) -> dict[str, Callable[[random.Random], str]]:
    def one(*choices: object) -> Callable[[random.Random], str]:
        return lambda chance: str(chance.choice(choices))

    rectangle = one("0,0,50p,50p", "10p,10p,80p,80p", "0,0,16,16", "0,0,100p,100p", "25p,0,1p,90p")
    side = one(*LARGE_SIDES, "50p", "100p", "300p")
    return {
        "w": side, "h": side, "min-w": one(1, 16, 400), "min-h": one(1, 16, 400), "dpr": one(1, 1.5, 2),
        "ar": one("1:1", "16:9", "1:4", "3:1"), "crop": rectangle, "cut": rectangle,
        "trim": one("", 1, 10, 100, 254), "ro": one(*range(0, 360, 15), 1, 359), "max_bytes": one(1, 5000, 50_000, 500_000), "chroma": one(420, 444),
        **dict.fromkeys(("tbg", "rbg", "cbg", "tint", "mbg", "textcolor"), one(*COLORS)), "bg": one(*COLORS, "blur"),
        "duotone": one("black,white", "red,blue"), "blur": one("", 0.3, 1, 5, 7.9, 50, 1000), "gam": one("", 0.3, 2.2, 3),
        "sharp": one("", 0.000001, 1, 10), "sharpf": one(0, 1, 1_000_000), "sharpj": one(0, 3, 1_000_000),
        "pixelate": one(2, 10, 1000, "0.1p", "50p"), "text": one(*TEXTS), "textsize": one(6, 12, 40, 500),
        "inset": one(0, "1,2"), "focus": one("5,5", "3000.5,9"),
        "steps": one("blur:5,ro:90", "sharp:2,fill:red:5:5:5:5", "linear:1.2:5:0:-5,scale:50p", "round:20,bg:auto", "pixelate:9,cut:5:5:50p:50p", "text:Hello:c:b5:40:red:serif-bold", ",".join(["trim"] * 8),
            ",".join(["ro:90", "scale:99p"] * 8), ",".join(["blur:1", "sharp:1", "bg:auto", "fill:blur:1:1:1:1"] * 8)),
        "border": one(1, "20,red", 999), "radius": one(1, "50p", 9999, "10,20,30p,40"), "pad": one(1, 100, "0,500", 2000),
        "mark": one(*marks), "markw": one(1, 7, 400, "0.01p", "25p", "100p"), "markh": one(1, 400, "100p"),
        "markx": one(0, 5, "-10p"), "marky": one(0, 5, "-10p"), "q": one(1, 50, 95, 100, "auto"),
        "fields": one("all", "palette,blurhash", "lqip", "exif"), "n": one(1, 2, 256), "pick": one("even"), "page": one(1, "largest"),
        "orient": one("auto", 5, 6, 8), "redact": one("face", "face:pixelate", "face:000"),
        "layers": one(*LAYERS, ",".join(LAYERS), "shade,title,badge", "photo,copy,blurred"),
        "layout": one("fill", "fill-down,dpr:2", "auto", "force", "crop:0.5:200:attention", "extend:center,zoom:2", "extendar:top"),
        "output": one(*["jpg", "webp", "png", "avif", "gif", "jxl", "tiff"] * 4, "auto", "origin", "json", "blurhash", "color"),
    }


LAYERS = ("photo", "copy", "blurred", "portrait", "shade", "title", "badge", "shadow", "long")


def layers(marks: list[str]) -> dict[str, Query]:
    """The parameters of each of LAYERS."""
    photo, copy = marks[0], marks[-1]
    return {
        "photo": {"mark.photo": photo, "mark.photo.w": "100p", "mark.photo.h": "100p", "mark.photo.fit": "cover"},
        "copy": {"mark.copy": copy, "mark.copy.w": "50p", "mark.copy.blend": "multiply", "mark.copy.alpha": "50"},
        "blurred": {"mark.blurred": photo, "mark.blurred.w": "400", "mark.blurred.blur": "50", "mark.blurred.ro": "15"},
        "portrait": {"mark.portrait": photo, "mark.portrait.w": "300", "mark.portrait.h": "90",
                     "mark.portrait.fit": "cover", "mark.portrait.a": "face", "mark.portrait.mask": "circle"},
        "shade": {"mark.shade": "color:///00000000,000000cc,1200x630", "mark.shade.w": "100p"},
        "title": {"text.title": TEXTS[2], "text.title.w": "80p", "text.title.h": "50p", "text.title.fit": "true",
                  "text.title.size": "400", "text.title.min": "6", "text.title.lines": "3"},
        "badge": {"text.badge": "30 %", "text.badge.w": "270", "text.badge.h": "270", "text.badge.bg": "red",
                  "text.badge.radius": "50p", "text.badge.shadow": "0,10,36,00000080", "text.badge.place": "top-right"},
        "shadow": {"text.shadow": "a", "text.shadow.size": "6", "text.shadow.bg": "white",
                   "text.shadow.shadow": "-200,200,200,red"},
        "long": {"text.long": "".join(TEXTS[1:4]), "text.long.align": "justify", "text.long.lh": "0.5"},
    }


NEEDS = {
    "fpx": ("a", "focal"), "fpy": ("a", "focal"), "focus": ("a", "focal"), "tcorner": ("trim", "10"),
    "tbg": ("trim", "10"), "sharpf": ("sharp", "1"), "sharpj": ("sharp", "1"),
    "mbg": ("mask", "circle"), "mtrim": ("mask", "star"), "target": ("q", "auto"), "fields": ("output", "json"),
    "textsize": ("text", "Hello"), "textcolor": ("text", "Hello"), "texta": ("text", "Hello"), "min-h": ("w", "1600"),
    "min-w": ("w", "1600"), "layout": ("rules", "imgproxy"), "pick": ("n", "2"), "facezoom": ("a", "face"),
    "redact": ("orient", "auto"),
}
"""A parameter that requires another one, and a value for it."""
ALWAYS = ("fpx", "fpy", "focus", "target", "fields", "layout", "facezoom", "redact")
"""Which require that value."""


def consistent(query: Query) -> Query:
    """Follows the rules between parameters."""
    query = dict(query)
    for name, (needed, value) in NEEDS.items():
        if name in query and (needed not in query or name in ALWAYS):
            query[needed] = value
    if query.keys() & {"sharpf", "sharpj"} and not query["sharp"]:
        query["sharp"] = "1"
    if "focus" in query:
        query = {name: value for name, value in query.items() if name not in ("fpx", "fpy")}
    if "tcorner" in query:
        query.pop("tbg", None)
    if "mark" not in query:
        query = {name: value for name, value in query.items() if not name.startswith("mark")}
    if "we" in query:
        query.pop("enlarge", None)
    if "ar" in query:
        query = {name: value for name, value in query.items() if name not in ("h", "min-w", "min-h")} | {"fit": "cover"}
    if "mask" in query:
        query.pop("radius", None)
    if query.get("output") == "json":
        query.pop("max_bytes", None)
    if any(query.get(side, "")[-1:] != "p" and float(query.get(side, 0)) * float(query.get("dpr", 1)) > 8192 for side in "wh"):
        query.pop("dpr")
    return query


def encoded(query: Query) -> str:
    return urlencode(query, safe=",:")
