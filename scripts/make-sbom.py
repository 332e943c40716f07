#!/usr/bin/env python3
"""Writes the software bill of materials of an executable, as CycloneDX 1.6 in JSON.

    make-sbom.py [--build .build] EXECUTABLE > darkroom.cdx.json

It lists the Swift packages in the build folder with the revisions that were built, the Swift runtime, BoringSSL inside of
two packages, dlib if its detector of faces was compiled in, and the system libraries that the executable names, with their
Debian packages on this machine. The same
executable, packages and SOURCE_DATE_EPOCH give the same bytes.
"""

import argparse
import hashlib
import importlib
import json
import os
import re
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from resolved import BUILD, Package, resolved_packages

license_name = importlib.import_module("make-copyright").license_name

LICENSES = {"Apache-2.0 with Runtime Library Exception": "Apache-2.0 WITH Swift-exception", "Expat": "MIT"}
# swift-nio-ssl and swift-crypto state which commit of BoringSSL they contain.
BORINGSSL = re.compile(r"BoringSSL Commit: (?P<commit>[0-9a-f]{40})")
# The name of dlib's namespace in Sources/CFaces, which messages of its code contain.
DLIB = b"darkroom_dlib::"
SWIFT = re.compile(r"Swift version (?P<version>\S+)")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=Path, default=BUILD)
    parser.add_argument("executable", type=Path)
    arguments = parser.parse_args()
    executable = arguments.executable.resolve()
    content = executable.read_bytes()
    contents = hashlib.sha256(content).hexdigest()
    version = run(executable, "--version")
    darkroom = {
        "type": "application", "bom-ref": "darkroom", "name": "darkroom", "version": version,
        "description": "HTTP image service", "licenses": [{"license": {"id": "Apache-2.0"}}],
        "hashes": [{"alg": "SHA-256", "content": contents}],
    }
    components = [*packages(arguments.build), runtime(), *detector(content), *libraries(executable)]
    bom = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, contents)}", "version": 1,
        "metadata": {"timestamp": timestamp(), "lifecycles": [{"phase": "build"}], "component": darkroom},
        "components": components,
        "dependencies": [{"ref": "darkroom", "dependsOn": [component["bom-ref"] for component in components]}],
    }
    json.dump(bom, sys.stdout, indent=2)
    print()


def packages(build: Path) -> Iterator[dict[str, Any]]:
    for package in resolved_packages(build):
        path = package.location.removeprefix("https://").removesuffix(".git")
        license = license_name(package)
        component = {
            "type": "library", "name": package.name, "version": package.version,
            "licenses": [{"expression": LICENSES.get(license, license)}],
            "purl": f"pkg:swift/{path}@{package.version}",
            "externalReferences": [{"type": "vcs", "url": package.location}],
            "properties": [{"name": "darkroom:revision", "value": package.revision}],
        }
        if parts := [*embedded(package)]:
            component["components"] = parts
        yield identified(component)


def embedded(package: Package) -> Iterator[dict[str, Any]]:
    if found := BORINGSSL.search((package.folder / "Package.swift").read_text(encoding="utf-8")):
        commit = found["commit"]
        purl = f"pkg:github/google/boringssl@{commit}"
        yield {
            "type": "library", "bom-ref": f"{purl}#{package.name}", "name": "boringssl", "version": commit, "purl": purl,
        }


def runtime() -> dict[str, Any]:
    """The standard library, Foundation and Dispatch, which are linked statically."""
    version = SWIFT.search(run("swift", "--version"))["version"]
    return identified({
        "type": "framework", "name": "swift-runtime", "version": version,
        "licenses": [{"expression": "Apache-2.0 WITH Swift-exception"}],
        "purl": f"pkg:github/swiftlang/swift@swift-{version}-RELEASE",
    })


def detector(executable: bytes) -> Iterator[dict[str, Any]]:
    """dlib, if the executable contains code from its headers, as Debian's package on this machine has them."""
    if DLIB not in executable:
        return
    yield identified(debian("libdlib-dev") | {"name": "dlib", "licenses": [{"license": {"id": "BSL-1.0"}}]})


def libraries(executable: Path) -> Iterator[dict[str, Any]]:
    """Debian's packages of the shared libraries that the executable names itself."""
    dynamic = run("readelf", "--dynamic", executable)
    names = re.findall(r"\(NEEDED\).*\[(?P<name>.+)\]", dynamic)
    owners: dict[str, list[str]] = {}
    for name in sorted(set(names)):
        if not name.startswith(("libswift", "libFoundation", "lib_Foundation", "libdispatch", "libBlocksRuntime")):
            owners.setdefault(owner(name), []).append(name)
    for package, provided in sorted(owners.items()):
        properties = [{"name": "darkroom:soname", "value": name} for name in provided]
        yield identified(debian(package) | {"properties": properties})


def debian(package: str) -> dict[str, Any]:
    """A package of Debian that is installed on this machine."""
    system = release()
    version, architecture = run("dpkg-query", "--show", "--showformat=${Version} ${Architecture}", package).split()
    package = package.partition(":")[0]
    purl = f"pkg:deb/{system['ID']}/{quote(package)}@{quote(version, safe=':~')}"
    return {
        "type": "library", "name": package, "version": version,
        "purl": f"{purl}?arch={architecture}&distro={system['VERSION_CODENAME']}",
    }


def owner(library: str) -> str:
    """The Debian package that owns a library. Files may belong to /usr/lib or to its old name /lib."""
    paths = re.findall(rf"^\s*{re.escape(library)} .*=> (\S+)$", run("/sbin/ldconfig", "--print-cache"), re.MULTILINE)
    for path in [paths[0], paths[0].removeprefix("/usr"), str(Path(paths[0]).resolve()), f"/usr{paths[0]}"]:
        found = subprocess.run(["dpkg-query", "--search", path], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.partition(": ")[0]
    raise SystemExit(f"{library}: no Debian package owns {paths[0]}")


def identified(component: dict[str, Any]) -> dict[str, Any]:
    return {"bom-ref": component["purl"]} | component


def release() -> dict[str, str]:
    lines = Path("/etc/os-release").read_text(encoding="utf-8").splitlines()
    return {name: value.strip('"') for name, _, value in (line.partition("=") for line in lines)}


def timestamp() -> str:
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def run(*command: str | Path) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
