"""Tests of what the page makes of URLs of other services."""

from urllib.parse import quote

from .image import LAKE
from .person import Person
from .server import ROOT

SCRIPT = (ROOT / "Sources/Web/Pages/Playground/foreign.js").read_text()
PHOTO = "https://example.com/photo.jpg"
IMAGES = {
    "https://img.example.com/unsafe/rs:fill:300:400:0/g:sm/plain/https://example.com/photo.jpg@webp":
        {"w": "300", "h": "400", "fit": "cover", "a": "attention", "output": "webp"},
    "/sig/resize:fit:300:0:1/q:75/aHR0cHM6Ly9leGFtcGxlLmNvbS9waG90by5qcGc.png":
        {"w": "300", "fit": "inside", "enlarge": "true", "q": "75", "output": "png"},
    "/_/s:300:200:0:1/c:0.5:0.5/plain/https%3A%2F%2Fexample.com%2Fphoto.jpg":
        {"w": "300", "h": "200", "fit": "contain", "crop": "25p,25p,50p,50p"},
    "/x/w:300/h:200/bg:255:0:0/fl:1/rot:90/dpr:2/t:10:fff/plain/https://example.com/photo.jpg":
        {"w": "300", "h": "200", "bg": "ff0000", "flop": "true", "ro": "90", "dpr": "2", "trim": "10", "tbg": "fff"},
    "/unsafe/300x200/smart/filters:quality(80):format(jpeg)/https://example.com/photo.jpg":
        {"w": "300", "h": "200", "fit": "cover", "enlarge": "true", "a": "attention", "q": "80", "output": "jpg"},
    "/unsafe/fit-in/-300x0/left/top/filters:fill(white):rotate(90)/https://example.com/photo.jpg":
        {"w": "300", "flop": "true", "fit": "contain", "a": "top-left", "bg": "white", "ro": "270"},
    "/unsafe/trim/10x20:110x220/full-fit-in/100x100/https://example.com/photo.jpg":
        {"trim": "10", "crop": "10,20,100,200", "w": "100", "h": "100", "fit": "outside"},
}  # fmt: skip
NOTHING = [
    PHOTO, "https://example.com/a/b/c.jpg", "https://example.com/unsafe", "https://example.com/w:3/a.jpg", LAKE, "s3://media/plain/a.jpg", "",
]  # fmt: skip


def reads_urls(person: Person) -> None:
    """The functions are pure, and leave alone what is a URL of an image."""
    person.opens()
    for text, expected in IMAGES.items():
        found = person.run(f"{SCRIPT}\nreturn foreignImage(arguments[0])", text)
        assert found and found["values"] == expected | {"url": PHOTO}, f"{text} became {found}"
    for text in NOTHING:
        assert person.run(f"{SCRIPT}\nreturn foreignImage(arguments[0])", text) is None, text


def pastes_one(person: Person) -> None:
    """A pasted URL becomes the image that it stands for, and what is left out is said."""
    shown = {
        f"https://img.example.com/unsafe/rs:fit:320:320/wm:0.5/plain/{LAKE}": ("imgproxy", "→ 320 × 213", "wm:0.5"),
        f"https://img.example.com/unsafe/200x200/{quote(LAKE, safe='')}": ("thumbor", "→ 200 × 200", ""),
        f"https://wsrv.nl/?url={LAKE}&w=240&h=240&t=square&loop=2": ("wsrv.nl", "→ 240 × 240", "loop"),
    }
    for text, (service, result, rest) in shown.items():
        person.writes("#url", text)
        person.clicks("#source-form button")
        person.sees_result(result)
        person.reads("#read-as", f"URL of {service}\\.{f' Left out: {rest}' if rest else '$'}")
        assert person.finds("#url").get_attribute("value") == LAKE
    person.writes("#url", LAKE)
    person.clicks("#source-form button")
    person.until(lambda: person.run("return document.getElementById('read-as').hidden"), "the note stays")


SCENARIOS = [reads_urls, pastes_one]
