#!/usr/bin/env python3
"""Kills the server at random moments under load and proves that its disk cache stays intact.

A loopback origin has 4,000 small images, each identified by its single color. In each round the server starts on the
same cache directory, receives requests for entries that it must still have, then random requests from several clients,
and is killed with SIGKILL at a random moment, sometimes during its start. Every response must be the complete, correct
image, every start must succeed unattended, and every entry known to be on disk must be a hit without a request to the
origin. An entry is known to be on disk if it was requested with `wait=stored`, or was a hit on its first request after a
start. Other entries may have been in the write queue; they are counted when lost. The first breach exits with 1 and keeps
the directory.
"""

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import lru_cache
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from proofs.flat_png import drawn, noise, seen

BUILDS = Path(__file__).resolve().parent.parent / ".build"
SOURCES = 4_000
SOURCE_WIDTH = 60
WIDTHS = range(3, SOURCE_WIDTH + 1, 3)
CLIENTS = 8
CHECKED_A_ROUND = 40
KILLED_WHILE_STARTING = 0.15
LOAD_SECONDS, START_SECONDS = 0.9, 0.15
TIMEOUT_SECONDS = 30


class Breach(Exception):
    """A violated guarantee, described by a sentence."""


class Variant(NamedTuple):
    source: int
    width: int

    @property
    def size(self) -> tuple[int, int]:
        return self.width, self.width * (self.source % 3 + 1) // 3

    @property
    def color(self) -> bytes:
        return bytes((self.source % 64 * 4, self.source // 64 * 4, 90))


@lru_cache(maxsize=500)
def png(source: int) -> bytes:
    """A source of 8 to 71 KiB."""
    variant = Variant(source, SOURCE_WIDTH)
    return drawn(variant.size, variant.color, noise(source, (8 + source % 64) << 10))


class Origin(ThreadingHTTPServer):
    """Serves /<number> with a freshness of one day, and counts requests."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), OriginHandler)
        self.fetched: list[str] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignored: a killed server leaves broken connections."""


class OriginHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Origin

    def do_GET(self) -> None:
        self.server.fetched.append(self.path)
        body = png(int(self.path.strip("/")))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "max-age=86400")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        pass


class Server:
    """A server process, until it is killed."""

    def __init__(self, binary: Path, folder: Path) -> None:
        self.is_killed, self.port = False, 0
        command = [binary, "serve", "--port=0", "--allow-networks=127.0.0.0/8", f"--cache-dir={folder / 'cache'}"]
        with (folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)

    def wait_until_it_listens(self) -> None:
        watchdog = threading.Timer(TIMEOUT_SECONDS, self.process.kill)
        watchdog.start()
        line = self.process.stdout.readline()
        watchdog.cancel()
        if not (found := re.search(r"http://127\.0\.0\.1:(\d+)", line)):
            raise Breach(f"The server did not start on the cache of the killed one; it exited with status {self.process.wait()}.")
        self.port = int(found[1])

    def kill(self) -> None:
        self.is_killed = True
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def ask(self, path: str) -> tuple[int, str, bytes] | None:
        """Status, Cache-Status and body; None if the server was killed before the response was complete."""
        try:
            with closing(HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_SECONDS)) as connection:
                connection.request("GET", path)
                response = connection.getresponse()
                return response.status, response.getheader("Cache-Status", ""), response.read()
        except (OSError, HTTPException) as error:
            if self.is_killed:
                return None
            raise Breach(f"The connection broke although the server was not killed: {error!r}.") from error


