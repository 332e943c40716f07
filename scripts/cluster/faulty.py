"""A proxy in front of the store that passes everything on unchanged, delays it, or damages the objects that nodes read."""

import random
import re
import socket
import threading
import time
from collections import Counter
from contextlib import suppress

from ports import free_port

HEAD_BYTES = 65_536
PATIENCE_SECONDS = 120
DAMAGED_SHARE = 0.5
PURGE_LOG = re.compile(rb"(/|%2F)1(/|%2F)[pf](/|%2F)", re.IGNORECASE)


class FaultyStore:
    """Forwards whole messages byte by byte, so that signatures, which cover the Host field, stay valid."""

    def __init__(self, address: str, seed: int) -> None:
        self.address, self.damages, self.delay_seconds = address, False, 0.0
        self.choice = random.Random(seed)
        self.counts: Counter[str] = Counter()
        self.connections: set[socket.socket] = set()
        self.port = free_port()
        self.endpoint = f"127.0.0.1:{self.port}"
        self.listen()

    def listen(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", self.port), backlog=512)
        threading.Thread(target=self.accept, args=(self.listener,), daemon=True).start()

    def accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def close(self) -> None:
        """Connections are refused from now on."""
        # Wakes the thread that accepts, which close(2) alone does not.
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def cut(self) -> None:
        """Ends the connections there are, too."""
        self.close()
        for connection in list(self.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def serve(self, client: socket.socket) -> None:
        self.connections.add(client)
        try:
            self.forward(client)
        finally:
            self.connections.discard(client)

    def forward(self, client: socket.socket) -> None:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with client, suppress(OSError, ValueError):
            host, _, port = self.address.partition(":")
            with socket.create_connection((host, int(port)), PATIENCE_SECONDS) as store:
                store.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                requests, answers = Stream(client), Stream(store)
                while self.exchange(requests, answers, client, store):
                    pass

    def exchange(self, requests: "Stream", answers: "Stream", client: socket.socket, store: socket.socket) -> bool:
        if not (head := requests.head()):
            return False
        store.sendall(head)
        for part in requests.body(head, is_answer=False):
            store.sendall(part)
        method, _, rest = head.partition(b" ")
        while (reply := answers.head()).startswith(b"HTTP/1.1 100"):
            client.sendall(reply)
        if not reply:
            return False
        time.sleep(self.delay_seconds)
        target = rest.partition(b" ")[0]
        status = reply.split(b" ", 2)[1].decode()
        self.counts[f"{kind(method, target)} {status}"] += 1
        damaged = self.damages and method == b"GET" and b"list-type=" not in target and status in ("200", "206")
        return self.answer(reply, answers, client, method, damaged and self.choice.random() < DAMAGED_SHARE)

    def answer(self, head: bytes, answers: "Stream", client: socket.socket, method: bytes, damaged: bool) -> bool:
        parts = [] if method == b"HEAD" else answers.body(head, is_answer=True)
        if not damaged:
            client.sendall(head)
            for part in parts:
                client.sendall(part)
            return b"connection: close" not in head.lower()
        body = bytearray(b"".join(parts))
        client.sendall(head)
        if self.choice.random() < 0.5 and len(body) > 1:
            self.counts["truncated bodies"] += 1
            client.sendall(body[: len(body) // 2])
            return False
        for _ in range(3):
            body[self.choice.randrange(len(body))] ^= 1 << self.choice.randrange(8)
        self.counts["changed bodies"] += 1
        client.sendall(body)
        return b"connection: close" not in head.lower()


class Stream:
    """HTTP/1.1 messages of one direction, as they came."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection, self.rest = connection, b""

    def head(self) -> bytes:
        """Empty at the end of the connection."""
        while (end := self.rest.find(b"\r\n\r\n")) < 0:
            if len(self.rest) > HEAD_BYTES or not self.more():
                return b""
        head, self.rest = self.rest[: end + 4], self.rest[end + 4 :]
        return head

    def body(self, head: bytes, *, is_answer: bool):
        fields = dict(
            (name.strip().lower(), value.strip().lower())
            for name, _, value in (line.partition(b":") for line in head.split(b"\r\n")[1:])
        )
        if is_answer and head.split(b" ", 2)[1][:3] in (b"204", b"304"):
            return
        if b"chunked" in fields.get(b"transfer-encoding", b""):
            while size := int(self.line().split(b";")[0], 16):
                yield from self.take(b"%x\r\n" % size, size + 2)
            # No trailer fields: the store sends none.
            yield b"0\r\n" + self.line() + b"\r\n"
        elif length := int(fields.get(b"content-length", b"0")):
            yield from self.take(b"", length)

    def line(self) -> bytes:
        while (end := self.rest.find(b"\r\n")) < 0:
            if not self.more():
                raise ValueError("the connection ended")
        line, self.rest = self.rest[:end], self.rest[end + 2 :]
        return line

    def take(self, before: bytes, length: int):
        if before:
            yield before
        while length:
            if not self.rest and not self.more():
                raise ValueError("the connection ended")
            part, self.rest = self.rest[:length], self.rest[length:]
            length -= len(part)
            yield part

    def more(self) -> bool:
        received = self.connection.recv(65_536)
        self.rest += received
        return bool(received)


def kind(method: bytes, target: bytes) -> str:
    """The operation as stores charge for it; operations on the purge log, which no lookup causes, have another name."""
    operation = "multi-delete" if b"?delete" in target else method.decode()
    if b"list-type=" in target:
        operation = "LIST"
    return f"purge log: {operation}" if PURGE_LOG.search(target) else operation
