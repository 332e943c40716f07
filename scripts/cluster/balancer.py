"""HAProxy with the sample for several nodes; only its addresses are changed."""

import re
import signal
from pathlib import Path

from server import ROOT

from nodes import Node
from proxy import Proxy, found

SAMPLE = ROOT / "deploy/haproxy/cluster.cfg"
# What the sample lacks without a defense.
DEFENSES = {
    "retries": (r"(?m)^    (retries|option redispatch|retry-on) .*\n", ""),
    "checks": (r"(inter .* on-marked-down shutdown-sessions )| check$|(?m:^    (option httpchk|http-check) .*\n)", ""),
    "hand-over": (r"on-marked-down shutdown-sessions ", ""),
    "hash": (r"balance hash .*", "balance roundrobin"),
    "slack": (r"hash-type consistent sdbm avalanche", "hash-type consistent sdbm avalanche\n    hash-balance-factor 250"),
}


class Balancer(Proxy):
    name = "HAProxy"

    def __init__(self, folder: Path, nodes: list[Node], without: set[str]) -> None:
        super().__init__()
        self.file, self.without = folder / "haproxy.cfg", without
        self.write(nodes)
        # The master process takes over the listening sockets when it reloads, as in Debian's service.
        self.run([program(), "-W", "-f", str(self.file)], folder / "haproxy.log")

    def write(self, nodes: list[Node]) -> None:
        text = SAMPLE.read_text()
        for name in self.without & DEFENSES.keys():
            pattern, replacement = DEFENSES[name]
            text, count = re.subn(pattern, replacement, text)
            assert count, f"{SAMPLE} has no {name}."
        if "checks" in self.without:
            text = re.sub(r" track nodes/node\d", "", text)
        text = text.replace("bind :80", f"bind 127.0.0.1:{self.port}")
        # Only root can change to another user, who could not read our files.
        text = re.sub(r"(?m)^ +(user|group) .*\n", "", text)
        lines = []
        for line in text.splitlines(keepends=True):
            if "server node1 " in line:
                lines += [addressed(line, node) for node in nodes]
            elif " server node" not in line:
                lines.append(line)
        self.file.write_text("".join(lines))

    def add(self, nodes: list[Node]) -> None:
        """Reloads with these nodes, as `systemctl reload haproxy` does."""
        self.write(nodes)
        self.process.send_signal(signal.SIGUSR2)


def addressed(line: str, node: Node) -> str:
    """The sample's line of the first node, for this one."""
    line = line.replace("192.0.2.1:8080", f"127.0.0.1:{node.port}").replace("node1", node.name)
    return line.replace("id 1", f"id {node.number}")


def program() -> str:
    if path := found("haproxy"):
        return path
    raise FileNotFoundError("haproxy is not installed; scripts/setup-proxies.sh installs it")
