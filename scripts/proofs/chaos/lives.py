"""The server's lives, one after the other on the same cache."""

import threading
import time
from pathlib import Path

from server import Server, knows
from chaos.judge import REQUEST_SECONDS
from chaos.volume import CACHE_MIB

SETTINGS = (
    *("--allow-networks=127.0.0.0/8", "--log-level=warning", "--default-fresh=0s", "--stale-if-error=0s"),
    *("--connect-timeout=2s", "--download-timeout=3s", f"--request-timeout={REQUEST_SECONDS}s", "--max-source-bytes=4MiB"),
    *(f"--cache-disk-bytes={CACHE_MIB}MiB", "--cache-memory-bytes=2MiB", "--cache-decoded-bytes=1MiB"),
)
WAIT_SECONDS = 0.05


class Lives:
    def __init__(self, binary: Path, folder: Path, settings: list[str]) -> None:
        self.binary, self.folder = binary, folder
        # Good images get into quarantine here, since their workers are stopped; in the end all have to be out of it.
        self.settings = (["--quarantine=2s"] if knows(binary, "quarantine") else []) + settings
        self.server: Server | None = None
        self.ended: list[Server] = []
        self.lock = threading.Lock()
        self.slowest_start = 0.0

    def up(self) -> Server | None:
        if not (server := self.server):
            time.sleep(WAIT_SECONDS)
        return server

    def begin(self) -> Server:
        began = time.monotonic()
        server = Server(self.binary, self.folder, *SETTINGS, *self.settings)
        server.wait_until_it_listens()
        self.slowest_start = max(self.slowest_start, time.monotonic() - began)
        self.server = server
        return server

    def kill(self) -> None:
        self.leave().kill()

    def stop(self) -> int:
        """The status that the server ends with."""
        return self.leave().stop()

    def leave(self) -> Server:
        server, self.server = self.server, None
        with self.lock:
            self.ended.append(server)
        return server

    def is_ended(self, server: Server) -> bool:
        with self.lock:
            return server in self.ended
