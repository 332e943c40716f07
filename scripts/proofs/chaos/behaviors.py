"""The behaviors of origins, each with the results that a client may get."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from flat_png import drawn
from chaos.images import Code, image

Parts = Iterator[bytes | float]
"""Data to send in sequence; a number is a pause in seconds."""
RESET = b"RESET"
"""Instead of data: resets the connection."""

IMAGE = "an image"
BROKEN = {"origin-failed"}
LATE = {"origin-timeout", "timeout"}
# Allowed for any request while processes are killed and resources are scarce.
ALWAYS = {"overloaded", "unavailable", "origin-unavailable", "origin-timeout", "timeout"}


class Request(NamedTuple):
    code: Code
    path: str
    if_none_match: str
    number: int
    """The number of earlier requests to sources with this behavior."""


class Behavior(NamedTuple):
    answer: Callable[[Request], Parts]
    allowed: set[str]
    """Problem types, or IMAGE."""
    changes_each: float | None = None
    """Seconds between versions; 0 means a new version for each request."""
    fresh: float = 0
    """How much older a response may be than the origin's version; infinite if the origin lies about it."""


def whole(body: bytes, *fields: str, status: str = "200 OK", content_type: str = "image/png") -> bytes:
    head = [f"HTTP/1.1 {status}", f"Content-Type: {content_type}", f"Content-Length: {len(body)}", *fields]
    return "\r\n".join(head).encode() + b"\r\n\r\n" + body


def head(*fields: str, status: str = "200 OK") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", "Content-Type: image/png", *fields]).encode() + b"\r\n\r\n"


def chunk(body: bytes) -> bytes:
    return f"{len(body):x}\r\n".encode() + body + b"\r\n"


def once(*parts: bytes | float) -> Parts:
    yield from parts


def said(make: Callable[[bytes], bytes]) -> Callable[[Request], Parts]:
    """One write, made of the image."""
    return lambda request: once(make(image(request.code)))


def kept(seconds: int) -> str:
    return f"Cache-Control: max-age={seconds}"


def validated(request: Request) -> Parts:
    tag = f'ETag: "{request.code.version}"'
    if request.if_none_match == tag.removeprefix("ETag: "):
        yield head(tag, kept(1), status="304 Not Modified")
    else:
        yield whole(image(request.code), tag, kept(1))


def dripping(request: Request) -> Parts:
    yield head("Content-Length: 100000")
    for byte in image(request.code):
        yield bytes([byte])
        yield 0.2


def slow_head(request: Request) -> Parts:
    for byte in whole(image(request.code)):
        yield bytes([byte])
        yield 0.3


def endless(request: Request) -> Parts:
    yield head("Transfer-Encoding: chunked")
    yield chunk(image(request.code))
    while True:
        yield chunk(bytes(65_536))


def interim_flood(request: Request) -> Parts:
    for number in range(100_000):
        yield b"HTTP/1.1 103 Early Hints\r\nLink: </%d>\r\n\r\n" % number * 50
    yield whole(image(request.code))


