#!/usr/bin/env python3
"""Follows the section "From one node to three" of docs/several-nodes.md on fresh Debian systems, command by command, and adds a fourth node.

    test-nodes.py [--folder .build/dist] [--mirror http://deb.debian.org/debian]

Four systems with the package of `make package` and one with HAProxy boot in namespaces, with a network of their own; the
store is started by scripts/object-store. Requires root; exits with 77 without it.
"""

import json
import re
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from fresh_debian import ROOT, System, check, install, main, only, run, step, unpack, wait

PAGE = "several-nodes.md"
# Nodes, HAProxy, and this machine with the store and the origin. The sample's network, 192.0.2, may be this machine's own.
SAMPLE, NETWORK = "192.0.2.", "198.51.100."
NODES = [f"{NETWORK}{number}" for number in (1, 2, 3, 4)]
HAPROXY, OUTSIDE = f"{NETWORK}9", f"{NETWORK}10"
BRIDGE = "darkroom-test"
STORE_PORT = 9000


def follow(folder: Path, mirror: str, suite: str, work: Path) -> None:
    with ExitStack() as stack:
        follow_page(stack, only(folder, "darkroom_*.deb"), mirror, suite, work)


def follow_page(stack: ExitStack, package: Path, mirror: str, suite: str, work: Path) -> None:
    keys = stack.enter_context(store(work / "store"))
    page = Page({
        "KEY": keys["access_key"], "SECRET": keys["secret_key"], "TOKEN": "0123456789abcdef" * 2, "STORE": OUTSIDE,
        "HAPROXY": HAPROXY, "NODE1": NODES[0],
    })
    base = System(work / "base")
    step("Debian", lambda: unpack(base, mirror, suite, [package], "haproxy"))
    stack.enter_context(bridge())
    stack.enter_context(relay(STORE_PORT, keys["endpoint"].rpartition(":")[2]))
    origin = stack.enter_context(images())
    systems = [stack.enter_context(copied(base, work / f"root{index}", address)) for index, address in enumerate([*NODES, HAPROXY])]
    *nodes, balancer = systems
    for index, node in enumerate(nodes[:3]):
        step(f"Node {index + 1}", lambda node=node: set_up(node, package, page))
    step("HAProxy", lambda: set_up_balancer(balancer, page))
    step("Look", lambda: look(nodes[:3], balancer, page, origin))
    step("Another node", lambda: add(nodes[3], nodes[:3], balancer, package, page))


class Page:
    """The section's blocks, with values for the placeholders."""

    def __init__(self, values: dict[str, str]) -> None:
        text = (ROOT / "docs" / PAGE).read_text().partition("\n## From one node to three\n")[2].partition("\n## ")[0]
        for placeholder, value in values.items():
            text = re.sub(rf"(?<![A-Z_]){placeholder}(?![A-Z_])", value, text)
        text = text.replace("https%3A%2F%2Fexample.com", f"http%3A%2F%2F{OUTSIDE}").replace("example.com", OUTSIDE)
        blocks = re.findall(r"```(\w+)\n(.*?)```", text, re.DOTALL)
        self.settings, self.environment = [body for kind, body in blocks if kind == "text"]
        _, self.start, self.balance, self.look = [body for kind, body in blocks if kind == "console"]


def set_up(node: System, package: Path, page: Page) -> None:
    install(node, package)
    # The origin has a private address, unlike origins of users.
    node.path("/etc/darkroom/config.yaml").write_text(page.settings + f"allow-networks: [{OUTSIDE}/32]\n")
    node.path("/etc/default/darkroom").write_text(page.environment)
    node.run("sh", "-euc", page.start.replace(NODES[0], node.address))
    wait(lambda: node.get(f"http://{node.address}:8080/health/ready")[0] == 200, f"{node.address} is not ready")


def set_up_balancer(balancer: System, page: Page) -> None:
    sample = (ROOT / "deploy/haproxy/cluster.cfg").read_text().replace(SAMPLE, NETWORK)
    balancer.path("/etc/haproxy").mkdir(exist_ok=True)
    balancer.path("/etc/haproxy/haproxy.cfg").write_text(sample)
    options = "--quiet --yes --no-install-recommends -o APT::Sandbox::User=root -o Dpkg::Options::=--force-confold"
    balancer.run("sh", "-euc", page.balance.replace("apt-get install", f"apt-get {options} install"))
    wait(lambda: balancer.get(f"http://{HAPROXY}/health/ready")[0] == 200, "HAProxy reaches no node")


