#!/usr/bin/env python3
"""Runs an executable and tests built on this machine in fresh systems with other versions of libvips and its codecs.

    test-systems.py [--system debian-13 ...] [--server .build/release/darkroom] [--quick | --speed | --bench]

A system is unpacked into a folder, and commands run in it with the network and the kernel of this machine. Shown are the
sandbox's layers, each input format in each output format, text, marks and placeholders, each codec package missing in turn,
the hostile and foreign images of `make corpus`, and the tests of libvips, transforms and workers. Requires root; exits with
77 without it. `--quick` leaves the images of `make corpus` to the tests. `--speed` compares only: the same executable makes
the same thumbnails on this machine and in the system in turns. `--bench` runs the sections misses, hits and memory of
`make bench` with the executable in the system; floors and nginx stay on this machine.
"""

import argparse
import csv
import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from fresh_debian import ROOT, Failure, check, run, step

sys.path.insert(0, str(Path(__file__).resolve().parent / "proofs"))
sys.path.insert(0, str(ROOT / "Benchmarks/measure"))
from load import fetch_all  # noqa: E402
from processes import cpu_seconds  # noqa: E402
from server import Server  # noqa: E402

FIXTURES = ROOT / "Fixtures/images"
DEBIAN, UBUNTU = "http://deb.debian.org/debian", "http://archive.ubuntu.com/ubuntu"
CODECS = ["libheif-plugin-aomenc", "libheif-plugin-libde265", "libheif-plugin-dav1d"]
OUTPUTS = ["jpg", "png", "webp", "avif", "gif", "jxl", "tiff", "json", "blurhash", "thumbhash", "color", "lqip"]
EFFECTS = [
    "text=Hello&textsize=20", "mark=local:///formats/alpha.png", "placeholder=blurhash,thumbhash,color,lqip", "blur=3",
    "sharp=2", "fit=cover&h=48&a=attention", "ro=30", "mask=circle", "bg=blur&fit=contain&h=90", "filt=sepia", "trim=10",
    "resample=linear", "resample=accurate", "pixelate=8", "cut=1,2,30,20", "output=webp&q=auto", "output=jpg&max_bytes=900",
]
LAYERS = 'layers="bound limits landlock seccomp"'
TESTS = r"^(VipsTests|TransformsTests|WorkersTests)\."

# Enters a system, which sees the files that its commands need. It replaces itself, so that the process stays the caller's.
ENTER = """
set -eu
root=$1; shift
mount --make-rprivate /
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
for folder in $SHARED; do
    mkdir -p "$root$folder"
    mount --rbind "$folder" "$root$folder"
done
exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 ${DARKROOM_ADMIN_TOKEN:+DARKROOM_ADMIN_TOKEN="$DARKROOM_ADMIN_TOKEN"} "$@"
"""


class Release(NamedTuple):
    suite: str
    mirror: str
    packages: list[str]
    options: list[str]


