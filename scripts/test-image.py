#!/usr/bin/env python3
"""Starts the image of `make image` with an OCI runtime (runc), restricted as docs/installing.md says, and asks it for images.

    test-image.py [--folder .build/dist] [--mirror http://deb.debian.org/debian]

The container has no network but its own loopback interface. The image is built a second time and compared, its archive is
checked, and texts of several scripts are drawn. Requires root; exits with 77 without it.
"""

import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fresh_debian import ROOT, Failure, check, get, main, only, run, step, wait

KEY = "test:" + "0123456789abcdef" * 2
URL = "http://127.0.0.1:8080"
TEXTS = {
    "Latin": "Grüße, Łódź", "Greek": "Καλημέρα", "Cyrillic": "Привет", "Armenian": "Բարև", "Georgian": "გამარჯობა",
    "Hebrew": "שלום", "Arabic": "مرحبا بالعالم", "Ethiopic": "ሰላም", "Devanagari": "नमस्ते", "Bengali": "নমস্কার",
    "Gurmukhi": "ਸਤ ਸ੍ਰੀ ਅਕਾਲ", "Gujarati": "નમસ્તે", "Odia": "ନମସ୍କାର", "Tamil": "வணக்கம்", "Telugu": "నమస్కారం",
    "Kannada": "ನಮಸ್ಕಾರ", "Malayalam": "നമസ്കാരം", "Sinhala": "ආයුබෝවන්", "Thai": "สวัสดี", "Lao": "ສະບາຍດີ",
    "Burmese": "မင်္ဂလာပါ", "Khmer": "សួស្តី", "Tibetan": "བཀྲ་ཤིས", "Chinese": "你好世界，傳統漢字 㐂", "Japanese": "こんにちは、漢字",
    "Korean": "안녕하세요", "emoji": "😀🚀",
}
# As --cap-drop ALL --security-opt no-new-privileges --read-only.
CAPABILITIES = ("bounding", "effective", "permitted", "inheritable", "ambient")
PROCESS = {"noNewPrivileges": True, "capabilities": {kind: [] for kind in CAPABILITIES}}
MOUNTS = [
    {"destination": "/proc", "type": "proc", "source": "proc"},
    {"destination": "/dev", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "mode=755"]},
    {"destination": "/dev/shm", "type": "tmpfs", "source": "shm", "options": ["nosuid", "nodev", "noexec", "mode=1777"]},
    {"destination": "/sys", "type": "none", "source": "/sys", "options": ["rbind", "nosuid", "noexec", "nodev", "ro"]},
]


class Image:
    """An OCI archive, each part of which has the digest by which it is named."""

    def __init__(self, file: Path) -> None:
        with tarfile.open(file) as archive:
            self.files = {info.name: archive.extractfile(info).read() for info in archive if info.isreg()}
        manifest = json.loads(self.blob(json.loads(self.files["index.json"])["manifests"][0]))
        configuration = json.loads(self.blob(manifest["config"]))
        self.config = configuration["config"]
        self.layers = [gzip.decompress(self.blob(layer)) for layer in manifest["layers"]]
        found = [f"sha256:{hashlib.sha256(layer).hexdigest()}" for layer in self.layers]
        check(found == configuration["rootfs"]["diff_ids"], "the layers are not the ones of the configuration")

    def blob(self, descriptor: dict) -> bytes:
        algorithm, digest = descriptor["digest"].split(":")
        data = self.files[f"blobs/{algorithm}/{digest}"]
        check(hashlib.sha256(data).hexdigest() == digest and len(data) == descriptor["size"], f"{digest} has other bytes")
        return data

    def unpack(self, root: Path) -> None:
        root.mkdir()
        for layer in self.layers:
            with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
                for removed in [info for info in archive if Path(info.name).name.startswith(".wh.")]:
                    path = root / removed.name.replace(".wh.", "", 1)
                    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
            subprocess.run(
                ["tar", "--extract", "--numeric-owner", "--preserve-permissions", "--exclude=.wh.*", "--directory", root],
                input=layer, check=True)


def check_image(folder: Path, mirror: str, _: str, work: Path) -> None:
    file = only(folder, "darkroom_*.oci.tar")
    step("Reproducible", lambda: check_reproducible(folder, file, mirror, work))
    image = step("Archive", lambda: Image(file))
    bundle = work / "bundle"
    bundle.mkdir()
    step("Unpack", lambda: image.unpack(bundle / "rootfs"))
    with container(image, bundle, work / "cache") as inside:
        step("Serve", lambda: check_service(inside))
        step("Texts and emoji", lambda: check_texts(inside))
    step("Refuse to be an open proxy", lambda: check_exposure(image, bundle))


def check_reproducible(folder: Path, file: Path, mirror: str, work: Path) -> None:
    again = work / "again"
    again.mkdir()
    shutil.copy(only(folder, "darkroom_*.deb"), again)
    run(ROOT / "scripts/make-image.py", "--folder", again, "--mirror", mirror)
    check(only(again, "*.oci.tar").read_bytes() == file.read_bytes(), "building the image again gives other bytes")


