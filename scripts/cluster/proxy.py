"""A proxy in front of nodes, as a child process."""

import os
import shutil
import subprocess
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

from processes import waited_for

from nodes import ask
from ports import free_port

START_SECONDS, END_SECONDS = 20, 20


class Proxy:
    """Its port is known before it starts, so that nodes can be told of it."""

    name = ""

    def __init__(self) -> None:
        self.port = free_port()

    def run(self, command: list[str], log: Path) -> None:
        """Returns once requests reach a node."""
        self.log = log.open("ab")
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        if not waited_for(self.answers, START_SECONDS):
            self.end()
            raise TimeoutError(f"{self.name} does not answer: {log.read_text()[-2000:]}")

    def answers(self) -> bool:
        with suppress(OSError, HTTPException):
            return ask(self.port, "/health/live", timeout=2).status == 200
        return False

    def end(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(END_SECONDS)
        finally:
            self.process.kill()
            self.process.wait()
            self.log.close()


def found(program: str) -> str | None:
    """Debian has servers in sbin, which is not on every user's path."""
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
