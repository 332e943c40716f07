"""Origins that answer as no honest server does: other bytes than HTTP allows, compressed bombs, work without an image."""

import base64
import gzip
import itertools
import multiprocessing
import random
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from attack.judge import Check
from attack.lab import HOSTILE, LOOPBACK, OTHER, Lab, asked, image
from overload.judge import quantile
from server import Server

OK = b"HTTP/1.1 200 OK\r\n"
RANDOM_URLS = 1_000
HITS, FLOODS, SLOWER, SLOWER_SECONDS = 400, 6, 2.0, 0.002
"""How many hits are measured beside how many hostile responses, and how much slower their median may be."""
FLOOD_SECONDS = 0.5
"""How long the responses have begun before the hits are measured."""
REFUSAL_SECONDS, BOMB_BYTES = 5.0, 1 << 30

Respond = Callable[[str, socket.socket], None]


class RawOrigin:
    """Keeps the request lines that it receives, answers each connection once, and closes it."""

    def __init__(self, respond: Respond) -> None:
        self.respond, self.lines = respond, []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.authority = f"127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head:
                if not (part := connection.recv(65536)):
                    return
                head += part
            line = head.partition(b"\r\n")[0].decode("latin-1")
            self.lines.append(line)
            self.respond(line.split(" ")[1], connection)

    def url(self, target: str) -> str:
        return f"http://{self.authority}{target}"

    def close(self) -> None:
        self.listener.close()


def whole(*fields: bytes, body: bytes) -> bytes:
    return OK + b"".join(field + b"\r\n" for field in fields) + b"Content-Length: %d\r\n\r\n" % len(body) + body


def request_lines(lab: Lab) -> Iterator[Check]:
    """The request line is the URL as a browser sends it, whatever its bytes."""
    photo = lab.photograph(64, 48)
    origin = RawOrigin(lambda _, connection: connection.sendall(whole(body=photo)))
    fixed = ["/bilder/Gr%FC%DFe.jpg", "/%b0%a1.png?a=%ff", "/it's|[1].jpg?q='|[", "/100%.jpg", "/%", "/x%ff.png?key=1"]
    numbers = random.Random(43)
    pieces = ["/", "?", "&", "=", "%FF", "%fc", "%zz", "%", "%2F", "%00", "a", "Z", "0", *"-_~!$'()*+,;:@[]|"]
    drawn = ["/" + "".join(numbers.choices(pieces, k=numbers.randrange(1, 20))) for _ in range(RANDOM_URLS)]
    # The apostrophe is encoded in queries, as browsers do.
    spelled = lambda target: "?".join([*target.split("?")[:1], *(part.replace("'", "%27") for part in target.split("?")[1:])])
    try:
        with lab.server(LOOPBACK, f"--source-map=shop=http://{origin.authority}/public/") as server:
            for target in fixed + drawn:
                asked(server, image(origin.url(target), "w=8"))
            expected = [f"GET {spelled(target)} HTTP/1.1" for target in dict.fromkeys(fixed + drawn)]
            missing = set(expected) - set(origin.lines)
            yield Check(not missing, f"{len(expected)} URLs: {len(missing)} request lines differ, such as {sorted(missing)[:2]} (0)")
            origin.lines.clear()
            asked(server, image("shop:x%ff.png?key=1", "w=8"))
            yield Check(origin.lines == ["GET /public/x%ff.png?key=1 HTTP/1.1"], f"a name of source-map: {origin.lines}")
    finally:
        origin.close()


def odd_responses(lab: Lab) -> Iterator[Check]:
    """Responses that browsers read give an image; responses that contradict themselves do not; nothing is injected."""
    photo = lab.photograph(64, 48)
    size = str(len(photo)).encode()
    chunks = b"%x\r\n%b\r\n0\r\n\r\n" % (len(photo), photo)
    readable = {
        "length-and-chunks": OK + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks,
        "equal-lengths": OK + b"Content-Length: " + size + b"\r\nContent-Length: " + size + b"\r\n\r\n" + photo,
        "length-list": OK + b"Content-Length: " + size + b", " + size + b"\r\n\r\n" + photo,
        "bare-lf": b"HTTP/1.1 200 OK\nContent-Length: " + size + b"\n\n" + photo,
        "blank-before-colon": OK + b"Content-Length : " + size + b"\r\n\r\n" + photo,
        "blank-in-name": whole(b"Bad Name: x", body=photo), "no-field": whole(b"nothing", body=photo),
        "folded": whole(b"X: a\r\n b", body=photo), "control": whole(b"X: \x01", body=photo),
        "identity": whole(b"Transfer-Encoding: identity", body=photo), "no-length": OK + b"\r\n" + photo,
        "range": b"HTTP/1.1 206 Part\r\nContent-Range: bytes 0-%d/%d\r\n" % (len(photo) - 1, len(photo)) + whole(body=photo)[len(OK):],
        "gzip": whole(b"Content-Encoding: gzip", body=gzip.compress(photo)),
        "zlib": whole(b"Content-Encoding: deflate", body=zlib.compress(photo)),
        "charset": whole(b"Content-Encoding: UTF-8", body=photo),
        "more-than-length": whole(body=photo) + whole(body=b"injected"),
    }
    refused = {
        "lengths-differ": OK + b"Content-Length: 5\r\nContent-Length: " + size + b"\r\n\r\n" + photo,
        "nul": whole(b"X: \x00", body=photo), "short": OK + b"Content-Length: 999999\r\n\r\n" + photo,
        "no-last-chunk": OK + b"Transfer-Encoding: chunked\r\n\r\n" + chunks[:-5],
        "bad-chunk": OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"xyz\r\n" + photo,
        "not-gzip": whole(b"Content-Encoding: gzip", body=photo),
        "twenty-codings": whole(b"Content-Encoding: " + b", ".join([b"gzip"] * 20), body=photo),
        "many-fields": OK + b"X: y\r\n" * 2_000_000 + b"\r\n", "switching": b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
    }
    both = readable | refused
    origin = RawOrigin(lambda target, connection: connection.sendall(both[target.lstrip("/")]))
    try:
        with lab.server(LOOPBACK) as server:
            for name, statuses in [(name, {200}) for name in readable] + [(name, {502}) for name in refused]:
                answer = asked(server, image(origin.url(f"/{name}"), "w=8"))
                # Failures in a row pause the host.
                if answer.status == 503:
                    time.sleep(1 + int(answer.headers.get("retry-after", "1")))
                    answer = asked(server, image(origin.url(f"/{name}"), "w=8"))
                yield Check(answer.status in statuses, f"{name}: {answer.status} {answer.problem} ({min(statuses)})")
    finally:
        origin.close()