@cache
def bomb() -> bytes:
    """400 MiB of zeros, compressed a thousandfold."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(squeeze.compress(bytes(1 << 20)) for _ in range(400)) + squeeze.flush()


def flaky(request: Request) -> Parts:
    if request.number % 3 == 0:
        yield whole(image(request.code), "Cache-Control: max-age=1, stale-if-error=3")
    else:
        yield RESET if request.number % 3 == 1 else whole(b"", status="500 Internal Server Error")


def status(line: str) -> Callable[[Request], Parts]:
    return said(lambda body: whole(body, status=line))


FOREVER = float("inf")
BEHAVIORS: dict[str, Behavior] = {
    # Working origins.
    "kept": Behavior(lambda request: once(whole(image(request.code), kept(86_400))), {IMAGE}),
    "late": Behavior(lambda request: once(0.7, whole(image(request.code), kept(86_400))), {IMAGE}),
    "in-chunks": Behavior(
        lambda request: once(head("Transfer-Encoding: chunked", kept(60)), chunk(image(request.code)), b"0\r\n\r\n"), {IMAGE}
    ),
    "until-the-end": Behavior(lambda request: once(head("Connection: close", kept(60)), image(request.code)), {IMAGE}),
    "called-a-page": Behavior(said(lambda body: whole(body, kept(60), content_type="text/html")), {IMAGE}),
    "validated": Behavior(validated, {IMAGE}, changes_each=2, fresh=1),
    "changing": Behavior(said(lambda body: whole(body, kept(1))), {IMAGE}, changes_each=1.5, fresh=1),
    "never-the-same": Behavior(said(lambda body: whole(body, "Cache-Control: no-store")), {IMAGE}, changes_each=0),
    "private": Behavior(said(lambda body: whole(body, "Cache-Control: private, max-age=60")), {IMAGE}, changes_each=0),
    "flaky": Behavior(flaky, {IMAGE} | BROKEN, changes_each=2, fresh=4),
    "same-tag-other-bytes": Behavior(
        said(lambda body: whole(body, 'ETag: "always"', kept(1))), {IMAGE}, changes_each=1, fresh=FOREVER
    ),
    # Broken origins.
    "resets": Behavior(lambda request: once(whole(image(request.code))[:5_000], RESET), BROKEN),
    "resets-at-once": Behavior(lambda request: once(RESET), BROKEN),
    "short": Behavior(said(lambda body: head(f"Content-Length: {len(body) + 999}") + body), BROKEN | LATE),
    "long": Behavior(said(lambda body: head(f"Content-Length: {len(body) - 999}") + body), {"corrupt-image"} | BROKEN),
    "two-lengths": Behavior(
        said(lambda body: head(f"Content-Length: {len(body)}", f"Content-Length: {len(body) - 99}") + body),
        {"corrupt-image"} | BROKEN,
    ),
    "endless": Behavior(endless, {"source-too-large"} | LATE),
    "drips": Behavior(dripping, LATE),
    "slow-head": Behavior(slow_head, LATE),
    "silent": Behavior(lambda request: once(60.0), LATE),
    "circle": Behavior(
        lambda request: once(head(f"Location: {request.path}", "Content-Length: 0", status="302 Found")), BROKEN | {"loop"}
    ),
    "big-headers": Behavior(said(lambda body: whole(body, *(f"X-{n}: {'x' * 1000}" for n in range(100)))), BROKEN),
    "one-big-header": Behavior(said(lambda body: whole(body, f"X: {'x' * 102_400}")), BROKEN),
    "gzip-bomb": Behavior(lambda request: once(whole(bomb(), "Content-Encoding: gzip")), BROKEN | LATE | {"source-too-large", "unsupported-image"}),
    "gzipped": Behavior(said(lambda body: whole(gzip.compress(body), "Content-Encoding: gzip")), {IMAGE} | BROKEN),
    "page": Behavior(lambda request: once(whole(b"<!DOCTYPE html><title>No</title>")), {"unsupported-image"}),
    "gzip-data": Behavior(lambda request: once(whole(gzip.compress(bytes(5_000)))), {"unsupported-image"}),
    "jpeg-2000": Behavior(
        lambda request: once(whole(b"\x00\x00\x00\x0cjP  \r\n\x87\n\x00\x00\x00\x14ftypjp2 " + bytes(500))), {"unsupported-image"}
    ),
    "empty": Behavior(lambda request: once(whole(b"")), {"unsupported-image"}),
    "204": Behavior(lambda request: once(head(status="204 No Content")), BROKEN),
    # Without a range it is the whole, as in browsers.
    "206": Behavior(status("206 Partial Content"), {IMAGE}),
    "206-part": Behavior(
        said(lambda body: whole(body[:500], f"Content-Range: bytes 0-499/{len(body)}", status="206 Partial Content")), BROKEN
    ),
    "304-unasked": Behavior(lambda request: once(head(status="304 Not Modified")), BROKEN),
    "101": Behavior(status("101 Switching Protocols"), BROKEN | LATE),
    "999": Behavior(status("999 Whatever"), BROKEN),
    "404": Behavior(status("404 Not Found"), {"source-not-found"}),
    "500": Behavior(status("500 Internal Server Error"), BROKEN),
    "429": Behavior(said(lambda body: whole(b"", "Retry-After: 1", status="429 Too Many Requests")), {"origin-busy"}),
    "interim-flood": Behavior(interim_flood, BROKEN | LATE | {IMAGE, "source-too-large"}),
    "bad-chunks": Behavior(
        lambda request: once(head("Transfer-Encoding: chunked"), b"zz\r\n" + image(request.code)), BROKEN | LATE
    ),
    "cut-chunk": Behavior(
        lambda request: once(head("Transfer-Encoding: chunked"), chunk(image(request.code))[:-5_000], RESET), BROKEN
    ),
    "not-http": Behavior(lambda request: once(b"220 mail.example.com ESMTP\r\n", 0.05, RESET), BROKEN),
    "cut-image": Behavior(said(lambda body: whole(body[: -len(body) // 3])), {"corrupt-image"}),
    "damaged-image": Behavior(said(lambda body: whole(body[:-40] + bytes(20) + body[-20:])), {"corrupt-image"}),
    "rows-missing": Behavior(
        lambda request: once(whole(drawn((64, 4_800), request.code.color, rows=48))), {"corrupt-image"}
    ),
    "lies-about-its-size": Behavior(
        lambda request: once(whole(drawn((60_000, 60_000), request.code.color, rows=1))), {"source-too-large"}
    ),
}
FINE = [name for name, behavior in BEHAVIORS.items() if behavior.allowed == {IMAGE}]
SOURCES_EACH = 12


def source(name: str, number: int) -> int:
    return list(BEHAVIORS).index(name) * SOURCES_EACH + number % SOURCES_EACH
