"""A network in which every address is this machine, with its own resolver, for this process and its children."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

RESOLVER = "9.9.9.53"
CANNOT_RUN = 77


def enter(command: list[str]) -> int:
    """Runs this program again inside the namespace, as root or in a user namespace."""
    if missing := [tool for tool in ("unshare", "ip", "mount", "openssl") if not shutil.which(tool)]:
        return refused(f"{', '.join(missing)} missing")
    for options in (["--net", "--mount"], ["--map-root-user", "--net", "--mount"]):
        unshare = ["unshare", *options, "--fork", "--kill-child"]
        if subprocess.run([*unshare, "true"], capture_output=True).returncode == 0:
            script = str(Path(command[0]).resolve())
            return subprocess.run([*unshare, sys.executable, "-B", script, *command[1:], "--inside"]).returncode
    return refused("neither root nor user namespaces may make a network namespace here")


def refused(why: str) -> int:
    print(f"ssrf: not run: {why}", file=sys.stderr)
    return CANNOT_RUN


def prepare(options: str = "timeout:2 attempts:1") -> None:
    """By default, the resolver is asked once, with a short timeout, for names without a response."""
    for command in (
        "ip link set lo up",
        "ip route add local 0.0.0.0/0 dev lo",
        "ip -6 route add local ::/0 dev lo",
    ):
        subprocess.run(command.split(), check=True)
    over("/etc/resolv.conf", f"nameserver {RESOLVER}\n" + (f"options {options}\n" if options else ""))
    over("/etc/nsswitch.conf", "hosts: files dns\n")
    over("/etc/hosts", "127.0.0.1 localhost\n::1 localhost ip6-localhost\n")


def over(path: str, text: str) -> None:
    """Mounts a file with this text over another one, visible inside the namespace only."""
    descriptor, name = tempfile.mkstemp()
    os.write(descriptor, text.encode())
    os.close(descriptor)
    os.chmod(name, 0o644)
    subprocess.run(["mount", "--bind", name, os.path.realpath(path)], check=True)
    os.unlink(name)
