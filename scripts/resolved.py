"""The Swift packages that a build folder was built from."""

import json
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / ".build"


class Package(NamedTuple):
    name: str
    location: str
    """Its repository's URL."""
    version: str
    """A version, or the revision where the manifest asks for a branch."""
    revision: str
    folder: Path


def resolved_packages(build: Path) -> list[Package]:
    dependencies = json.loads((build / "workspace-state.json").read_text(encoding="utf-8"))["object"]["dependencies"]
    packages = []
    for each in dependencies:
        state = each["state"]["checkoutState"]
        packages.append(
            Package(
                each["subpath"], each["packageRef"]["location"], state.get("version", state["revision"]), state["revision"],
                build / "checkouts" / each["subpath"]))
    return sorted(packages)
