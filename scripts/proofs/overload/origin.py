"""An origin with a photograph, a file that it is told, under every name, and with a drawing under names that end in .png.

Prints its port, and ends when its standard input does.
"""

import asyncio
import sys
import zlib
from pathlib import Path

WIDTH, HEIGHT, REPEATED_ROWS = 2400, 1600, 4


def image() -> bytes:
    """A PNG that is small to send and much work to decode."""
    rows = b"".join(
        b"\x00" + bytes((x * 3 + y * 7 + x * y // 64) & 255 for x in range(3 * WIDTH)) for y in range(REPEATED_ROWS))
    chunks = {
        b"IHDR": WIDTH.to_bytes(4) + HEIGHT.to_bytes(4) + bytes((8, 2, 0, 0, 0)),
        b"IDAT": zlib.compress(rows * (HEIGHT // REPEATED_ROWS)),
        b"IEND": b"",
    }
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        len(body).to_bytes(4) + name + body + zlib.crc32(name + body).to_bytes(4) for name, body in chunks.items())


def answer(body: bytes) -> bytes:
    return f"HTTP/1.1 200 OK\r\nCache-Control: max-age=3600\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


class Answering(asyncio.Protocol):
    photograph = drawing = b""

    def connection_made(self, transport: asyncio.Transport) -> None:
        self.transport, self.head = transport, b""

    def data_received(self, data: bytes) -> None:
        self.head += data
        while b"\r\n\r\n" in self.head:
            head, self.head = self.head.split(b"\r\n\r\n", 1)
            self.transport.write(self.drawing if b".png " in head else self.photograph)


async def main() -> None:
    Answering.photograph, Answering.drawing = answer(Path(sys.argv[1]).read_bytes()), answer(image())
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Answering, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


asyncio.run(main())