class Proof:
    def __init__(self, binary: Path, folder: Path, seed: int) -> None:
        self.binary, self.folder, self.random = binary, folder, random.Random(seed)
        self.origin = Origin()
        self.counts: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.on_disk: set[Variant] = set()
        self.unsure: set[Variant] = set()
        self.can_wait: bool | None = None  # None until a server was asked
        self.slowest_start = 0.0

    def run(self, rounds: int) -> None:
        for number in range(rounds + 1):
            server = Server(self.binary, self.folder)
            try:
                if 0 < number < rounds and self.random.random() < KILLED_WHILE_STARTING:
                    time.sleep(self.random.uniform(0, START_SECONDS))
                    self.counts["kills during the start"] += 1
                else:
                    began = time.monotonic()
                    server.wait_until_it_listens()
                    self.slowest_start = max(self.slowest_start, time.monotonic() - began)
                    self.check(server, at_most=CHECKED_A_ROUND if number < rounds else len(self.on_disk))
                    if number < rounds:
                        self.load(server)
            finally:
                server.kill()

    def check(self, server: Server, at_most: int) -> None:
        """Requests the entries that must be on disk, then entries that may be."""
        self.unsure -= self.on_disk
        must, may = self.random.sample(sorted(self.on_disk), min(at_most, len(self.on_disk))), sorted(self.unsure)
        fetched = len(self.origin.fetched)
        with ThreadPoolExecutor(CLIENTS) as pool:
            list(pool.map(lambda variant: self.is_hit(server, variant), must))
            if paths := self.origin.fetched[fetched:]:
                raise Breach(f"The origin was asked for {', '.join(paths)} although only images on disk were requested.")
            answers = zip(may, pool.map(lambda variant: self.is_hit(server, variant), may), strict=True)
            hits = {variant for variant, is_hit in answers if is_hit}
        self.on_disk |= hits
        self.unsure -= hits
        self.counts["checks of entries on disk"] += len(must)
        self.counts["entries lost with the queue"] += len(self.unsure)

    def load(self, server: Server) -> None:
        """Sends random requests from several clients until the server is killed."""
        if self.can_wait is None:
            self.can_wait = server.ask(self.path(Variant(0, WIDTHS[0]), waits=True))[0] == 200
        with ThreadPoolExecutor(CLIENTS) as pool:
            clients = [pool.submit(self.ask_on, server, self.random.getrandbits(64)) for _ in range(CLIENTS)]
            time.sleep(self.random.uniform(0, LOAD_SECONDS))
            server.kill()
        for client in clients:
            client.result()

    def ask_on(self, server: Server, seed: int) -> None:
        choice = random.Random(seed)
        while not server.is_killed:
            variant = Variant(int(SOURCES * choice.random() ** 3), choice.choice(WIDTHS))
            waits = choice.random() < 0.5 and bool(self.can_wait)
            if self.is_hit(server, variant, waits) is None:
                return
            (self.on_disk if waits else self.unsure).add(variant)

    def is_hit(self, server: Server, variant: Variant, waits: bool = False) -> bool | None:
        """Requests a variant and checks the response; None if the server was killed meanwhile."""
        must_hit = variant in self.on_disk
        if (answer := server.ask(self.path(variant, waits))) is None:
            return None
        status, cache_status, body = answer
        if status != 200:
            raise Breach(f"The response for {variant} has status {status}: {body[:300].decode(errors='replace')}")
        try:
            size, colors = seen(body)
        except ValueError as error:
            raise Breach(f"The response for {variant} is not a complete image: {error}.") from error
        if (size, colors) != (variant.size, {variant.color}):
            raise Breach(f"The response for {variant} is another image: {size}, {sorted(colors)[:3]}.")
        is_hit = "hit" in re.split(r"\s*[;,]\s*", cache_status)
        if must_hit and not is_hit:
            raise Breach(f"{variant} was on disk and is lost; Cache-Status is {cache_status}.")
        with self.lock:
            self.counts.update({"answers, each the right image": 1, "hits": is_hit, "answers to wait=stored": waits})
        return is_hit

    def path(self, variant: Variant, waits: bool) -> str:
        url = quote(f"http://127.0.0.1:{self.origin.server_port}/{variant.source}", safe="")
        return f"/image?url={url}&w={variant.width}&output=png" + ("&wait=stored" if waits else "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=200, help="number of kills (default: 200)")
    parser.add_argument("--seed", type=int, default=1, help="random seed (default: 1)")
    parser.add_argument("--binary", type=Path, help="path of the executable (default: the release build, otherwise the debug build)")
    arguments = parser.parse_args()
    builds = [arguments.binary] if arguments.binary else [BUILDS / kind / "darkroom" for kind in ("release", "debug")]
    binary = next((build.resolve() for build in builds if build.is_file()), None)
    if not binary:
        parser.error("there is no executable; run `swift build --product darkroom` first")
    folder = Path(tempfile.mkdtemp(prefix="darkroom-durability-"))
    proof = Proof(binary, folder, arguments.seed)
    began = time.monotonic()
    try:
        proof.run(arguments.rounds)
    except Breach as breach:
        print(f"{breach}\nThe cache and the log are in {folder}.", file=sys.stderr)
        return 1
    shutil.rmtree(folder)
    print(f"{arguments.rounds} kills in {time.monotonic() - began:.0f} s, seed {arguments.seed}, no breach")
    proof.counts["requests to the origin"] = len(proof.origin.fetched)
    proof.counts["entries known to be on disk"] = len(proof.on_disk)
    for name, count in proof.counts.items():
        print(f"{count:8,} {name}")
    print(f"{proof.slowest_start:8.2f} s for the slowest start")
    return 0


if __name__ == "__main__":
    sys.exit(main())