class Container:
    def __init__(self, name: str, log: Path) -> None:
        self.name, self.log = name, log
        self.process = 0

    def run(self, *command: str) -> str:
        return run("runc", "exec", self.name, *command)

    def get(self, query: str) -> tuple[int, bytes]:
        """Signs a query in the container and requests its image."""
        return get(self.process, URL + self.run("darkroom", "sign", query).strip())


@contextmanager
def container(image: Image, bundle: Path, cache: Path) -> Iterator[Container]:
    cache.mkdir()
    # A volume of Docker's has the owner of the folder in the image.
    os.chown(cache, *map(int, image.config["User"].split(":")))
    inside = Container(f"darkroom-test-{os.getpid()}", bundle / "log")
    started = time.monotonic()
    process = start(inside.name, image, bundle, cache, [f"DARKROOM_SIGNING_KEYS={KEY}"])
    try:
        wait(lambda: is_running(inside.name), "the container does not start", process)
        inside.process = json.loads(run("runc", "state", inside.name))["pid"]
        wait(lambda: get(inside.process, f"{URL}/health/ready")[0] == 200, "the server is not ready", process)
        print(f"Ready {time.monotonic() - started:.1f} s after its start")
        yield inside
        run("runc", "kill", inside.name, image.config["StopSignal"].removeprefix("SIG"))
        check(process.wait(timeout=70) == 0, "the server does not stop cleanly")
    except Failure as failure:
        raise Failure(f"{failure}\n{inside.log.read_text()}") from failure
    finally:
        subprocess.run(["runc", "delete", "--force", inside.name], capture_output=True, check=False)
        process.wait(timeout=60)


def is_running(name: str) -> bool:
    state = subprocess.run(["runc", "state", name], capture_output=True, text=True)
    return state.returncode == 0 and json.loads(state.stdout)["status"] == "running"


def start(name: str, image: Image, bundle: Path, cache: Path, environment: list[str]) -> subprocess.Popen:
    user, group = map(int, image.config["User"].split(":"))
    volume, = image.config["Volumes"]
    (bundle / "config.json").write_text(json.dumps({
        "ociVersion": "1.0.2", "hostname": "darkroom", "root": {"path": "rootfs", "readonly": True},
        "process": {
            **PROCESS, "user": {"uid": user, "gid": group}, "cwd": "/", "args": image.config["Cmd"],
            "env": [*image.config["Env"], *environment],
        },
        "mounts": [*MOUNTS, {"destination": volume, "type": "none", "source": str(cache), "options": ["rbind", "rw"]}],
        "linux": {"namespaces": [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount")]},
    }))
    with (bundle / "log").open("w") as output:
        return subprocess.Popen(
            ["runc", "run", "--bundle", bundle, name],
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)


def check_service(inside: Container) -> None:
    query = "url=local:///samples/coffee.jpg&w=300&output=webp"
    status, body = inside.get(query)
    check(status == 200 and body[:4] == b"RIFF" and body[8:12] == b"WEBP", f"status {status} instead of a WebP: {body[:300]!r}")
    status, _ = get(inside.process, f"{URL}/image?{query}")
    check(status == 403, f"an unsigned request has status {status}")
    for output in ("avif", "jxl", "png", "jpg"):
        status, body = inside.get(f"url=local:///samples/coffee.jpg&w=60&output={output}")
        check(status == 200, f"{output}: status {status}: {body[:300]!r}")
    check('layers="bound limits landlock seccomp"' in inside.log.read_text(), "the workers lack layers of their sandbox")
    check(inside.run("id", "-u").strip() == "10001", "the server runs as another user")
    # The image's health check.
    inside.run("darkroom", "health", "--config", "/etc/darkroom/config.yaml")


def check_texts(inside: Container) -> None:
    """A text with a character that no font has is refused. The root is read-only, so the caches of fonts are in the image."""
    check("failed" not in inside.run("fc-cache", "--system-only", "--verbose"), "the image lacks caches of its fonts")
    check("lacks fonts" not in inside.run("darkroom", "version", "--verbose"), "the image lacks fonts of a script")
    for script, text in TEXTS.items():
        query = f"url=local:///samples/coffee.jpg&w=400&output=png&text={urllib.parse.quote(text)}"
        status, body = inside.get(query)
        check(status == 200, f"{script}: status {status}: {body[:400]!r}")


def check_exposure(image: Image, bundle: Path) -> None:
    """Without keys, a server that other machines reach does not start."""
    with tempfile.TemporaryDirectory() as cache:
        process = start(f"darkroom-open-{os.getpid()}", image, bundle, Path(cache), [])
        check(process.wait(timeout=60) == 78, f"the server starts without keys: {(bundle / 'log').read_text()}")


if __name__ == "__main__":
    sys.exit(main(__doc__, "The image starts, serves, draws texts and stops.", check_image))
