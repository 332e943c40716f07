"""A fresh Debian in a folder that boots with systemd in namespaces of its own, for tests that use packages as an administrator would.

It has no access to the network and to the file system of this machine, except for Fixtures/images. Requires root.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUITE = "bookworm"
# Not in /tmp, which is emptied at boot.
PACKAGES = "/root"

# Runs as the first process of new namespaces. The last command replaces it, and becomes process 1.
BOOT = """
set -eu
root=$1
mount --make-rprivate /
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t tmpfs tmpfs "$root/run"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for node in null zero full random urandom tty; do
    touch "$root/dev/$node"
    mount --bind "/dev/$node" "$root/dev/$node"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
groups=$root/sys/fs/cgroup
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
    mount -t cgroup2 cgroup2 "$groups"
else
    mount -t tmpfs -o mode=755 tmpfs "$groups"
    mkdir "$groups/systemd" "$groups/unified"
    mount -t cgroup -o none,name=systemd cgroup "$groups/systemd"
    mount -t cgroup2 cgroup2 "$groups/unified"
fi
mkdir -p "$root/srv/images"
mount --bind "$2" "$root/srv/images"
mount -o remount,bind,ro "$root/srv/images"
ip link set lo up
cd "$root"
pivot_root . mnt
umount -l mnt
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd systemd.unit=multi-user.target
"""


class Failure(Exception):
    """A check that failed, or a command that should have succeeded."""


def main(description: str, success: str, test: Callable[[Path, str, str, Path], None]) -> int:
    """Runs a test with the folder of the packages, the mirror, the suite and a folder for its work. Returns the script's status."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=ROOT / ".build/dist", help="folder of the packages")
    parser.add_argument("--mirror", default="http://deb.debian.org/debian", help="Debian mirror")
    parser.add_argument("--suite", default=SUITE, help=f"Debian release (default: {SUITE})")
    arguments = parser.parse_args()
    if os.geteuid() != 0:
        print("This test boots systems in namespaces and requires root; it was not run.", file=sys.stderr)
        return 77
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    work = Path(tempfile.mkdtemp(prefix="darkroom-debian-"))
    try:
        test(arguments.folder, arguments.mirror, arguments.suite, work)
    except (Failure, subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        print(f"FAILED: {error}", file=sys.stderr)
        for text in (getattr(error, "stdout", None), getattr(error, "stderr", None)):
            print(text or "", file=sys.stderr)
        return 1
    finally:
        # Its mounts exist in namespaces that have ended.
        shutil.rmtree(work, ignore_errors=True)
    print(success)
    return 0


def documented(page: str, heading: str) -> list[str]:
    """The blocks of commands in a section of a page in docs, without sudo, which the test does not need."""
    section = (ROOT / "docs" / page).read_text().partition(f"\n{heading}\n")[2].partition("\n## ")[0]
    blocks = [text.partition("```")[0].replace("sudo ", "") for text in section.split("```console\n")[1:]]
    check(blocks, f"docs/{page} has no commands below {heading}")
    return blocks


def step(title: str, body: Callable):
    started = time.monotonic()
    print(f"{title} … ", end="", flush=True)
    result = body()
    print(f"{time.monotonic() - started:.1f} s", flush=True)
    return result


def run(*command: str | Path, **options) -> str:
    return subprocess.run(
        [str(each) for each in command], check=True, capture_output=True, text=True, timeout=600, **options).stdout


def check(condition: object, sentence: str) -> None:
    if not condition:
        raise Failure(sentence)


def only(folder: Path, pattern: str) -> Path:
    found = list(folder.glob(pattern))
    check(len(found) == 1, f"{folder} has {len(found)} files {pattern}; run make package")
    return found[0]


class System:
    """A Debian in a folder, running or not."""

    def __init__(self, root: Path, address: str = ""):
        self.root, self.address = root, address
        self.process: subprocess.Popen | None = None
        self.first = 0

    def boot(self) -> None:
        namespaces = ["--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup"]
        self.process = subprocess.Popen(
            ["unshare", *namespaces, "--fork", "sh", "-c", BOOT, "boot", self.root, ROOT / "Fixtures/images"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        wait(lambda: self._is_running(), "systemd did not start", process=self.process)

    def _is_running(self) -> bool:
        self.first = child(self.process)
        if not self.first or Path(f"/proc/{self.first}/comm").read_text().strip() != "systemd":
            return False
        state = subprocess.run(self._inside("systemctl", "is-system-running"), capture_output=True, text=True).stdout
        return state.strip() in ("running", "degraded")

    def _inside(self, *command: str) -> list[str]:
        environment = ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C"]
        return [*entered(self.first), *environment, *command]

    def run(self, *command: str) -> str:
        """Runs a command inside of the system."""
        return run(*self._inside(*command))

    def get(self, url: str) -> tuple[int, bytes]:
        """Sends a request from this machine's client in the system's network. Returns the status, 0 if none, and body."""
        return get(self.first, url)

    def power_off(self) -> None:
        if self.process:
            end(self.process)

    def restart(self) -> None:
        """Restarts the service, however often it was started before: systemd counts the starts of an administrator too."""
        self.run("systemctl", "reset-failed", "darkroom")
        self.run("systemctl", "restart", "darkroom")

    def property(self, name: str) -> str:
        return self.run("systemctl", "show", "--property", name, "--value", "darkroom").strip()

    def wait_until_ready(self, port: int) -> None:
        wait(lambda: self.get(f"http://127.0.0.1:{port}/health/ready")[0] == 200, f"nothing is ready at port {port}")

    def path(self, path: str) -> Path:
        return self.root / path.lstrip("/")


def child(process: subprocess.Popen) -> int:
    """The first process of the namespaces that unshare made, or 0."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return int(children[0]) if children else 0


def entered(process: int) -> list[str]:
    return ["nsenter", "--target", str(process), "--all", "--root", "--wd"]


def end(process: subprocess.Popen) -> None:
    """Ends the namespaces' first process, and thus all others."""
    if process.poll() is None and (first := child(process)):
        os.kill(first, signal.SIGKILL)
    process.wait(timeout=60)


def get(process: int, url: str) -> tuple[int, bytes]:
    with tempfile.NamedTemporaryFile() as body:
        command = ["nsenter", "--target", str(process), "--net", "curl", "--silent", "--max-time", "30"]
        done = subprocess.run([*command, "--output", body.name, "--write-out", "%{http_code}", url], capture_output=True, text=True)
        return int(done.stdout or 0), Path(body.name).read_bytes()


def wait(condition: Callable[[], bool], sentence: str, process: subprocess.Popen | None = None) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        check(time.monotonic() < deadline, sentence)
        check(process is None or process.poll() is None, sentence)
        time.sleep(0.1)


def unpack(system: System, mirror: str, suite: str, packages: list[Path], *others: str) -> None:
    """Unpacks Debian with systemd, and downloads what the first package depends on, and others of Debian's packages: the
    booted system has no network."""
    run("mmdebstrap", "--quiet", "--variant=apt", "--include=systemd-sysv,curl,openssl,procps", suite, system.root, mirror)
    system.root.chmod(0o755)
    for package in packages:
        shutil.copy(package, system.path(PACKAGES))
    shutil.copy("/etc/resolv.conf", system.path("/etc/resolv.conf"))
    run("chroot", system.root, "apt-get", "--quiet", "update")
    download = ["apt-get", "--quiet", "--yes", "--no-install-recommends", "--download-only", "install"]
    run("chroot", system.root, *download, f"{PACKAGES}/{packages[0].name}", *others)


def install(system: System, package: Path) -> None:
    # In namespaces of its own, apt finds no user that may read the file; root reads it instead.
    options = ["--quiet", "--yes", "--no-install-recommends", "-o", "APT::Sandbox::User=root"]
    system.run("apt-get", *options, "-o", "Dpkg::Options::=--force-confold", "install", f"{PACKAGES}/{package.name}")
