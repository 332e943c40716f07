"""The built server on a port of its own, with the fixtures as its local root and an empty cache."""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
ADMIN_TOKEN = "only-for-this-test"
STOP_SECONDS = 20


@contextmanager
def running(executable: Path) -> Iterator[str]:
    """The address of a server that ends with the block."""
    with tempfile.TemporaryDirectory(prefix="darkroom-playground-") as folder:
        process = subprocess.Popen(
            [
                executable, "serve", "--host", "127.0.0.1", "--port", "0", "--log-level", "error",
                "--local-root", ROOT / "Fixtures/images", "--cache-dir", folder, "--admin-token", ADMIN_TOKEN,
            ],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            yield announced(process)
        finally:
            process.terminate()
            process.wait(STOP_SECONDS)


def announced(process: subprocess.Popen[str]) -> str:
    """The address that the server prints once it listens."""
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"listens on (http://\S+)", line):
            return found[1]
    raise RuntimeError("The server ended before it listened; start it by hand to see why.")
