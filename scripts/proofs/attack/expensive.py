"""Valid requests whose processing takes many seconds."""

from collections.abc import Iterator

from attack.judge import Check, refused_as_expensive
from attack.lab import LOOPBACK, Lab, cost, image

SIDE, FRAMES = 60, 250
REQUESTS = [
    ("photo", "w=7000&h=7000&enlarge=true&output=webp&ll=true", {"w", "h", "ll"}),
    ("photo", "w=6000&h=6000&fit=fill&enlarge=true&output=avif", {"w", "h", "output"}),
    ("photo", "w=5000&h=5000&fit=fill&enlarge=true&output=avif&max_bytes=100000", {"w", "h", "output", "max_bytes"}),
    ("animation", "w=700&h=680&fit=fill&enlarge=true&output=webp", {"w", "h", "n"}),
]


def expensive_requests(lab: Lab) -> Iterator[Check]:
    """A request beyond `max-processing-time` is refused at once, with a sentence that names a parameter to lower."""
    lab.origin.documents["photo"] = lambda _: lab.photograph(800, 600)
    lab.origin.documents["animation"] = lambda _: animation()
    # Within 4 s, the default, encoders answer nearly everything with less effort.
    with lab.server(LOOPBACK, "--max-processing-time=1s") as server:
        for number, (kind, query, parameters) in enumerate(REQUESTS):
            path = image(lab.origin.url(f"{kind}/{number}"), query)
            yield refused_as_expensive(path, cost(server, path), parameters)


def animation() -> bytes:
    """A GIF of noise whose data is not compressed: after each clear code, codes of 8 bits are colors."""
    palette = bytes(value for color in range(128) for value in (color * 2, 255 - color * 2, color))
    size = SIDE.to_bytes(2, "little") * 2
    parts = [b"GIF89a", size, b"\xf6\x00\x00", palette, b"!\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"]
    for frame in range(FRAMES):
        parts += [b"!\xf9\x04\x04\x04\x00\x00\x00", b",\x00\x00\x00\x00", size, b"\x00\x07"]
        pixels = bytes((x * 7 + y * 13 + frame * 29 + x * y) % 128 for y in range(SIDE) for x in range(SIDE))
        codes = b"".join(b"\x80" + pixels[at : at + 100] for at in range(0, len(pixels), 100)) + b"\x81"
        parts += [bytes((len(block),)) + block for block in (codes[at : at + 255] for at in range(0, len(codes), 255))]
        parts.append(b"\x00")
    return b"".join([*parts, b";"])


ATTACKS = [expensive_requests]
