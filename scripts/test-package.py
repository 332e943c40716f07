#!/usr/bin/env python3
"""Installs the packages of `make package` as an administrator would, into a fresh Debian that boots with systemd, and uses them.

    test-package.py [--folder .build/dist] [--mirror http://deb.debian.org/debian] [--suite bookworm]

Debian is unpacked into a folder and booted in namespaces of its own, without access to the network and to the file system of
this machine, except for Fixtures/images. Requires root; exits with 77 without it.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
import zlib
from pathlib import Path

from fresh_debian import (
    PACKAGES, ROOT, SUITE, Failure, System, check, child, documented, end, entered, get, install, main, only, run, step, unpack, wait,
)

CONFIG = "/etc/darkroom/config.yaml"
LAYERS = "bound limits landlock seccomp"
KEY = "test:" + "0123456789abcdef" * 2
# Names that may contain "darkroom" after a purge: the log, folders of systemd that a power cut leaves, and the user that
# stays by design.
REMAINS = ("/var/log/", "/var/tmp/systemd-private-", "/etc/passwd", "/etc/group", "/etc/shadow", "/etc/gshadow")

# The container's circumstances: the root is read-only except for the cache, and the process has no capabilities.
CONTAINER = """
set -eu
root=$1
shift
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mkdir -p "$root/srv/images"
mount --bind "$IMAGES" "$root/srv/images"
mount -t tmpfs -o "uid=$OWNER,gid=$GROUP,mode=700" tmpfs "$root/var/cache/darkroom"
mount -o remount,bind,ro "$root"
ip link set lo up
exec chroot "$root" setpriv --reuid "$OWNER" --regid "$GROUP" --clear-groups --bounding-set -all --no-new-privs "$@"
"""


def check_package(folder: Path, mirror: str, suite: str, work: Path) -> None:
    package = only(folder, "darkroom_*.deb")
    # These do not depend on the system that the package is installed on.
    if suite == SUITE:
        step("Policy", lambda: check_policy(folder))
        step("Reproducible", lambda: check_reproducible(package, work))
    upgrade = step("Package for the upgrade", lambda: make_upgrade(package, work))
    system = System(work / "root")
    step(f"Debian {suite}", lambda: unpack(system, mirror, suite, [package, upgrade]))
    step("Boot", system.boot)
    try:
        step("Install", lambda: check_installed(system, package))
        step("Serve", lambda: check_service(system))
        step("Refuse invalid settings", lambda: check_invalid_settings(system))
        step("Take a socket from systemd", lambda: check_socket(system))
        step("Run in production as documented", lambda: check_production(system))
        step("Upgrade", lambda: check_upgrade(system, upgrade))
    finally:
        system.power_off()
    step("Read-only root, as in the container", lambda: check_container(system))
    step("Boot", system.boot)
    try:
        step("Remove and purge", lambda: check_removal(system))
    finally:
        system.power_off()


def check_policy(folder: Path) -> None:
    for package in sorted(folder.glob("darkroom*.deb")):
        done = subprocess.run(["lintian", "--allow-root", "--fail-on", "error", package], capture_output=True, text=True)
        check(done.returncode == 0, f"lintian finds errors in {package.name}:\n{done.stdout}{done.stderr}")


def check_reproducible(package: Path, work: Path) -> None:
    """Builds the package again, at another time and from another path."""
    executable = work / "elsewhere/darkroom"
    executable.parent.mkdir()
    shutil.copy(ROOT / ".build/dist/darkroom", executable)
    again = work / "again"
    again.mkdir()
    run(ROOT / "scripts/package.sh", executable, again)
    check(only(again, "darkroom_*.deb").read_bytes() == package.read_bytes(), "building the package again gives other bytes")


def make_upgrade(package: Path, work: Path) -> Path:
    """A later version that ships another configuration, so that dpkg has to choose between it and the administrator's."""
    tree = work / "upgrade"
    run("dpkg-deb", "--raw-extract", package, tree)
    control = tree / "DEBIAN/control"
    version = run("dpkg-deb", "--field", package, "Version").strip()
    control.write_text(control.read_text().replace(f"Version: {version}", f"Version: {version}+test"))
    config = tree / CONFIG.lstrip("/")
    config.write_text(config.read_text() + "\n# A line of a later version.\n")
    upgraded = work / "darkroom_upgrade.deb"
    run("dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "--build", tree, upgraded)
    return upgraded


def check_installed(system: System, package: Path) -> None:
    started = time.monotonic()
    install(system, package)
    system.wait_until_ready(8080)
    first = re.search(r"curl -o first\.webp '(.+?)'", (ROOT / "README.md").read_text())[1]
    status, body = system.get(first)
    check(status == 200 and body[8:12] == b"WEBP", f"the README's first request has status {status}: {body[:300]!r}")
    print(f"first image {time.monotonic() - started:.1f} s after the download … ", end="", flush=True)
    libraries = system.run("ldd", "/usr/bin/darkroom")
    check("not found" not in libraries and "swift" not in libraries, f"the executable needs more than Debian:\n{libraries}")
    names = run("find", system.root, "-xdev", "-iname", "*swift*")
    check(not names.strip(), f"something of Swift is installed:\n{names}")
    check(not system.run("dpkg", "--verify", "darkroom"), "dpkg finds changed files")
    version = run("dpkg-deb", "--field", package, "Version").strip().rpartition("-")[0]
    check(f"darkroom {version}" in system.run("darkroom", "version"), f"the executable is not version {version}")
    user = system.run("getent", "passwd", "darkroom").strip().split(":")
    check(user[5:] == ["/nonexistent", "/usr/sbin/nologin"], f"the user can log in: {user}")
    for path, access in {"/etc/darkroom": "root:darkroom 750", "/var/cache/darkroom": "darkroom:darkroom 700"}.items():
        found = system.run("stat", "--format", "%U:%G %a", path).strip()
        check(found == access, f"{path} belongs to {found}, not {access}")
    for shell_file in ("/usr/share/bash-completion/completions/darkroom", "/usr/share/man/man1/darkroom.1.gz"):
        check(system.path(shell_file).stat().st_size > 1000, f"{shell_file} is missing or empty")


def check_service(system: System) -> None:
    """The service as installed, with a folder of images given in the file of environment variables."""
    check(system.property("ActiveState") == "active", "the installation does not start the service")
    system.wait_until_ready(8080)
    system.path("/etc/default/darkroom").write_text("DARKROOM_LOCAL_ROOT=/srv/images\nDARKROOM_ADMIN_PORT=8081\n")
    system.restart()
    system.wait_until_ready(8080)
    check_image(*system.get("http://127.0.0.1:8080/image?url=local:///sample.jpg&w=320&output=png"), 320)
    log = system.run("journalctl", "--unit", "darkroom", "--output", "cat", "--no-pager")
    check(f'layers="{LAYERS}"' in log, f"the workers lack layers of their sandbox:\n{log}")
    users = system.run("stat", "--format", "%U", f"/proc/{system.property('MainPID')}").split()
    check(users == ["darkroom"], f"the server runs as {users}")
    _, metrics = system.get("http://127.0.0.1:8081/metrics")
    readings = dict(line.rpartition(" ")[::2] for line in metrics.decode().splitlines() if not line.startswith("#"))
    check(float(readings["darkroom_worker_resident_memory_bytes"]) > 0, "the server does not see the memory of its workers")
    check(float(readings["darkroom_pixel_memory_budget_bytes"]) < 2**50, "the server does not see the machine's memory")
    check(any(system.path("/var/cache/darkroom").iterdir()), "the disk cache is empty")
    unit = "/lib/systemd/system/darkroom.service"
    complaints = system.run("systemd-analyze", "verify", "--man=no", unit)
    check(not complaints.strip(), f"systemd-analyze verify: {complaints}")
    system.run("systemd-analyze", "security", "--offline=true", "--threshold=20", unit)
    system.run("systemctl", "stop", "darkroom")
    check(system.property("Result") == "success", "the service does not stop cleanly")
    system.run("systemctl", "start", "darkroom")


def check_image(status: int, body: bytes, width: int) -> None:
    """Decodes a PNG completely: checksums of all chunks, and as many rows as its header says."""
    check(status == 200, f"status {status} instead of an image: {body[:300]!r}")
    check(body[:8] == b"\x89PNG\r\n\x1a\n", "not a PNG")
    chunks, at = [], 8
    while at < len(body):
        length, kind = int.from_bytes(body[at : at + 4]), body[at + 4 : at + 8]
        data, checksum = body[at + 8 : at + 8 + length], int.from_bytes(body[at + 8 + length : at + 12 + length])
        check(zlib.crc32(kind + data) == checksum, f"chunk {kind} is corrupt")
        chunks.append((kind, data))
        at += 12 + length
    check(chunks[0][0] == b"IHDR" and chunks[-1][0] == b"IEND", "the PNG is incomplete")
    header = chunks[0][1]
    columns, rows, depth, color = int.from_bytes(header[:4]), int.from_bytes(header[4:8]), header[8], header[9]
    check(columns == width and depth == 8 and header[12] == 0, f"{columns} columns instead of {width}")
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[color]
    pixels = zlib.decompress(b"".join(data for kind, data in chunks if kind == b"IDAT"))
    check(len(pixels) == rows * (1 + columns * channels), "the PNG lacks rows")


def check_invalid_settings(system: System) -> None:
    config = system.path(CONFIG)
    before = config.read_text()
    config.write_text(before + "prot: 8080\n")
    system.run("systemctl", "reset-failed", "darkroom")
    done = subprocess.run(system._inside("systemctl", "restart", "darkroom"), capture_output=True)
    wait(lambda: system.property("ActiveState") == "failed", "a misspelled setting does not stop the service")
    check(system.property("ExecMainStatus") == "78", f"exit status {system.property('ExecMainStatus')}, {done.returncode}")
    check(system.property("NRestarts") == "0", "a service with invalid settings is restarted")
    config.write_text(before)
    system.restart()
    system.wait_until_ready(8080)


def check_socket(system: System) -> None:
    """Runs the commands of the documents, except for the request at their end, and takes them back."""
    commands, _, request = documented("running.md", "## Sockets from systemd")[0].rpartition("curl ")
    system.run("sh", "-euc", commands)
    check(system.property("ActiveState") == "inactive", "the service runs before the first request")
    check(system.get(request.strip())[0] == 200, "the first request does not start the service")
    before = system.property("MainPID")
    system.run("systemctl", "--no-block", "restart", "darkroom")
    wait(lambda: system.property("MainPID") not in ("0", before), "the service does not restart")
    check(system.get(request.strip())[0] == 200, "a request during a restart is not answered")
    system.run("systemctl", "disable", "--now", "darkroom.socket")
    system.path("/etc/systemd/system/darkroom.socket").unlink()
    system.run("systemctl", "daemon-reload")
    system.restart()
    system.wait_until_ready(8080)


def check_production(system: System) -> None:
    """Runs the commands of the documents, and takes them back."""
    config = system.path(CONFIG)
    before = config.read_text()
    set_up, use = documented("running.md", "## A server, step by step")
    log = system.run("sh", "-euc", f"cd /root\n{set_up}")
    check('layers="' in log, f"the log shows no start:\n{log}")
    system.wait_until_ready(8080)
    metrics = system.run("sh", "-euc", f"cd /root\n{use}")
    check("darkroom_image_answers_total" in metrics, "the last command prints no metrics")
    image = system.path("/root/image.webp").read_bytes()
    check(image[:4] == b"RIFF" and image[8:12] == b"WEBP", f"not an image: {image[:300]!r}")
    check(system.get("http://127.0.0.1:8080/image?url=local:///sample.jpg&w=400")[0] == 403, "an unsigned URL is answered")
    config.write_text(before)
    system.path("/etc/darkroom/keys.json").unlink()
    system.restart()
    system.wait_until_ready(8080)


def check_upgrade(system: System, package: Path) -> None:
    """The administrator's configuration and the cache survive, and the new version runs."""
    config = system.path(CONFIG)
    changed = config.read_text().replace("port: 8080", "port: 8090")
    config.write_text(changed)
    before = system.property("MainPID")
    cached = {path.name for path in system.path("/var/cache/darkroom").iterdir()}
    install(system, package)
    system.wait_until_ready(8090)
    check(config.read_text() == changed, "the upgrade replaces the administrator's configuration")
    check(system.path(f"{CONFIG}.dpkg-dist").exists(), "the new configuration is not beside the administrator's")
    check(system.property("MainPID") != before, "the upgrade does not restart the service")
    check(cached <= {path.name for path in system.path("/var/cache/darkroom").iterdir()}, "the upgrade empties the cache")
    check_image(*system.get("http://127.0.0.1:8090/image?url=local:///sample.jpg&w=160&output=png"), 160)
    check(system.run("stat", "--format", "%U:%G %a", "/etc/darkroom").strip() == "root:darkroom 750", "access to the keys changes")
    system.path(f"{CONFIG}.dpkg-dist").unlink()


def check_container(system: System) -> None:
    """Runs the Dockerfile's command in its environment, as far as this needs no container engine."""
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    command = json.loads(next(line for line in lines if line.startswith("CMD ")).removeprefix("CMD "))
    environment = [word for line in lines if line.startswith("ENV ") for word in shlex.split(line)[1:]]
    settings = ["PATH=/usr/bin:/bin", *environment, f"DARKROOM_SIGNING_KEYS={KEY}", "DARKROOM_LOCAL_ROOT=/srv/images"]
    owner, group = system.path("/etc/passwd").read_text().partition("\ndarkroom:x:")[2].split(":")[:2]
    port = 8090
    process = subprocess.Popen(
        ["unshare", "--mount", "--pid", "--net", "--fork", "sh", "-c", CONTAINER, "container", system.root,
         "env", "-i", *settings, *command],
        env={"PATH": os.environ["PATH"], "OWNER": owner, "GROUP": group, "IMAGES": str(ROOT / "Fixtures/images")},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        url = f"http://127.0.0.1:{port}"
        wait(lambda: get(process.pid, f"{url}/health/ready")[0] == 200, "the server is not ready", process=process)
        query = "url=local%3A%2F%2F%2Fsample.jpg&w=200&output=png"
        signed = run(*entered(child(process)), "env", f"DARKROOM_SIGNING_KEYS={KEY}", "darkroom", "sign", query).strip()
        check_image(*get(process.pid, url + signed), 200)
        check(get(process.pid, f"{url}/image?{query}")[0] == 403, "an unsigned request is answered")
    except Failure as failure:
        end(process)
        raise Failure(f"{failure}\n{process.stdout.read()}") from failure
    finally:
        end(process)


def check_removal(system: System) -> None:
    system.wait_until_ready(8090)
    system.run("apt-get", "--quiet", "--yes", "remove", "darkroom")
    check(system.get("http://127.0.0.1:8090/health/live")[0] == 0, "the service runs after its removal")
    check(system.path(CONFIG).exists(), "removal without purge deletes the configuration")
    system.path("/etc/default/darkroom").unlink()
    system.run("apt-get", "--quiet", "--yes", "purge", "darkroom")
    found = system.run("find", "/", "-xdev", "-iname", "*darkroom*", "-not", "-path", f"{PACKAGES}/*").split()
    places = "/etc /var/lib/dpkg/info /var/lib/dpkg/statoverride /var/lib/systemd"
    found += system.run("sh", "-c", f"grep -rls darkroom {places} || true").split()
    found = [path for path in found if not path.startswith(REMAINS)]
    check(not found, f"left after the purge: {found}")
    check(system.run("getent", "passwd", "darkroom"), "the user is expected to stay")


if __name__ == "__main__":
    sys.exit(main(__doc__, "The package installs, serves, upgrades and leaves.", check_package))
