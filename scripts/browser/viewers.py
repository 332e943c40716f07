"""The judges of a file: a browser, or stored references of how it showed the file."""

import base64
from pathlib import Path
from typing import Any, NamedTuple

import numpy

import references
from chromium import Chromium, ChromiumError
from comparison import GRID, pixels_of
from server import Answer
from service import File, Service, Size, has_ratio, size_of

SIDE = 128
"""The longest side of the canvases."""
STORED_SIDE = 2048
"""The side of canvases from which references are made; their blocks are compared with blocks of a full-size result."""
DRAWING_SIDE = 320
"""The size of drawings. Drawings without a size are 300 pixels wide in browsers, and some look different in another size."""
FILE_SECONDS = 30


class Shown(NamedTuple):
    """How a file looks, and our result of it."""

    size: Size
    pixels: numpy.ndarray
    result_pixels: numpy.ndarray | None
    """Nil without a result, or for a drawing whose result has another ratio."""


class NotShown(Exception):
    """The browser does not show the file; the reason."""


class Browser:
    def __init__(self, service: Service, side: int = SIDE) -> None:
        self.service, self.side = service, side
        self.chromium = Chromium(f"{service.origin.base}/")
        self.name = self.chromium.version

    def shows(self, file: File, answer: Answer) -> Shown:
        try:
            if file.is_drawing and (size := self._evaluated("sizeOf", file.address)):
                answer = drawn(self.service, file, answer, tuple(size))
            result = file.result_address if answer.status == 200 else ""
            seen = self._evaluated("show", file.address, result, DRAWING_SIDE if file.is_drawing else self.side)
        except ChromiumError as error:
            raise NotShown(str(error)) from None
        if not seen:
            raise NotShown("not an image to it")
        return Shown(tuple(seen["size"]), array(seen, "file"), array(seen, "result"))

    def finds_damage(self, file: File) -> bool:
        """Whether the browser shows a file only as far as it can be decoded."""
        try:
            return not self._evaluated("isDecoded", file.address)
        except ChromiumError:
            return False

    def _evaluated(self, name: str, *arguments: str | int) -> Any:
        return self.chromium.evaluate(f"{name}({', '.join(map(repr, arguments))})", FILE_SECONDS)

    def stop(self) -> None:
        self.chromium.stop()


class Stored:
    """References instead of a browser."""

    def __init__(self, service: Service, folder: Path) -> None:
        self.service, self.name = service, f"the references in {folder}"
        self.references = references.read(folder)

    def shows(self, file: File, answer: Answer) -> Shown:
        reference = self.references.get(file.name)
        if not reference or not reference.picture:
            raise NotShown("no reference")
        pixels = pixels_of(reference.picture.read_bytes())
        if file.is_drawing:
            # A reference larger than its blocks was drawn in its own size.
            height, width, _ = pixels.shape
            answer = drawn(self.service, file, answer, (width, height) if max(width, height) > GRID else reference.size)
        return Shown(reference.size, pixels, pixels_of(answer.body) if answer.status == 200 else None)

    def finds_damage(self, file: File) -> bool:
        return False

    def stop(self) -> None:
        pass


def drawn(service: Service, file: File, answer: Answer, size: Size) -> Answer:
    """Our result of a drawing in the browser's size; the given one if the ratio is another."""
    own = size_of(answer)
    if own is None or min(size) == 0 or not has_ratio(own, size):
        return answer
    return service.ask(file, f"&enlarge=true&w={max(1, round(size[0] * min(1, DRAWING_SIDE / max(size))))}")


def array(seen: dict[str, Any], name: str) -> numpy.ndarray | None:
    width, height = seen["canvas"]
    return seen[name] and numpy.frombuffer(base64.b64decode(seen[name]), numpy.uint8).reshape(height, width, 4)
