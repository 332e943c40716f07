#!/usr/bin/env python3
"""Builds the container image of the Dockerfile's last stage without a container engine, from the package of `make package`.

    make-image.py [--folder .build/dist] [--mirror http://deb.debian.org/debian]

The base is made of Debian's packages (mmdebstrap) instead of an image of a registry. Each RUN becomes a layer; the other
instructions become the image's configuration. The result, darkroom_VERSION_ARCH.oci.tar in the same folder, is an OCI image
layout, which podman, skopeo, containerd and Docker from version 25 load. The same package and packages of the mirror give
the same bytes; SOURCE_DATE_EPOCH dates the files, by default as the last commit. Requires root; exits with 77 without it.
"""

import argparse
import gzip
import hashlib
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
SUITES = {"12": "bookworm", "13": "trixie"}
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
# What the runtime provides, or what only this build needed. A folder stays, without its contents.
EMPTIED = ("dev", "proc", "sys", "run", "tmp", "packages", "var/log", "var/lib/apt/lists", "var/cache/apt", "var/tmp")
OMITTED = {
    "packages", "etc/hostname", "etc/resolv.conf", "etc/apt/apt.conf.d/99mmdebstrap", "var/cache/ldconfig/aux-cache",
    "var/cache/debconf/config.dat-old", "var/cache/debconf/templates.dat-old", "var/lib/dpkg/status-old",
}
# As Debian's slim images do; licenses stay.
WITHOUT = [
    f"--dpkgopt=path-{rule}" for rule in (
        "exclude=/usr/share/doc/*", "include=/usr/share/doc/*/copyright", "include=/usr/share/doc/darkroom/*",
        "exclude=/usr/share/man/*", "exclude=/usr/share/info/*", "exclude=/usr/share/locale/*",
        "exclude=/usr/share/lintian/*")
]
# An instruction runs in namespaces of its own, which take its mounts along.
RUN = """
set -eu
mount --make-rprivate /
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
: >>"$1/etc/resolv.conf"
mount --bind /etc/resolv.conf "$1/etc/resolv.conf"
exec chroot "$1" env PATH="$3" sh -euc "$2"
"""


class Stage(NamedTuple):
    """The last stage of a Dockerfile."""

    suite: str
    commands: list[str]
    config: dict
    """As in an image's configuration."""


class Layer(NamedTuple):
    blob: bytes
    difference: str
    """The digest of the archive before compression."""
    command: str


Identity = tuple[int, int, int, str]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / ".build/dist", help="folder of the package and of the image")
    parser.add_argument("--mirror", default="http://deb.debian.org/debian", help="Debian mirror")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        print("Unpacking Debian with its owners requires root; no image was built.", file=sys.stderr)
        return 77
    packages = list(arguments.folder.glob("darkroom_*.deb"))
    if len(packages) != 1:
        print(f"{arguments.folder} has {len(packages)} packages darkroom_*.deb; run make package", file=sys.stderr)
        return 1
    stage = read((ROOT / "Dockerfile").read_text())
    with tempfile.TemporaryDirectory(prefix="darkroom-image-") as work:
        root = Path(work) / "root"
        layers = list(build(stage, packages[0], root, arguments.mirror))
    image = packages[0].with_suffix(".oci.tar")
    write(image, stage, layers, packages[0].stem.rpartition("_")[2])
    print(f"{image}: {image.stat().st_size / 1e6:.0f} MB in {len(layers)} layers")
    return 0


def read(dockerfile: str) -> Stage:
    """Reads the instructions that the last stage uses; any other one is an error."""
    lines = re.sub(r"\\\n", " ", re.sub(r"(?m)^\s*#.*\n", "", dockerfile)).splitlines()
    stage = [line.split(maxsplit=1) for line in lines if line.strip()]
    first = max(index for index, (name, _) in enumerate(stage) if name == "FROM")
    commands: list[str] = []
    config: dict = {"Env": [f"PATH={PATH}"]}
    for name, text in stage[first + 1 :]:
        match name:
            case "RUN": commands.append(" ".join(re.sub(r"^(--\S+\s+)+", "", text).split()))
            case "LABEL": config["Labels"] = dict(word.split("=", 1) for word in shlex.split(text) if "base.name" not in word)
            case "ENV": config["Env"] += shlex.split(text)
            case "USER": config["User"] = text
            case "VOLUME": config["Volumes"] = {text: {}}
            case "EXPOSE": config["ExposedPorts"] = {f"{text}/tcp": {}}
            case "STOPSIGNAL": config["StopSignal"] = text
            case "HEALTHCHECK": config["Healthcheck"] = health(text)
            case "CMD": config["Cmd"] = json.loads(text)
            case _: raise SystemExit(f"make-image.py does not know the instruction {name} of the Dockerfile")
    return Stage(SUITES[re.match(r"debian:(\d+)", stage[first][1])[1]], commands, config)


def health(text: str) -> dict:
    options, _, command = text.partition(" CMD ")
    times = {name: int(seconds) * 1_000_000_000 for name, seconds in re.findall(r"--([a-z-]+)=(\d+)s", options)}
    return {
        "Test": ["CMD", *json.loads(command)], "Interval": times["interval"], "Timeout": times["timeout"],
        "StartPeriod": times["start-period"],
    }


