"""Runs the samples for several nodes, with other ports and addresses only, in front of three servers."""

import re
import subprocess
import tempfile
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from urllib.parse import quote

from proxies import IMAGES, check_client, check_images, check_limits, expect, haproxy, nginx, program
from running import ask, darkroom, free_port, wait_until

NODES = 3
SOURCES = [f"https://example.com/{number}.jpg" for number in range(60)]
ADDRESSES = re.compile(r"\b192\.0\.2\.(\d):8080\b")


# Differs on purpose: where HAProxy listens, where it finds nodes, and whose X-Forwarded fields it trusts.
ON_KUBERNETES = re.compile(
    r"\b(bind|server|server-template|user|group|log|option forwardfor|set-header X-Forwarded-For|del-header X-Forwarded-\w+)\b")


def checks(folder: Path) -> Iterator[tuple[str, Callable[[Path], None]]]:
    yield "kubernetes/overlays/cluster: HAProxy has the settings of the sample", partial(compare, folder)
    for name, file, start, decodes in (
        ("haproxy", "haproxy/cluster.cfg", haproxy, True), ("nginx", "nginx/cluster.conf", nginx, False)
    ):
        yield f"{name} in front of three servers", partial(check, folder / file, start, decodes)


def check(file: Path, start: Callable, decodes: bool, server: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="deploy-") as name, ExitStack() as stack:
        folder, port = Path(name), free_port()
        # nginx as root reads and writes as another user.
        folder.chmod(0o755)
        lives = [ExitStack() for _ in range(NODES)]
        for life in lives:
            stack.enter_context(life)
        nodes = [life.enter_context(darkroom(server, *settings(number))) for number, life in enumerate(lives, 1)]
        text = ADDRESSES.sub(lambda found: f"127.0.0.1:{nodes[int(found[1]) - 1][0]}", file.read_text())
        stack.enter_context(start(folder, text, port))
        wait_until(lambda: ask(port, "/health/ready").status == 200)
        check_images(port, nodes[0][0])
        check_client(port, *(log for _, log in nodes))
        check_limits(port)
        homes = check_homes(port, decodes)
        if decodes:
            check_signed_paths(port, homes, [log for _, log in nodes])
        # Its requests must not fail at any time, so they are sent at once.
        lives[0].close()
        check_survivors(port, homes)


def compare(folder: Path, _: Path) -> None:
    """HAProxy accepts them, and apart from addresses they are the sample's."""
    text = (folder / "kubernetes/overlays/cluster/haproxy.cfg").read_text()
    # Debian's HAProxy is older than 3.0, the first with hash-key.
    older = text.replace(" hash-key addr", "")
    sample = lines((folder / "haproxy/cluster.cfg").read_text())
    missing = [line for line in sample if line not in lines(older)]
    expect(not missing, f"lines that only the sample has: {missing}")
    with tempfile.NamedTemporaryFile("w", suffix=".cfg") as file:
        file.write(older)
        file.flush()
        subprocess.run([program("haproxy"), "-c", "-f", file.name], check=True, capture_output=True)


def lines(text: str) -> list[str]:
    stripped = [line.strip() for line in text.splitlines()]
    return [line for line in stripped if line and line[0] != "#" and not ON_KUBERNETES.search(line)]


def settings(number: int) -> list[str]:
    """The URL that /explain answers with says which node it was."""
    return [f"--local-root={IMAGES}", "--trusted-proxies=127.0.0.1/32", f"--public-url=http://node{number}.example"]


def home(port: int, query: str) -> str:
    answer = ask(port, f"/explain?{query}&w=16")
    expect(answer.status == 200, answer)
    return re.search(rb"http://(node\d)\.example", answer.body)[1].decode()


def check_homes(port: int, decodes: bool) -> dict[str, str]:
    """Where each source is at home: always at the same node, and a fair share of all at each."""
    homes = {source: home(port, f"url={quote(source, safe='')}") for source in SOURCES}
    for source, node in homes.items():
        expect(home(port, f"url={quote(source, safe='')}&h=9") == node, f"{source} with another query")
        expect(home(port, f"q=3&url={quote(source, safe='')}") == node, f"{source} in another order")
        if decodes:
            expect(home(port, f"url={source}") == node, f"{source} in another spelling")
    shares = [list(homes.values()).count(f"node{number}") for number in range(1, NODES + 1)]
    expect(min(shares) >= len(SOURCES) // 12, f"shares of {shares}")
    return homes


def check_signed_paths(port: int, homes: dict[str, str], logs: list[Path]) -> None:
    """A signed path is at the home of its source. Here the signature is refused, which the node's log shows."""
    for number, source in enumerate(SOURCES[:9]):
        query = f"w=40&url={quote(source, safe='')}".encode()
        target = f"/signed/k1.none/{urlsafe_b64encode(query).decode().rstrip('=')}"
        ask(port, target, {"X-Request-Id": f"signed-{number}"})
        log = logs[int(homes[source].removeprefix("node")) - 1]
        wait_until(lambda: f"request-id=signed-{number} " in log.read_text(), 5)


def check_survivors(port: int, homes: dict[str, str]) -> None:
    """Sources of the node that ended are served by others, all else stays where it is."""
    for source, node in homes.items():
        now = home(port, f"url={quote(source, safe='')}")
        expect(now == node if node != "node1" else now != node, f"{source} was at {node}, is at {now}")
