"""An HTTP/1.1 client for load: raw sockets on one event loop, kept alive, from any loopback address."""

import asyncio
import time
from collections.abc import Iterator
from typing import NamedTuple


class Answer(NamedTuple):
    status: int
    fields: bytes
    seconds: float
    """Since it was meant to be asked for."""
    at: float

    def field(self, name: bytes) -> str | None:
        for line in self.fields.split(b"\r\n"):
            key, _, value = line.partition(b":")
            if key.strip().lower() == name:
                return value.strip().decode()
        return None


class Connection(asyncio.Protocol):
    """One exchange at a time. Gives the head once the body is there too."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.waiting: asyncio.Future[bytes] | None = None
        self.head, self.missing = b"", None

    def connection_made(self, transport: asyncio.Transport) -> None:
        self.transport = transport

    def ask(self, request: bytes) -> "asyncio.Future[bytes]":
        self.waiting = asyncio.get_running_loop().create_future()
        self.head, self.missing = b"", None
        self.transport.write(request)
        return self.waiting

    def data_received(self, data: bytes) -> None:
        if self.missing is None:
            self.head += data
            if (end := self.head.find(b"\r\n\r\n")) < 0:
                return
            body, self.head = self.head[end + 4 :], self.head[:end]
            at = self.head.lower().find(b"content-length:")
            self.missing = (int(self.head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0) - len(body)
        else:
            self.missing -= len(data)
        if self.missing <= 0 and self.waiting and not self.waiting.done():
            self.waiting.set_result(self.head)

    def connection_lost(self, error: Exception | None) -> None:
        if self.waiting and not self.waiting.done():
            self.waiting.set_exception(error or ConnectionResetError("closed"))


class Client:
    """Somebody with an address of their own, and as many connections as they need."""

    def __init__(self, port: int, address: str) -> None:
        self.port, self.address = port, address
        self.idle: list[Connection] = []
        self.answers: list[Answer] = []
        self.failures: list[str] = []

    async def get(self, target: str, due: float | None = None) -> None:
        due = due or time.monotonic()
        try:
            connection = await self.connection()
            head = await connection.ask(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        except OSError as error:
            self.failures.append(f"{target}: {error!r}")
            return
        self.idle.append(connection)
        now = time.monotonic()
        line, _, fields = head.partition(b"\r\n")
        self.answers.append(Answer(int(line.split()[1]), fields, now - due, now))

    async def connection(self) -> Connection:
        while self.idle:
            if not (connection := self.idle.pop()).transport.is_closing():
                return connection
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(Connection, "127.0.0.1", self.port, local_addr=(self.address, 0))
        return connection

    async def offer(self, targets: Iterator[str], per_second: float, seconds: float) -> None:
        """Asks at a steady rate, whether or not anything comes back: an open loop. Returns with the last answer."""
        start, tasks = time.monotonic(), set()
        for number in range(int(per_second * seconds)):
            due = start + number / per_second
            if (wait := due - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            task = asyncio.create_task(self.get(next(targets), due))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        while tasks:
            await asyncio.wait(set(tasks))

    async def repeat(self, targets: Iterator[str], until: float, pause: float = 0) -> None:
        """Asks again as soon as an answer is there, or after a pause: a closed loop."""
        while time.monotonic() < until:
            await self.get(next(targets))
            if pause:
                await asyncio.sleep(pause)

    def close(self) -> None:
        for connection in self.idle:
            connection.transport.close()
