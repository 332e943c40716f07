"""The ways in which an origin behaves, each with what a client may get to see of it."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from flat_png import drawn
from chaos.pictures import Code, picture

Parts = Iterator[bytes | float]
"""What is sent one after the other; a number is a pause in seconds."""
RESET = b"RESET"
"""Instead of bytes: the connection ends with RST."""

PICTURE = "a picture"
BROKEN = {"origin-failed"}
LATE = {"origin-timeout", "timeout"}
# What may come of any request while processes are killed and everything is in want of room.
ALWAYS = {"overloaded", "unavailable", "origin-unavailable", "origin-timeout", "timeout"}


class Request(NamedTuple):
    code: Code
    path: str
    if_none_match: str
    number: int
    """How many came before from whatever source of this behaviour."""


class Behaviour(NamedTuple):
    answer: Callable[[Request], Parts]
    allowed: set[str]
    """Problem types, or PICTURE."""
    changes_each: float | None = None
    """Seconds, 0 at each request."""
    fresh: float = 0
    """For how long an answer may be older than the origin's; infinite where the origin lies about it."""


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
    """One write, made of the picture."""
    return lambda request: once(make(picture(request.code)))


def kept(seconds: int) -> str:
    return f"Cache-Control: max-age={seconds}"


def validated(request: Request) -> Parts:
    tag = f'ETag: "{request.code.version}"'
    if request.if_none_match == tag.removeprefix("ETag: "):
        yield head(tag, kept(1), status="304 Not Modified")
    else:
        yield whole(picture(request.code), tag, kept(1))


def dripping(request: Request) -> Parts:
    yield head("Content-Length: 100000")
    for byte in picture(request.code):
        yield bytes([byte])
        yield 0.2


def slow_head(request: Request) -> Parts:
    for byte in whole(picture(request.code)):
        yield bytes([byte])
        yield 0.3


def endless(request: Request) -> Parts:
    yield head("Transfer-Encoding: chunked")
    yield chunk(picture(request.code))
    while True:
        yield chunk(bytes(65_536))


def interim_flood(request: Request) -> Parts:
    for number in range(100_000):
        yield b"HTTP/1.1 103 Early Hints\r\nLink: </%d>\r\n\r\n" % number * 50
    yield whole(picture(request.code))


