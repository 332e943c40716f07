"""An origin that has one large picture under every name. Prints its port, and ends when its standard input does."""
import asyncio
import struct
import sys
import zlib

WIDTH, HEIGHT = 2400, 1600


def picture():
    """A PNG that is small to send and much work to decode."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = [bytes([0]) + bytes((x * 3 + y * 7 + x * y // 64) & 255 for x in range(WIDTH * 3)) for y in range(4)]
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(b"".join(rows) * (HEIGHT // 4), 6)) + chunk(b"IEND", b""))


class Answering(asyncio.Protocol):
    answer = b""

    def connection_made(self, transport):
        self.transport, self.head = transport, b""

    def data_received(self, data):
        self.head += data
        while b"\r\n\r\n" in self.head:
            _, self.head = self.head.split(b"\r\n\r\n", 1)
            self.transport.write(self.answer)


async def main():
    body = picture()
    Answering.answer = (b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nCache-Control: max-age=3600\r\n"
                        b"Content-Length: %d\r\n\r\n" % len(body)) + body
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Answering, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], len(body), flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


asyncio.run(main())
