"""SVG documents of a few hundred bytes whose rendering takes many seconds of processor time."""

import gzip
from collections.abc import Callable

SIDE = 2000
OCTAVES = 10_000_000


def document(body: str, doctype: str = "") -> bytes:
    size = f'width="{SIDE}" height="{SIDE}" viewBox="0 0 {SIDE} {SIDE}"'
    namespaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return f"{doctype}<svg {namespaces} {size}>{body}</svg>".encode()


def filtered(primitives: str, doctype: str = "") -> bytes:
    """A square with a filter that covers exactly the image."""
    region = 'x="0" y="0" width="100%" height="100%"'
    square = '<rect width="100%" height="100%" fill="#369" filter="url(#f)"/>'
    return document(f'<filter id="f" {region}>{primitives}</filter>{square}', doctype)


def turbulence(octaves: object = OCTAVES, doctype: str = "") -> bytes:
    return filtered(f'<feTurbulence baseFrequency=".1" numOctaves="{octaves}"/>', doctype)


def morphology() -> bytes:
    return filtered('<feMorphology operator="dilate" radius="900"/>' * 4)


def convolution() -> bytes:
    order = 20
    return filtered(f'<feConvolveMatrix order="{order}" kernelMatrix="{" ".join("1" * order**2)}"/>' * 4)


def blurs() -> bytes:
    return filtered('<feGaussianBlur stdDeviation="90"/>' * 300)


def primitives() -> bytes:
    lighting = '<feSpecularLighting specularExponent="20"><fePointLight x="9" y="9" z="9"/></feSpecularLighting>'
    return filtered(lighting * 300)


def filter_functions() -> bytes:
    """The same without an element for the filter: a chain of CSS filter functions."""
    return document(f'<rect width="100%" height="100%" style="filter:{"blur(90px) " * 200}"/>')


def one_filter_often() -> bytes:
    """A cheap filter that many elements use."""
    rectangles = '<rect width="100%" height="100%" fill-opacity=".1" filter="url(#f)"/>' * 300
    region = 'x="0" y="0" width="100%" height="100%"'
    return document(f'<filter id="f" {region}><feGaussianBlur stdDeviation="9"/></filter>{rectangles}')


def nested_patterns() -> bytes:
    """Each pattern is painted with ten tiles of the next one."""
    attributes = 'width=".1" height=".1" patternUnits="objectBoundingBox"'
    rectangle = lambda paint: f'<rect width="{SIDE}" height="{SIDE}" fill="{paint}"/>'
    patterns = [
        f'<pattern id="p{depth}" {attributes}>{rectangle(f"url(#p{depth + 1})") * 10}</pattern>' for depth in range(12)
    ]
    last = f'<pattern id="p12" {attributes}>{rectangle("red")}</pattern>'
    return document("".join(patterns) + last + rectangle("url(#p0)"))


def nested_uses() -> bytes:
    """A group is used ten times by the next one, and each has an opacity, so that it is drawn apart."""
    groups = ['<g id="g0"><rect width="100%" height="100%" fill-opacity=".1"/></g>']
    for depth in range(1, 6):
        uses = f'<use xlink:href="#g{depth - 1}" opacity=".9"/>' * 10
        groups.append(f'<g id="g{depth}" opacity=".9">{uses}</g>')
    return document(f'<defs>{"".join(groups)}</defs><use xlink:href="#g5"/>')


def text() -> bytes:
    """A single line of 200,000 letters, each larger than the image."""
    return document(f'<text font-size="{SIDE}">{"W" * 200_000}</text>')


def entities() -> bytes:
    """The number of octaves is the text of an entity, which itself consists of others."""
    doctype = '<!DOCTYPE svg [<!ENTITY z "00000"><!ENTITY n "1&z;00">]>'
    return turbulence("&n;", doctype)


def zipped() -> bytes:
    return gzip.compress(turbulence(), mtime=0)


def wide_characters() -> bytes:
    return ('<?xml version="1.0" encoding="UTF-16"?>' + turbulence().decode()).encode("utf-16")


BOMBS: dict[str, Callable[[], bytes]] = {
    "feTurbulence": turbulence, "feMorphology": morphology, "feConvolveMatrix": convolution, "feGaussianBlur": blurs,
    "300 primitives": primitives, "filter functions": filter_functions, "one filter 300 times": one_filter_often,
    "nested patterns": nested_patterns, "nested uses": nested_uses, "text": text, "entities": entities,
    "SVGZ": zipped, "UTF-16": wide_characters,
}


SUSTAINED = (turbulence, nested_uses, filter_functions, nested_patterns)
"""Bombs that are seen before rendering, and bombs that are not."""


def numbered(number: int) -> bytes:
    """A bomb with bytes of its own for each number."""
    return SUSTAINED[number % len(SUSTAINED)]().replace(b"</svg>", f"<!-- {number} --></svg>".encode())
