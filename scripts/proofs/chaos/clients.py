"""Clients that send requests, disconnect, read slowly and purge, until they are stopped."""

import random
import socket
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPException

from server import TOKEN, Answer, Server, encoded
from chaos.behaviors import BEHAVIORS, FINE, SOURCES_EACH
from chaos.judge import LATE_SECONDS, Asked, Judge
from chaos.lives import Lives
from chaos.origin import Origin
from chaos.images import WIDTHS

ADMIN = {"Authorization": f"Bearer {TOKEN}"}
FINE_SHARE = 0.6
FINE_STATUSES = {200, 202, 204, 404, 413, 415, 422, 502, 503, 504, 508}


class Clients:
    def __init__(self, lives: Lives, origin: Origin, judge: Judge, seed: int) -> None:
        self.lives, self.origin, self.judge = lives, origin, judge
        self.seeds = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.is_over = False

    @contextmanager
    def at_work(self, count: int):
        """Runs this many clients; on exit, waits for their last responses."""
        self.is_over = False
        with ThreadPoolExecutor(count) as pool:
            clients = [pool.submit(self.go_on, random.Random(self.seeds.getrandbits(64))) for _ in range(count)]
            try:
                yield
            finally:
                self.is_over = True
        for client in clients:
            client.result()

    def go_on(self, choice: random.Random) -> None:
        acts = [(self.ask, 80), (self.leave, 8), (self.dawdle, 3), (self.look, 4), (self.purge, 4), (self.purge_memory, 1)]
        while not self.is_over:
            act = choice.choices([act for act, _ in acts], [weight for _, weight in acts])[0]
            if server := self.lives.up():
                self.without_fault_of_ours(server, act, choice)

    def without_fault_of_ours(self, server: Server, act, choice: random.Random) -> None:
        """A connection may only break if its server was stopped on purpose."""
        try:
            act(server, choice)
            self.count(act.__name__)
        except (OSError, HTTPException) as error:
            if self.lives.is_ended(server):
                self.count("cut off by the server's end")
            else:
                self.breach(f"the connection broke although the server was running: {error!r} ({act.__name__})")

    def ask(self, server: Server, choice: random.Random) -> None:
        asked = self.any(choice)
        extra = choice.choice(["", "", "", "&wait=stored", "&priority=high", "&store=memory"])
        self.judge.judge(asked, server.ask(self.path(asked) + extra, timeout=LATE_SECONDS + 10))

    def leave(self, server: Server, choice: random.Random) -> None:
        with self.connected(server) as connection:
            connection.sendall(self.request(self.any(choice)))
            time.sleep(choice.random() ** 3)

    def dawdle(self, server: Server, choice: random.Random) -> None:
        """Sends and reads a few bytes at a time."""
        asked = self.any(choice)
        began, received = time.monotonic(), b""
        with self.connected(server) as connection:
            request = self.request(asked)
            for at in range(0, len(request), 16):
                connection.sendall(request[at : at + 16])
                time.sleep(0.01)
            while part := connection.recv(64):
                received += part
                time.sleep(0.01)
        head, _, body = received.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        fields = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])}
        if not head:
            raise ConnectionResetError("no answer")
        self.judge.judge(asked, Answer(int(lines[0].split()[1]), fields, body, time.monotonic() - began))

    def look(self, server: Server, choice: random.Random) -> None:
        asked = self.any(choice)
        url = encoded(self.origin.url(asked.behavior, asked.number))
        path = choice.choice([f"/info?url={url}", f"/explain?url={url}&w=8", "/health/live", "/metrics", "/cache"])
        answer = server.ask(path, headers=ADMIN, timeout=LATE_SECONDS + 10)
        if answer.status not in FINE_STATUSES:
            self.breach(f"{path[:40]} returned {answer.status}: {answer.body[:200]!r}")

    def purge(self, server: Server, choice: random.Random) -> None:
        asked = self.any(choice)
        self.delete(server, f"/cache?url={encoded(self.origin.url(asked.behavior, asked.number))}")

    def purge_memory(self, server: Server, choice: random.Random) -> None:
        self.delete(server, "/cache?all=true&tier=memory")

    def delete(self, server: Server, path: str) -> None:
        answer = server.ask(path, "DELETE", ADMIN, timeout=LATE_SECONDS + 10)
        if answer.status not in FINE_STATUSES:
            self.breach(f"{path[:40]} returned {answer.status}: {answer.body[:200]!r}")

    def any(self, choice: random.Random) -> Asked:
        name = choice.choice(FINE if choice.random() < FINE_SHARE else list(BEHAVIORS))
        return Asked(name, choice.randrange(SOURCES_EACH), choice.choice(WIDTHS), time.monotonic())

    def path(self, asked: Asked) -> str:
        return f"/image?url={encoded(self.origin.url(asked.behavior, asked.number))}&w={asked.width}&output=png"

    def request(self, asked: Asked) -> bytes:
        return f"GET {self.path(asked)} HTTP/1.1\r\nHost: chaos\r\nConnection: close\r\n\r\n".encode()

    @staticmethod
    def connected(server: Server) -> socket.socket:
        return socket.create_connection(("127.0.0.1", server.port), LATE_SECONDS)

    def count(self, what: str) -> None:
        with self.lock:
            self.counts[what] += 1

    def breach(self, text: str) -> None:
        with self.lock:
            self.judge.breaches.append(text)
