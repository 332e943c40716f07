"""Files at an origin, and what a server makes of them."""

import struct
import time
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple

from origin import SVG, Origin, media_type
from server import Answer, Server, encoded

ANSWER_SECONDS = 60
WAITS = (1, 3, 9, 0)
"""Seconds after each 503."""
Size = tuple[int, int]


class File(NamedTuple):
    number: int
    group: str
    name: str
    """Relative to its folder."""
    body: bytes
    media_type: str

    @staticmethod
    def read(number: int, group: str, name: str, path: Path) -> "File":
        body = path.read_bytes()
        return File(number, group, name, body, media_type(path, body))

    @property
    def is_drawing(self) -> bool:
        return self.media_type == SVG

    @property
    def address(self) -> str:
        return f"/file/{self.number}"

    @property
    def result_address(self) -> str:
        return f"/result/{self.number}"


class Service:
    def __init__(self, server: Server, origin: Origin) -> None:
        self.server, self.origin = server, origin

    def ask(self, file: File, parameters: str = "") -> Answer:
        """Our PNG of a file, by default in full size. File and PNG are at the origin until they are withdrawn."""
        self.origin.bodies[file.address] = (file.media_type, file.body)
        path = f"/image?output=png{parameters}&url={encoded(self.origin.base + file.address)}"
        for wait in WAITS:
            try:
                answer = self.server.ask(path, timeout=ANSWER_SECONDS)
            except (OSError, HTTPException) as error:
                return Answer(0, {}, str(error).encode(), 0)
            if answer.status != 503:
                break
            # Another load of the machine delays the server.
            time.sleep(wait)
        if answer.status == 200:
            self.origin.bodies[file.result_address] = ("image/png", answer.body)
        return answer

    def finds_damage(self, file: File) -> bool:
        """Whether the server shows a file only as far as it can be decoded."""
        return self.ask(file, "&damaged=show").headers.get("x-damaged") == "?1"

    def withdraw(self, file: File) -> None:
        for address in (file.address, file.result_address):
            self.origin.bodies.pop(address, None)


def size_of(answer: Answer) -> Size | None:
    """The size that the header of a PNG states; nil for a problem."""
    return struct.unpack(">II", answer.body[16:24]) if answer.status == 200 else None


def has_ratio(size: Size, other: Size) -> bool:
    """Whether two sizes have one ratio, but for rounding."""
    return abs(size[0] * other[1] - other[0] * size[1]) <= (sum(size) + sum(other)) / 2
