"""Processes that listen on loopback ports: a server, and a proxy in front of it; and their children."""

import os
import re
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import NamedTuple

START_SECONDS, END_SECONDS = 30, 20
# In a sentence, or as a value of JSON, whose slashes may be escaped.
LISTENS = re.compile(r"http:(?:\\?/){2}[\w.]+:(\d+)")


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes


def ask(
    port: int, target: str, headers: dict[str, str] | None = None, method: str = "GET", source: str = "127.0.0.1"
) -> Answer:
    """Sends one request on a new connection from the address `source`."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=60, source_address=(source, 0))) as connection:
        connection.request(method, target, headers=headers or {})
        response = connection.getresponse()
        return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())


@contextmanager
def darkroom(executable: Path, *settings: str, **variables: str) -> Iterator[tuple[int, Path]]:
    """Runs a server. Yields its port and its log, and expects exit status 0 at the end."""
    with tempfile.TemporaryDirectory(prefix="deploy-") as folder:
        log = Path(folder) / "log"
        flags = ["--port=0", "--host=127.0.0.1", "--isolation=auto", f"--cache-dir={folder}/cache", *settings]
        # Settings from the caller's environment must not reach the server.
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("DARKROOM_")}
        with log.open("w") as errors:
            process = subprocess.Popen(
                [executable, "serve", *flags], stdout=subprocess.PIPE, stderr=errors, text=True,
                env=inherited | variables)
        watchdog = threading.Timer(START_SECONDS, process.kill)
        watchdog.start()
        try:
            line = process.stdout.readline()
            watchdog.cancel()
            found = LISTENS.search(line)
            if not found:
                process.wait(END_SECONDS)
                raise ChildProcessError(f"exit status {process.returncode}: {log.read_text(errors='replace')[-500:]}")
            yield int(found[1]), log
            process.terminate()
            if (status := process.wait(END_SECONDS)) != 0:
                raise ChildProcessError(f"The server exited with status {status}.")
        finally:
            watchdog.cancel()
            process.kill()
            process.wait()
            process.stdout.close()


@contextmanager
def proxy(command: list[str | Path], port: int, folder: Path, **variables: str) -> Iterator[None]:
    """Runs a proxy that will listen on this port."""
    log = folder / "proxy.log"
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=os.environ | variables)
    try:
        wait_until(lambda: process.poll() is not None or listens(port))
        if process.poll() is not None:
            raise ChildProcessError(f"{command[0]} did not start: {log.read_text(errors='replace')[-1000:]}")
        yield
    finally:
        process.terminate()
        try:
            process.wait(END_SECONDS)
        finally:
            process.kill()
            process.wait()


def free_port() -> int:
    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        return listener.getsockname()[1]


def listens(port: int) -> bool:
    with closing(socket.socket()) as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


class Relay:
    """Passes connections on to a port and counts them."""

    def __init__(self, target: int) -> None:
        self.target = target
        self.connections = 0
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        # Wakes the thread that accepts, which close(2) alone does not.
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.connections += 1
                server = socket.create_connection(("127.0.0.1", self.target))
                for ends in ((client, server), (server, client)):
                    threading.Thread(target=self._copy, args=ends, daemon=True).start()

    @staticmethod
    def _copy(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                sink.sendall(data)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_WR)


def wait_until(condition: Callable[[], bool], seconds: float = START_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"The condition did not hold within {seconds} s.")
        time.sleep(0.05)


def children(process: int) -> list[int]:
    """The child processes of a process, of all its threads."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # After the name, which may contain blanks and parentheses, and the state.
            if int(stat.read_text().rpartition(")")[2].split()[1]) == process:
                found.append(int(stat.parent.name))
    return found
