#!/usr/bin/env python3
"""Runs the commands of docs/production.md in a fresh Debian 13, from top to bottom, and prints the time of each section.

    test-tutorial.py [--folder .build/dist] [--mirror http://deb.debian.org/debian]

The system boots with systemd, with the package of `make package` and without network, so packages are downloaded before, and
the page's name leads to the system itself, without TLS. Requires root; exits with 77 without it.
"""

import re
import sys
import time
from pathlib import Path

from fresh_debian import PACKAGES, System, check, documented, main, only, step, unpack

PAGE, NAME = "production.md", "images.example.com"
OTHERS = ("nginx", "prometheus", "python3")
APT = "apt-get --quiet --yes --no-install-recommends -o APT::Sandbox::User=root install"
SECONDS = 30 * 60


def follow(folder: Path, mirror: str, _: str, work: Path) -> None:
    system = System(work / "root")
    step("Debian 13", lambda: unpack(system, mirror, "trixie", [only(folder, "darkroom_*.deb")], *OTHERS))
    step("Boot", system.boot)
    try:
        with system.path("/etc/hosts").open("a") as hosts:
            hosts.write(f"127.0.0.1 {NAME}\n")
        started = time.monotonic()
        printed = {}
        for heading in headings():
            printed[heading] = step(heading, lambda: section(system, heading))
        check(time.monotonic() - started < SECONDS, "the page takes longer than its title says")
        print(f"In all {time.monotonic() - started:.0f} s")
    finally:
        system.power_off()
    compare(printed, system)


def headings() -> list[str]:
    text = (Path(__file__).resolve().parent.parent / "docs" / PAGE).read_text()
    return [part.partition("\n")[0] for part in text.split("\n## ")[1:] if "```console" in part]


def section(system: System, heading: str) -> str:
    """Runs the blocks of a section in one shell, which has the variables of the sections before."""
    commands = "\n".join(documented(PAGE, f"## {heading}")).replace("apt-get install", APT).replace("https://", "http://")
    return system.run("sh", "-euc", f"cd {PACKAGES}; touch variables; . ./variables\n{commands}\nset | grep ^image= >variables || :")


def compare(printed: dict[str, str], system: System) -> None:
    """The sections print what the page says."""
    image = system.path(f"{PACKAGES}/photo.webp").read_bytes()
    check(image[:4] == b"RIFF" and image[8:12] == b"WEBP", f"not an image: {image[:300]!r}")
    expected = {
        "An application that signs": ["<img src=", "\n403\n"],
        "The CDN": [";hit", r"max-age=\d{4}", "(?i)vary: accept", "(?i)etag:", "(?i)age:"],
        "The first alert": ["SUCCESS", "DarkroomDown"],
        "The first purge": [";fwd=(uri-)?miss"],
    }
    for heading, patterns in expected.items():
        for pattern in patterns:
            check(re.search(pattern, printed[heading]), f"{heading!r} does not print {pattern!r}:\n{printed[heading]}")


if __name__ == "__main__":
    sys.exit(main(__doc__, "The page leads from a package to signed, cached and observed images.", follow))
