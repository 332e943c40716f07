"""The objects that every section of a run needs."""

import itertools
from dataclasses import dataclass, field
from pathlib import Path

from figures import Report
from servers import Nginx


@dataclass
class Context:
    report: Report
    nginx: Nginx
    work: Path
    darkroom: Path
    floor: Path | None
    download: Path | None
    """The program that downloads and does nothing else."""
    bare: Path | None
    """The program that writes a fixed response by SwiftNIO."""
    store_bench: Path | None
    entries: int
    """The number of entries of the disk cache in the section `store`."""
    random_entries: int
    """The number of images in the caches of the section `random_hits`."""
    images: list[Path]
    """The bench images of 2–3 MP."""
    numbers: itertools.count = field(default_factory=itertools.count)

    def folder(self, name: str) -> Path:
        """A new folder for a server."""
        return self.work / f"{next(self.numbers)}-{name.replace(' ', '-')}"

    @property
    def large(self) -> Path:
        """A JPEG of 100 MP."""
        return self.images[0].parent / "large.jpg"