def look(nodes: list[System], balancer: System, page: Page, origin: "Images") -> None:
    first, stop, second = page.look.strip().splitlines()
    answer = balancer.run("sh", "-uc", first.partition("|")[0])
    check("200 OK" in answer, f"no image: {answer!r}")
    # A line of the log may follow the answer by some time.
    wait(lambda: any(has_answered(node) for node in nodes), "no node has answered")
    answered = [node for node in nodes if has_answered(node)]
    check(len(answered) == 1, f"{len(answered)} nodes have answered")
    check("hit" in balancer.run("sh", "-uc", first), "the second answer is no hit")
    answered[0].run(*stop.partition("#")[0].split()[2:])
    status = balancer.run("sh", "-uc", second)
    check("detail=shared" in status, f"the image is not from the store: {status!r}")
    check(origin.requests == 1, f"the origin was asked {origin.requests} times")
    answered[0].run("systemctl", "start", "darkroom")


def has_answered(node: System) -> bool:
    return "path=/image" in node.run("journalctl", "--unit", "darkroom", "--output", "cat")


def add(node: System, others: list[System], balancer: System, package: Path, page: Page) -> None:
    set_up(node, package, page)
    config = balancer.path("/etc/haproxy/haproxy.cfg")
    text = config.read_text()
    for line in re.findall(r"(?m)^ *server node3 .*$", text):
        text = text.replace(line, f"{line}\n{line.replace('node3', 'node4').replace(NODES[2], NODES[3]).replace('id 3', 'id 4')}")
    config.write_text(text)
    balancer.run("systemctl", "reload", "haproxy")

    def is_used() -> bool:
        for number in range(40):
            balancer.get(f"http://{HAPROXY}/image?url=http%3A%2F%2F{OUTSIDE}%2F{number}.jpg&w=20")
        return has_answered(node)

    wait(is_used, "the new node gets no requests")


# The machines and what surrounds them.

@contextmanager
def copied(base: System, root: Path, address: str) -> Iterator[System]:
    """A booted copy of a system, with an address in the common network."""
    run("cp", "--archive", base.root, root)
    system = System(root, address)
    system.boot()
    try:
        link = f"dr{address.rpartition('.')[2]}"
        run("ip", "link", "add", link, "master", BRIDGE, "type", "veth", "peer", "name", "eth0", "netns", system.first)
        run("ip", "link", "set", link, "up")
        inside = ["nsenter", "--target", system.first, "--net", "ip"]
        run(*inside, "address", "add", f"{address}/24", "dev", "eth0")
        run(*inside, "link", "set", "eth0", "up")
        yield system
    finally:
        system.power_off()


@contextmanager
def bridge() -> Iterator[None]:
    run("ip", "link", "add", BRIDGE, "type", "bridge")
    try:
        run("ip", "address", "add", f"{OUTSIDE}/24", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")
        yield
    finally:
        run("ip", "link", "delete", BRIDGE)


@contextmanager
def store(folder: Path) -> Iterator[dict]:
    tool = ROOT / "scripts/object-store"
    try:
        yield json.loads(run(tool, "start", folder).splitlines()[-1])
    finally:
        run(tool, "wipe", folder)


@contextmanager
def relay(port: int, target: str) -> Iterator[None]:
    """Passes connections on to a port of this machine's loopback address."""
    def copy(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                sink.sendall(data)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_WR)

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", int(target)))
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=copy, args=pair, daemon=True).start()

    listener = socket.create_server((OUTSIDE, port))
    threading.Thread(target=accept, daemon=True).start()
    try:
        yield
    finally:
        listener.close()


class Images(BaseHTTPRequestHandler):
    requests = 0
    body = (ROOT / "Fixtures/images/sample.jpg").read_bytes()

    def do_GET(self) -> None:
        type(self).requests += 1
        self.send_response(200)
        for name, value in {"Content-Type": "image/jpeg", "Content-Length": len(self.body), "Cache-Control": "max-age=3600"}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def images() -> Iterator[type[Images]]:
    server = ThreadingHTTPServer((OUTSIDE, 80), Images)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield Images
    finally:
        server.shutdown()


if __name__ == "__main__":
    sys.exit(main(__doc__, "The page leads from one node to three, and to a fourth.", follow))
