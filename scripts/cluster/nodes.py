"""Nodes that are killed, paused and started again, each with the same port and cache."""

import math
import os
import re
import shutil
import signal
import time
from collections import Counter
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from processes import memory_mb, waited_for
from server import TOKEN, Answer, Server, knows

from faulty import FaultyStore
from ports import free_port
from store import Store

SHARED_SETTING = "shared-store"
START_SECONDS, END_SECONDS = 60, 40
ADMIN = {"Authorization": f"Bearer {TOKEN}"}
SETTINGS = (
    *("--allow-networks=127.0.0.0/8", "--trusted-proxies=127.0.0.1/32", "--log-level=info", "--log-hits=false"),
    # An image may be as old as its origin says, and no older.
    *("--default-fresh=0s", "--stale-if-error=0s", "--downloads-per-host=64"),
    # Workers of three nodes share the machine.
    *("--pixel-workers=1", "--cache-decoded-bytes=4MiB", "--cache-memory-bytes=16MiB", "--cache-disk-bytes=256MiB"),
)
# All that the harness knows of the shared tier's names, besides Cache-Status.
TIER_DETAIL = "shared"
METRICS = "darkroom_shared_store_"
PRODUCED = "darkroom_variants_total"
LOG_AGE = f"{METRICS}purge_log_age_seconds"
SERIES = re.compile(r"(?m)^(\w+)(?:\{(.*)\})? ([-+.e\d]+)$")


class Settings:
    """The settings of all nodes, and what is left out of them."""

    def __init__(self, binary: Path, store: Store, prefix: str, purge_poll: int, without: set[str]) -> None:
        self.binary = binary
        self.is_shared = "shared-store" not in without and knows(binary, SHARED_SETTING)
        flags = [*SETTINGS, *(["--min-fresh=1h"] if "freshness" in without else [])]
        self.local_flags = list(flags)
        if self.is_shared:
            flags += [
                f"--{SHARED_SETTING}=s3://{store.bucket}/{prefix}", f"--s3-region={store.region}", "--s3-path-style=true",
                f"--shared-store-timeout={'30s' if 'deadline' in without else '1s'}",
                f"--purge-poll={'1h' if 'purge-poll' in without else f'{purge_poll}s'}",
            ]
        self.flags = flags


class Node:
    def __init__(self, number: int, folder: Path, settings: Settings, faulty: FaultyStore, *more: str) -> None:
        self.number, self.settings, self.faulty, self.more = number, settings, faulty, more
        self.folder = folder / f"node{number}"
        self.folder.mkdir()
        self.port = free_port()
        self.server: Server | None = None
        # The URLs of /explain then say which node it was.
        self.name = f"node{number}"

    def start(self) -> None:
        endpoint = [f"--s3-endpoint=http://{self.faulty.endpoint}"] if self.settings.is_shared else []
        flags = [*self.settings.flags, *endpoint, f"--public-url=http://{self.name}.example", *self.more]
        # The last of two equal flags counts, so this port.
        self.server = Server(self.settings.binary, self.folder, *flags, f"--port={self.port}")
        self.server.wait_until_it_listens()

    def wait_until_ready(self) -> None:
        if not waited_for(self.is_ready, START_SECONDS):
            raise TimeoutError(f"{self.name} is not ready after {START_SECONDS} s: {self.server.log_end()}")

    def is_ready(self) -> bool:
        with suppress(OSError, HTTPException):
            return self.ask("/health/ready", timeout=2).status == 200
        return False

    def kill(self) -> None:
        """Kills the server alone; its workers end when they notice."""
        server, self.server = self.server, None
        with suppress(ProcessLookupError):
            os.kill(server.process.pid, signal.SIGCONT)
        server.kill()

    def stop(self) -> None:
        server, self.server = self.server, None
        if status := server.stop():
            raise ChildProcessError(f"{self.name} ended with status {status}: {server.log_end()}")

    def pause(self) -> None:
        os.kill(self.server.process.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.kill(self.server.process.pid, signal.SIGCONT)

    def wipe(self) -> None:
        shutil.rmtree(self.folder / "cache", ignore_errors=True)

    def ask(self, path: str, method: str = "GET", headers: dict[str, str] | None = None, *, timeout: float = 30) -> Answer:
        return ask(self.port, path, method, headers, timeout=timeout)

    def memory_mb(self) -> float:
        return memory_mb(self.server.process.pid).pss if self.server else 0.0

    def metrics(self) -> Counter[str]:
        """Each series, with its labels, and the sum of each metric."""
        found: Counter[str] = Counter()
        with suppress(OSError, HTTPException):
            text = self.ask("/metrics", headers=ADMIN, timeout=5).body.decode()
            for name, labels, value in SERIES.findall(text):
                found[f"{name}{{{labels}}}"] += float(value)
                found[name] += float(value)
        return found

    def seconds_to_learn(self, patience: float) -> float:
        """The seconds until the node has read the purge log up to this moment; infinity if it does not."""
        began = time.monotonic()
        has_read = waited_for(lambda: 0 < self.metrics()[LOG_AGE] <= time.monotonic() - began, patience)
        return time.monotonic() - began if has_read else math.inf


def ask(port: int, path: str, method: str = "GET", headers: dict[str, str] | None = None, *, timeout: float = 40) -> Answer:
    """Sends one request on a new connection; raises OSError or HTTPException if no complete response arrives."""
    began = time.monotonic()
    with closing(HTTPConnection("127.0.0.1", port, timeout=timeout)) as connection:
        connection.request(method, path, headers=headers or {})
        response = connection.getresponse()
        fields = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, fields, response.read(), time.monotonic() - began)

