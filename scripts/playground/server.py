"""A server on a free port with an empty cache."""

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
def running(executable: Path, local_root: Path | None = ROOT / "Fixtures/images", *flags: str) -> Iterator[str]:
    """Runs a server for the duration of the block; yields its base URL."""
    root = [] if local_root is None else ["--local-root", local_root]
    with tempfile.TemporaryDirectory(prefix="darkroom-playground-") as folder:
        process = subprocess.Popen(
            [
                executable, "serve", "--host", "127.0.0.1", "--port", "0", "--log-level", "error",
                *root, "--cache-dir", folder, "--admin-token", ADMIN_TOKEN, *flags,
            ],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            yield announced(process)
        finally:
            process.terminate()
            process.wait(STOP_SECONDS)


def announced(process: subprocess.Popen[str]) -> str:
    """The URL that the server prints once it is listening."""
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"(http://\S+)$", line.strip()):
            return found[1]
    raise RuntimeError("The server exited before it was listening; start it manually to see why.")