def build(stage: Stage, package: Path, root: Path, mirror: str) -> Iterator[Layer]:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH), "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    print(f"Debian {stage.suite}", flush=True)
    subprocess.run(["mmdebstrap", "--quiet", "--variant=minbase", *WITHOUT, stage.suite, root, mirror], check=True, env=environment)
    (root / "packages").mkdir()
    shutil.copy(package, root / "packages")
    before: dict[str, Identity] = {}
    for command in [None, *stage.commands]:
        if command:
            print(f"RUN {command}", flush=True)
            namespaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
            subprocess.run([*namespaces, "sh", "-c", RUN, "run", root, command, PATH], check=True, env=environment, stdout=sys.stderr)
        settle(root)
        after = dict(entries(root))
        yield packed(root, before, after, command or f"Debian {stage.suite}")
        before = after


def settle(root: Path) -> None:
    """Dates files no later than the image, and then caches the fonts: a cache states the time of each folder of fonts."""
    for folder, names, files in os.walk(root):
        for path in [folder, *(os.path.join(folder, name) for name in (*names, *files))]:
            if os.lstat(path).st_mtime > EPOCH:
                os.utime(path, (EPOCH, EPOCH), follow_symlinks=False)
    if (root / "usr/bin/fc-cache").exists():
        subprocess.run(["chroot", root, "fc-cache", "--system-only", "--really-force"], check=True)


def entries(root: Path) -> Iterator[tuple[str, Identity]]:
    """The files that belong into an image, with what decides whether a layer changes them."""
    for folder, names, files in os.walk(root):
        inside = os.path.relpath(folder, root)
        names.sort()
        if inside in EMPTIED:
            names.clear()
            files.clear()
        for name in sorted([*names, *files]):
            path = os.path.normpath(os.path.join(inside, name))
            if path not in OMITTED:
                yield path, identity(root / path)


def identity(path: Path) -> Identity:
    status = path.lstat()
    if path.is_symlink():
        contents = str(path.readlink())
    elif path.is_dir():
        # A layer that changes what is in a folder states its time, on which caches of fonts depend.
        contents = "/".join(sorted(os.listdir(path)))
    else:
        contents = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    return status.st_mode, status.st_uid, status.st_gid, contents


def packed(root: Path, before: dict[str, Identity], after: dict[str, Identity], command: str) -> Layer:
    """A layer with the entries that are new or changed, and with a mark for each removed one."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        # Folders are followed by what is in them: tar dates a folder when the next entry is outside.
        for path in sorted(after, key=lambda path: path.split("/")):
            if before.get(path) == after[path]:
                continue
            info = archive.gettarinfo(root / path, path)
            info.uname = info.gname = ""
            info.mtime = min(int(info.mtime), EPOCH)
            if info.isreg():
                with (root / path).open("rb") as contents:
                    archive.addfile(info, contents)
            else:
                archive.addfile(info)
        for path in sorted(before.keys() - after.keys()):
            folder, name = os.path.split(path)
            if folder in after or not folder:
                mark = tarfile.TarInfo(os.path.join(folder, f".wh.{name}"))
                mark.mtime = EPOCH
                archive.addfile(mark)
    data = buffer.getvalue()
    return Layer(gzip.compress(data, 6, mtime=0), digest(data), command)


def write(file: Path, stage: Stage, layers: list[Layer], architecture: str) -> None:
    created = datetime.fromtimestamp(EPOCH, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    config = encoded({
        "created": created, "architecture": architecture, "os": "linux", "config": stage.config,
        "rootfs": {"type": "layers", "diff_ids": [layer.difference for layer in layers]},
        "history": [{"created": created, "created_by": layer.command} for layer in layers],
    })
    manifest = encoded({
        "schemaVersion": 2, "mediaType": MANIFEST, "config": descriptor(CONFIG, config),
        "layers": [descriptor(LAYER, layer.blob) for layer in layers],
    })
    version = stage.config["Labels"]["org.opencontainers.image.version"]
    names = {"org.opencontainers.image.ref.name": version, "io.containerd.image.name": f"localhost/darkroom:{version}"}
    index = encoded({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [{**descriptor(MANIFEST, manifest), "annotations": names,
                       "platform": {"architecture": architecture, "os": "linux"}}],
    })
    files = {"oci-layout": encoded({"imageLayoutVersion": "1.0.0"}), "index.json": index}
    for blob in (manifest, config, *(layer.blob for layer in layers)):
        files[f"blobs/{digest(blob).replace(':', '/')}"] = blob
    unfinished = file.with_suffix(".new")
    with tarfile.open(unfinished, "w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), EPOCH
            archive.addfile(info, io.BytesIO(data))
    unfinished.replace(file)


def descriptor(kind: str, data: bytes) -> dict:
    return {"mediaType": kind, "digest": digest(data), "size": len(data)}


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def encoded(value: dict) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def epoch() -> int:
    if date := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(date)
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True)
    return int(done.stdout) if done.returncode == 0 else int((ROOT / "CHANGELOG.md").stat().st_mtime)


EPOCH = epoch()

if __name__ == "__main__":
    sys.exit(main())