def bombs(lab: Lab) -> Iterator[Check]:
    """A gigabyte of zeros in each coding, alone and nested, is a 413 early."""
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    once = b"".join(packer.compress(bytes(1 << 20)) for _ in range(BOMB_BYTES >> 20)) + packer.flush()
    brotli = base64.b64decode(BROTLI)
    bodies = {
        "gzip": (b"gzip", once), "nested": (b"gzip, gzip", gzip.compress(once)), "br": (b"br", brotli),
        "deflate": (b"deflate", zlib.compress(bytes(1 << 28), 9)),
    }
    origin = RawOrigin(lambda target, connection: connection.sendall(
        whole(b"Content-Encoding: " + bodies[target.lstrip("/")][0], body=bodies[target.lstrip("/")][1])))
    try:
        with lab.server(LOOPBACK) as server:
            for name in bodies:
                answer = asked(server, image(origin.url(f"/{name}"), "w=8"))
                holds = answer.status == 413 and answer.seconds < REFUSAL_SECONDS
                yield Check(holds, f"{name}: {answer.status} {answer.problem} after {answer.seconds:.2f} s (413 within {REFUSAL_SECONDS} s)")
    finally:
        origin.close()


def floods(lab: Lab) -> Iterator[Check]:
    """Beside six hostile responses, the median of another client's hits is at most twice the one beside six honest responses."""
    interim = b"HTTP/1.1 103 Early Hints\r\n" + b"Link: </a.css>; rel=preload\r\n" * 100 + b"\r\n"
    chunked = OK + b"Transfer-Encoding: chunked\r\n\r\n"
    floods = {
        "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000), "hints": (b"", interim * 10),
        "one-byte-chunks": (chunked, b"1\r\nx\r\n" * 10_000), "extensions": (chunked, b"1;" + b"x" * 8000 + b"\r\nx\r\n"),
        "one-extension": (chunked + b"1;", b"x" * 65536), "packets": (OK + b"Content-Length: 40000000\r\n\r\n", b"x"),
    }
    honest = median_beside(lab, "missing", b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", b"")
    for name, (head, part) in floods.items():
        median, bound = median_beside(lab, name, head, part), honest * SLOWER + SLOWER_SECONDS
        text = f"{name}: p50 of hits {median * 1000:.1f} ms, {honest * 1000:.1f} ms beside an origin that answers 404"
        yield Check(median <= bound, f"{text} (at most {bound * 1000:.1f})")


def median_beside(lab: Lab, name: str, head: bytes, part: bytes) -> float:
    """The median of another client's hits beside six clients that ask a hostile origin again and again."""
    with lab.server(LOOPBACK) as server:
        path = image(lab.origin.url("photo/1.jpg"), "w=40")
        asked(server, path)
        # A process of its own, so that the clients that are measured do not wait for its threads.
        flood = multiprocessing.get_context("fork").Process(target=flooded, args=(server, name, head, part), daemon=True)
        flood.start()
        time.sleep(FLOOD_SECONDS)
        hits = [asked(server, path, source=OTHER).seconds for _ in range(HITS)]
        flood.kill()
        flood.join()
        return quantile(hits, 0.5)


def flooded(server: Server, name: str, head: bytes, part: bytes) -> None:
    """Keeps requests of one client for an origin that sends a head and then one part without end, if there is one."""

    def respond(_: str, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(head)
        while part:
            connection.sendall(part)

    def repeat(number: int) -> None:
        for count in itertools.count():
            asked(server, image(origin.url(f"/{name}/{number}/{count}"), "w=8"), source=HOSTILE)

    origin = RawOrigin(respond)
    with ThreadPoolExecutor(FLOODS) as pool:
        list(pool.map(repeat, range(FLOODS)))


BROTLI = (
    "y///P/gnAOKxQCD3/o///3/wTwDEYRGA7v0f////4J8AiMMCAN37P/7//8E/ARCHBQC693/8//+DfwIgDgsAdO//+P//B/8EQBwWAOje//H//w/+CYA4LADQ"
    "vf/j//8f/BMAcVgAoHv/x///P/gnAOKwAED3/o///3/wTwDEYQGA7v0f////4J8AiMMCAN37P/7//8E/ARCHBQC693/5//+DfwIgDgsAdO9/AA=="
)
"""100 MiB of zeros."""

ATTACKS = [request_lines, odd_responses, bombs, floods]
