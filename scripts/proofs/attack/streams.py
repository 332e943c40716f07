"""Standard streams that cannot be written: closed, full, or without a reader."""

import os
import re
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from attack.judge import Check
from attack.lab import Lab, asked
from processes import waited_for
from server import END_SECONDS, START_SECONDS, TOKEN, Server

FAULTS = {"closed": "{0}>&-", "full": "{0}>/dev/full", "without a reader": ""}
STREAMS = {"standard output": (1,), "standard error": (2,), "both streams": (1, 2)}
COMMANDS = (["version"], ["--help"], ["settings"], ["config", "print"], ["translate", "--compat", "wsrv", "/?url=a.org/a.jpg&w=4"])
LEAST = {1: 1, 2: 3}
"""Lines that a server writes to each stream until it listens."""


def servers(lab: Lab) -> Iterator[Check]:
    """A server whose standard output or error cannot be written starts, answers, counts the lost lines and exits with 0."""
    for stream, descriptors in STREAMS.items():
        for fault in FAULTS:
            with failing(lab, descriptors, fault) as server:
                listens = waited_for(lambda: asked(server, "/health/live").status == 200, START_SECONDS)
                page = asked(server, "/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).body
                found = re.search(rb"^darkroom_log_lines_dropped_total (\d+)", page, re.MULTILINE)
                lost, least = int(found[1]) if found else 0, sum(LEAST[one] for one in descriptors)
                server.terminate()
                status = server.process.wait(END_SECONDS)
            seen = f"{stream} {fault}: {'answers' if listens else 'no answer'}, {lost} lines lost, exit status {status}"
            yield Check(listens and lost >= least and status == 0, f"{seen} (answers, at least {least} lines, 0)")


def commands(lab: Lab) -> Iterator[Check]:
    """A command whose result cannot be printed ends with an exit status, not with a signal."""
    for command in COMMANDS:
        for fault in FAULTS:
            with broken_pipe() as pipe:
                process = subprocess.run(redirected([str(lab.binary), *command], (1,), fault), stdout=pipe, stderr=subprocess.PIPE)
            status, text = process.returncode, process.stderr.decode().strip()
            expected = 141 if fault == "without a reader" else 1
            seen = f"darkroom {' '.join(command)}, standard output {fault}: {status}, {text!r}"
            yield Check(status == expected, f"{seen} ({expected})")


class Failing(Server):
    """A server that cannot say where it listens."""

    def __init__(self, process: subprocess.Popen, port: int) -> None:
        self.process, self.port = process, port

    def terminate(self) -> None:
        self.process.terminate()


@contextmanager
def failing(lab: Lab, descriptors: tuple[int, ...], fault: str) -> Iterator[Failing]:
    port = free_port()
    command = [str(lab.binary), "serve", f"--port={port}", f"--cache-dir={lab.new_folder() / 'cache'}", *lab.settings]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DARKROOM_")}
    with broken_pipe() as pipe:
        streams = {name: pipe if one in descriptors else subprocess.DEVNULL for one, name in ((1, "stdout"), (2, "stderr"))}
        process = subprocess.Popen(
            redirected(command, descriptors, fault), env=environment | {"DARKROOM_ADMIN_TOKEN": TOKEN}, **streams)
    try:
        yield Failing(process, port)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        process.wait()


def redirected(command: list[str], descriptors: tuple[int, ...], fault: str) -> list[str]:
    """The command behind a shell that closes or redirects its streams; one without a reader is what the shell has."""
    redirections = " ".join(FAULTS[fault].format(one) for one in descriptors)
    return ["sh", "-c", f'exec "$@" {redirections}', "sh", *command]


@contextmanager
def broken_pipe() -> Iterator[int]:
    """The end for writing of a pipe that nothing reads."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        yield writing
    finally:
        os.close(writing)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


ATTACKS = [servers, commands]