SYSTEMS = {
    "debian-13": Release("trixie", DEBIAN, ["libvips42t64", *CODECS], []),
    "debian-testing": Release("testing", DEBIAN, ["libvips42t64", *CODECS], ["--aptopt=Acquire::Check-Valid-Until \"false\""]),
    "ubuntu-24.04": Release(
        "noble", f"deb [trusted=yes] {UBUNTU} noble main universe", ["libvips42t64", *CODECS], []),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--system", action="append", choices=SYSTEMS, help="default: debian-13 and debian-testing")
    parser.add_argument("--server", type=Path, default=ROOT / ".build/release/darkroom")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--bench", action="store_true")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        print("This test enters other systems and requires root; it was not run.", file=sys.stderr)
        return 77
    names = arguments.system or ["debian-13", "debian-testing"]
    failed = [name for name in names if not passes(name, arguments)]
    print(f"systems: {', '.join(names)}: {f'FAILED: {failed}' if failed else 'no failure'}")
    return 1 if failed else 0


def passes(name: str, arguments: argparse.Namespace) -> bool:
    work = Path(tempfile.mkdtemp(prefix="darkroom-system-"))
    try:
        system = step(f"{name}: unpack", lambda: Guest(SYSTEMS[name], arguments.server.resolve(), work))
        step(f"{name}: versions", lambda: check_versions(system))
        if arguments.speed:
            step(f"{name}: thumbnails, relative to this machine's libvips", lambda: measure_speed(system))
            return True
        if arguments.bench:
            step(f"{name}: benchmarks", lambda: run_benchmarks(name, system))
            return True
        step(f"{name}: sandbox, formats and effects", lambda: check_images(system))
        step(f"{name}: a cache of two systems", lambda: check_caches(system))
        step(f"{name}: missing codecs", lambda: check_missing_codecs(system))
        if not arguments.quick:
            step(f"{name}: hostile and foreign images", lambda: check_corpus(system))
        step(f"{name}: tests", lambda: check_tests(system))
    except (Failure, subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        print(f"\nFAILED on {name}: {error}", file=sys.stderr)
        for text in (getattr(error, "stdout", None), getattr(error, "stderr", None)):
            print((text or "")[-8000:], file=sys.stderr)
        return False
    finally:
        # Its mounts exist in namespaces that have ended.
        shutil.rmtree(work, ignore_errors=True)
    return True


class Guest:
    """Another system in a folder, with the executable as /usr/bin/darkroom."""

    def __init__(self, release: Release, server: Path, work: Path) -> None:
        self.root, self.folder, self.server = work / "root", work, server
        packages = ",".join([*release.packages, "libsqlite3-0", "zlib1g", "libbrotli1", "libzstd1", "libpsl5", "fonts-dejavu-core", "ca-certificates"])
        run("mmdebstrap", "--quiet", "--variant=apt", "--components=main,universe" if "ubuntu" in release.mirror else "--components=main",
            f"--include={packages}", *release.options, release.suite, self.root, release.mirror)
        self.root.chmod(0o755)
        shutil.copy(server, self.root / "usr/bin/darkroom")
        info = json.loads(run("swift", "-print-target-info"))
        shared = [Path("/tmp"), ROOT, *map(Path, info["paths"]["runtimeLibraryPaths"])]
        corpus = ROOT.parent / "shared/corpus"
        self.shared = " ".join(str(path) for path in [*shared, *([corpus] if corpus.is_dir() else [])])
        self.executable = work / "darkroom"
        self.executable.write_text(
            f"#!/bin/sh\nSHARED='{self.shared}' exec unshare --mount sh -c {shlex.quote(ENTER)} enter {self.root} /usr/bin/darkroom \"$@\"\n")
        self.executable.chmod(0o755)

    def run(self, *command: str, seconds: int = 600) -> str:
        return subprocess.run(
            ["unshare", "--mount", "sh", "-c", ENTER, "enter", self.root, *command], env=os.environ | {"SHARED": self.shared},
            check=True, capture_output=True, text=True, errors="replace", timeout=seconds).stdout

    def serve(self, *settings: str, root: Path = FIXTURES) -> Server:
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        server = Server(self.executable, folder, f"--local-root={root}", *settings)
        server.wait_until_it_listens()
        return server


def check_versions(system: Guest) -> None:
    shown = system.run("darkroom", "version", "--verbose")
    version, unit = re.search(r"libvips (\S+)", shown)[1], re.search(r"computes with (.*)", shown)[1]
    print(f"libvips {version}, {unit} … ", end="")
    check(not re.search(r"\nlacks (?!fonts )", shown), f"a codec is missing:\n{shown}")
    check("DejaVu Sans" in shown, f"no fonts are found:\n{shown}")


def check_images(system: Guest) -> None:
    """Every format read and written, and effects that lay out text, compose images or compute in memory of the library."""
    server = system.serve()
    try:
        check(LAYERS in server.log_end(), f"the workers lack layers of their sandbox:\n{server.log_end()}")
        sources = {row["path"]: row for row in table() if row["outcome"] == "decode"}
        seen: dict[str, str] = {}
        for path, row in sources.items():
            seen.setdefault(row["format"], path)
        for path in seen.values():
            for output in OUTPUTS:
                check_answer(server, f"/image?url=local:///{quote(path)}&w=64&output={output}")
        for effect in EFFECTS:
            answer = check_answer(server, f"/image?url=local:///formats/photo.jpg&w=160&{effect}")
            if effect.startswith("placeholder"):
                check("x-placeholder-blurhash" in answer.headers, f"no placeholder: {answer.headers}")
        check(server.stop() == 0, f"the server did not stop cleanly:\n{server.log_end()}")
        check("worker exited" not in server.log_end(), server.log_end())
    finally:
        server.kill()


def check_answer(server: Server, path: str):
    answer = server.ask(path)
    # A drawing without alpha, say, has no frames to keep, but every format fits every source.
    check(answer.status == 200, f"{path}: {answer.status} {answer.body[:300]!r}\n{server.log_end()}")
    return answer


def table() -> list[dict[str, str]]:
    with (FIXTURES.parent / "images.tsv").open(newline="") as lines:
        return list(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def check_missing_codecs(system: Guest) -> None:
    """Hides the plug-in of each codec in turn."""
    plugins = next(system.root.glob("usr/lib/*/libheif/plugins"), None)
    check(plugins, "libheif has no folder of plug-ins")
    cases = {
        "aomenc": ("output=avif", "formats/photo.jpg", 400, "libheif-plugin-aomenc"),
        "libde265": ("w=64", "formats/photo.heic", 415, "libheif-plugin-libde265"),
        "dav1d": ("w=64", "formats/photo.avif", 415, "libheif-plugin-dav1d"),
    }
    for codec, (query, source, status, package) in cases.items():
        # Another package may decode AV1 too.
        hidden = [path for path in plugins.iterdir() if codec in path.name or (codec == "dav1d" and "aomdec" in path.name)]
        check(hidden, f"there is no plug-in {codec}")
        for path in hidden:
            path.rename(system.folder / path.name)
        server = system.serve()
        try:
            answer = server.ask(f"/image?url=local:///{source}&{query}")
            check(answer.status == status and package.encode() in answer.body, f"without {codec}: {answer.status} {answer.body!r}")
            check(server.log_end().count("codecs are missing") == 1, f"without {codec}, no warning:\n{server.log_end()}")
            check(package in system.run("darkroom", "version", "--verbose"), f"version does not name {package}")
            offered = server.ask("/openapi.yaml").body.decode()
            enum = next(line for line in offered.splitlines() if "enum: [auto, origin, " in line)
            check((" avif," in enum) == (codec != "aomenc"), f"the contract without {codec}: {enum}")
            accept = {"Accept": "image/avif,image/webp"}
            negotiated = server.ask("/image?url=local:///formats/photo.jpg&w=300&formats=avif,webp&wait=best", headers=accept)
            wanted = "image/webp" if codec == "aomenc" else "image/avif"
            check(negotiated.headers.get("content-type") == wanted, f"without {codec}: negotiated {negotiated.headers}")
        finally:
            server.kill()
            for path in hidden:
                (system.folder / path.name).rename(path)


def check_caches(system: Guest) -> None:
    """One disk cache under this machine's libvips and the system's: each keeps its own variants, and both share originals."""
    folder = Path(tempfile.mkdtemp(dir=system.folder))
    path = "/image?url=local:///formats/photo.jpg&w=77"
    answers = []
    for executable in (system.server, system.executable, system.server, system.executable):
        server = Server(executable, folder, f"--local-root={FIXTURES}", "--cache-memory-bytes=0")
        try:
            server.wait_until_it_listens()
            answers.append(server.ask(path))
            # Stopping writes what waits for the disk.
            check(server.stop() == 0, server.log_end())
        finally:
            server.kill()
    states = [answer.headers["cache-status"] for answer in answers]
    check("fwd=" in states[0] and "fwd=" in states[1], f"a variant of another libvips is served: {states}")
    check("hit" in states[2] and "hit" in states[3], f"a variant is lost: {states}")
    check(answers[0].body == answers[2].body and answers[1].body == answers[3].body, "variants mix")


def check_corpus(system: Guest) -> None:
    proof = subprocess.run(
        [sys.executable, "-B", ROOT / "scripts/proofs", "--server", system.executable, "corpus"], capture_output=True, text=True)
    check(proof.returncode == 0, f"make corpus:\n{proof.stdout[-4000:]}\n{proof.stderr[-4000:]}")
    print(proof.stdout.splitlines()[-1].removeprefix("corpus: "), end=" … ")


def measure_speed(system: Guest) -> None:
    """The time and processor time of 100 photographs to a width of 400 in each format, four requests at a time; medians of
    five rounds. Other work on this machine changes the processor time less."""
    images = make_bench_images()
    names = sorted(path.name for path in images.glob("[0-9]*.jpg"))
    servers = [
        Server(executable, Path(tempfile.mkdtemp(dir=system.folder)), f"--local-root={images}", "--cache-disk-bytes=0")
        for executable in (system.server, system.executable)
    ]
    try:
        for server in servers:
            server.wait_until_it_listens()
        for output in ("jpg", "webp", "avif", "png"):
            ratios, processor, rates = [], [], []
            for turn in range(5):
                # Each round has its own widths, so that nothing is cached.
                query = f"w={400 + turn}&output={output}&q=80"
                (here, busy_here), (there, busy_there) = (resized(server, names, query) for server in servers)
                ratios.append(here / there)
                processor.append(busy_here / busy_there)
                rates.append(len(names) / there)
            print(f"{output} {statistics.median(ratios):.2f} (processor {statistics.median(processor):.2f}, "
                  f"{statistics.median(rates):.0f} images/s)", end=", ", flush=True)
        memory = [memory_of(server.process.pid) for server in servers]
        print(f"memory after it {memory[0]:.0f} and {memory[1]:.0f} MB", end=" … ")
    finally:
        for server in servers:
            server.kill()


def resized(server: Server, names: list[str], query: str) -> tuple[float, float]:
    """The time and the processor time that all images take, for the server with its workers."""
    before = sum(cpu_seconds(server.process.pid))
    seconds, _ = fetch_all([f"http://127.0.0.1:{server.port}/image?url=local:///{name}&{query}" for name in names], 4)
    return seconds, sum(cpu_seconds(server.process.pid)) - before


def run_benchmarks(name: str, system: Guest) -> None:
    images, package = make_bench_images(), ROOT / "Benchmarks"
    programs = []
    for product in ("floor", "download", "bare"):
        run("swift", "build", "--package-path", package, "-c", "release", "--product", product)
        programs += [f"--{product}", package / ".build/release" / product]
    print(run(
        sys.executable, "-B", package / "measure", "--images", images, "--darkroom", system.executable, *programs,
        "--json", ROOT / f".build/bench/{name}.json", "misses", "hits", "memory"))


def make_bench_images() -> Path:
    images = ROOT / ".build/bench-images"
    run(sys.executable, ROOT / "scripts/make-bench-images.py", images)
    return images


def memory_of(pid: int) -> float:
    """Of a process and its descendants, in 10⁶ bytes: each page is divided by the processes that share it."""
    children = run("ps", "-eo", "pid=,ppid=").split("\n")
    parents = {int(child): int(parent) for child, parent in (line.split() for line in children if line)}
    family = {pid}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    maps = [Path(f"/proc/{member}/smaps_rollup").read_text() for member in family]
    return sum(int(re.search(r"Pss:\s+(\d+)", text)[1]) for text in maps) * 1024 / 1e6


def check_tests(system: Guest) -> None:
    bundle = ROOT / ".build/debug/darkroomPackageTests.xctest"
    check(bundle.is_file(), f"{bundle} does not exist; run make test")
    command = f"cd '{ROOT}' && exec '{bundle}' --testing-library swift-testing --no-parallel --filter '{TESTS}' 2>&1"
    try:
        printed = system.run("sh", "-c", command, seconds=2400)
    except subprocess.CalledProcessError as error:
        failures = [line for line in error.stdout.splitlines() if line.startswith(("✘", "↳"))]
        raise Failure("tests failed:\n" + "\n".join(failures)[:8000] or error.stdout[-4000:]) from error
    print(re.findall(r"Test run with (\d+ tests)", printed)[-1], end=" … ")


if __name__ == "__main__":
    sys.exit(main())
