"""An origin on raw sockets, because no HTTP library can send its invalid responses."""

import contextlib
import socket
import struct
import threading
import time
from collections import Counter
from urllib.parse import quote

from chaos.behaviors import BEHAVIORS, RESET, Request, source
from chaos.images import Code, Versions

HEAD_BYTES = 65_536
PATIENCE_SECONDS = 30


class Origin:
    """Answers `/<behavior>/<number>`; each behavior has a host of its own, so that one does not spoil another's name."""

    def __init__(self) -> None:
        self.versions, self.fetched, self.is_over = Versions(), Counter(), False
        self.listener = socket.create_server(("0.0.0.0", 0), backlog=512)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def url(self, name: str, number: int) -> str:
        return f"http://127.0.2.{list(BEHAVIORS).index(name) + 1}:{self.port}/{quote(name)}/{number}"

    def accept(self) -> None:
        while not self.is_over:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        connection.settimeout(PATIENCE_SECONDS)
        with connection, contextlib.suppress(OSError, ValueError):
            while text := self.head(connection):
                for part in self.answer(text):
                    if part == RESET:
                        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        return
                    if isinstance(part, float):
                        time.sleep(part)
                    else:
                        connection.sendall(part)
                if "/until-the-end/" in text:
                    return

    @staticmethod
    def head(connection: socket.socket) -> str:
        received = b""
        while not received.endswith(b"\r\n\r\n") and len(received) < HEAD_BYTES:
            if not (more := connection.recv(4_096)):
                return ""
            received += more
        return received.decode("latin-1")

    def answer(self, text: str):
        lines = text.split("\r\n")
        path = lines[0].split()[1]
        _, name, number = path.split("/")
        fields = {key.lower(): value for key, _, value in (line.partition(": ") for line in lines[1:])}
        behavior, number_of_source = BEHAVIORS[name], source(name, int(number))
        version = self.versions.next(number_of_source, behavior.changes_each)
        self.fetched[name] += 1
        code = Code(number_of_source, version)
        return behavior.answer(Request(code, path, fields.get("if-none-match", ""), self.fetched[name]))
