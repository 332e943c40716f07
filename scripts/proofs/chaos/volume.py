"""A small volume for the cache that can be filled up, in a mount namespace that removes it on exit."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

VOLUME_MIB = 24
CACHE_MIB = 12


def enter(command: list[str]) -> int:
    """Runs this program again with permission to mount; without it, the disk is never full."""
    script = str(Path(command[0]).resolve())
    again = [sys.executable, "-B", script, *command[1:], "--inside"]
    for options in (["--mount"], ["--map-root-user", "--mount"]):
        unshare = ["unshare", *options, "--fork", "--kill-child"]
        with suppress(FileNotFoundError):
            if subprocess.run([*unshare, "true"], capture_output=True).returncode == 0:
                return subprocess.run([*unshare, *again]).returncode
    return subprocess.run(again).returncode


class Volume:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={VOLUME_MIB}m", "tmpfs", str(folder)]
        self.can_be_full = subprocess.run(mount, capture_output=True).returncode == 0

    def fill(self) -> None:
        with suppress(OSError), (self.folder / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(bytes(65_536))

    def free(self) -> None:
        (self.folder / "filler").unlink(missing_ok=True)

    def remove(self) -> None:
        if self.can_be_full:
            subprocess.run(["umount", "--lazy", str(self.folder)], capture_output=True)
        with suppress(OSError):
            os.rmdir(self.folder)