@cache
def bomb() -> bytes:
    """400 MiB of nothing, packed a thousand times smaller."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, 31)
    return b"".join(squeeze.compress(bytes(1 << 20)) for _ in range(400)) + squeeze.flush()


def flaky(request: Request) -> Parts:
    if request.number % 3 == 0:
        yield whole(picture(request.code), "Cache-Control: max-age=1, stale-if-error=3")
    else:
        yield RESET if request.number % 3 == 1 else whole(b"", status="500 Internal Server Error")


def status(line: str) -> Callable[[Request], Parts]:
    return said(lambda body: whole(body, status=line))


FOR_EVER = float("inf")
BEHAVIOURS: dict[str, Behaviour] = {
    # Origins that are fine.
    "kept": Behaviour(lambda request: once(whole(picture(request.code), kept(86_400))), {PICTURE}),
    "late": Behaviour(lambda request: once(0.7, whole(picture(request.code), kept(86_400))), {PICTURE}),
    "in-chunks": Behaviour(
        lambda request: once(head("Transfer-Encoding: chunked", kept(60)), chunk(picture(request.code)), b"0\r\n\r\n"), {PICTURE}
    ),
    "until-the-end": Behaviour(lambda request: once(head("Connection: close", kept(60)), picture(request.code)), {PICTURE}),
    "called-a-page": Behaviour(said(lambda body: whole(body, kept(60), content_type="text/html")), {PICTURE}),
    "validated": Behaviour(validated, {PICTURE}, changes_each=2, fresh=1),
    "changing": Behaviour(said(lambda body: whole(body, kept(1))), {PICTURE}, changes_each=1.5, fresh=1),
    "never-the-same": Behaviour(said(lambda body: whole(body, "Cache-Control: no-store")), {PICTURE}, changes_each=0),
    "private": Behaviour(said(lambda body: whole(body, "Cache-Control: private, max-age=60")), {PICTURE}, changes_each=0),
    "flaky": Behaviour(flaky, {PICTURE} | BROKEN, changes_each=2, fresh=4),
    "same-tag-other-bytes": Behaviour(
        said(lambda body: whole(body, 'ETag: "always"', kept(1))), {PICTURE}, changes_each=1, fresh=FOR_EVER
    ),
    # Origins that are not.
    "resets": Behaviour(lambda request: once(whole(picture(request.code))[:5_000], RESET), BROKEN),
    "resets-at-once": Behaviour(lambda request: once(RESET), BROKEN),
    "short": Behaviour(said(lambda body: head(f"Content-Length: {len(body) + 999}") + body), BROKEN | LATE),
    "long": Behaviour(said(lambda body: head(f"Content-Length: {len(body) - 999}") + body), {"corrupt-image"} | BROKEN),
    "two-lengths": Behaviour(
        said(lambda body: head(f"Content-Length: {len(body)}", f"Content-Length: {len(body) - 99}") + body),
        {"corrupt-image"} | BROKEN,
    ),
    "endless": Behaviour(endless, {"source-too-large"} | LATE),
    "drips": Behaviour(dripping, LATE),
    "slow-head": Behaviour(slow_head, LATE),
    "silent": Behaviour(lambda request: once(60.0), LATE),
    "circle": Behaviour(
        lambda request: once(head(f"Location: {request.path}", "Content-Length: 0", status="302 Found")), BROKEN | {"loop"}
    ),
    "big-headers": Behaviour(said(lambda body: whole(body, *(f"X-{n}: {'x' * 1000}" for n in range(100)))), BROKEN),
    "one-big-header": Behaviour(said(lambda body: whole(body, f"X: {'x' * 102_400}")), BROKEN),
    "gzip-bomb": Behaviour(lambda request: once(whole(bomb(), "Content-Encoding: gzip")), BROKEN | LATE | {"source-too-large", "unsupported-image"}),
    "gzipped": Behaviour(said(lambda body: whole(gzip.compress(body), "Content-Encoding: gzip")), {PICTURE} | BROKEN),
    "page": Behaviour(lambda request: once(whole(b"<!DOCTYPE html><title>No</title>")), {"unsupported-image"}),
    "gzip-data": Behaviour(lambda request: once(whole(gzip.compress(bytes(5_000)))), {"unsupported-image"}),
    "jpeg-2000": Behaviour(
        lambda request: once(whole(b"\x00\x00\x00\x0cjP  \r\n\x87\n\x00\x00\x00\x14ftypjp2 " + bytes(500))), {"unsupported-image"}
    ),
    "empty": Behaviour(lambda request: once(whole(b"")), {"unsupported-image"}),
    "204": Behaviour(lambda request: once(head(status="204 No Content")), BROKEN),
    "206": Behaviour(status("206 Partial Content"), BROKEN),
    "304-unasked": Behaviour(lambda request: once(head(status="304 Not Modified")), BROKEN),
    "101": Behaviour(status("101 Switching Protocols"), BROKEN | LATE),
    "999": Behaviour(status("999 Whatever"), BROKEN),
    "404": Behaviour(status("404 Not Found"), {"source-not-found"}),
    "500": Behaviour(status("500 Internal Server Error"), BROKEN),
    "429": Behaviour(said(lambda body: whole(b"", "Retry-After: 1", status="429 Too Many Requests")), BROKEN),
    "interim-flood": Behaviour(interim_flood, BROKEN | LATE | {PICTURE, "source-too-large"}),
    "bad-chunks": Behaviour(
        lambda request: once(head("Transfer-Encoding: chunked"), b"zz\r\n" + picture(request.code)), BROKEN | LATE
    ),
    "cut-chunk": Behaviour(
        lambda request: once(head("Transfer-Encoding: chunked"), chunk(picture(request.code))[:-5_000], RESET), BROKEN
    ),
    "not-http": Behaviour(lambda request: once(b"220 mail.example.com ESMTP\r\n", 0.05, RESET), BROKEN),
    "cut-picture": Behaviour(said(lambda body: whole(body[: -len(body) // 3])), {"corrupt-image"}),
    "damaged-picture": Behaviour(said(lambda body: whole(body[:-40] + bytes(20) + body[-20:])), {"corrupt-image"}),
    "rows-missing": Behaviour(
        lambda request: once(whole(drawn((64, 4_800), request.code.colour, rows=48))), {"corrupt-image"}
    ),
    "lies-about-its-size": Behaviour(
        lambda request: once(whole(drawn((60_000, 60_000), request.code.colour, rows=1))), {"source-too-large"}
    ),
}
FINE = [name for name, behaviour in BEHAVIOURS.items() if behaviour.allowed == {PICTURE}]
SOURCES_EACH = 12


def source(name: str, number: int) -> int:
    return list(BEHAVIOURS).index(name) * SOURCES_EACH + number % SOURCES_EACH
