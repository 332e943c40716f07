"""Runs the reverse proxy samples, with other ports and addresses only, in front of a server."""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from running import Answer, Relay, ask, darkroom, free_port, proxy, wait_until

IMAGES = Path(__file__).resolve().parent.parent.parent / "Fixtures/images"
IMAGE = "/image?url=local:///sample.jpg&w=160"
CLIENT = "127.0.0.9"
TOKEN = "deploy-check-token-0123456789"

Check = Callable[[Path], None]


def checks(folder: Path) -> Iterator[tuple[str, Check]]:
    samples = {
        "nginx": (folder / "nginx/darkroom.conf", nginx, False),
        "nginx with a cache": (folder / "nginx/darkroom.conf", nginx, True),
        "haproxy": (folder / "haproxy/haproxy.cfg", haproxy, False),
        "caddy": (folder / "caddy/Caddyfile", caddy, False),
    }
    for name, (file, start, is_cache) in samples.items():
        yield f"{name} in front of a server", partial(check, file, start, is_cache)


def check(file: Path, start: Callable, is_cache: bool, server: Path) -> None:
    text = file.read_text()
    if is_cache:
        # What is commented out, unlike a sentence, has no blank after its #.
        text = re.sub(r"(?m)^( *)#(?=[^ #\n])", r"\1", text)
    settings = [
        f"--local-root={IMAGES}", "--trusted-proxies=127.0.0.1/32", "--min-fresh=1h", "--client-hints=true",
    ]
    with (
        tempfile.TemporaryDirectory(prefix="deploy-") as name,
        darkroom(server, *settings, DARKROOM_ADMIN_TOKEN=TOKEN) as (upstream, log),
        closing(Relay(upstream)) as relay,
    ):
        folder, port = Path(name), free_port()
        # nginx as root reads and writes as another user.
        folder.chmod(0o755)
        with start(folder, replaced(text, "127.0.0.1:8080", f"127.0.0.1:{relay.port}"), port):
            check_images(port, upstream)
            check_client(port, log)
            check_limits(port)
            if is_cache:
                check_caching(port, upstream)
            else:
                check_connections(port, relay)


# The proxies.


@contextmanager
def nginx(folder: Path, text: str, port: int) -> Iterator[None]:
    text = replaced(text, "listen 80;", f"listen 127.0.0.1:{port};")
    (folder / "darkroom.conf").write_text(text.replace("/var/cache/nginx", f"{folder}/cache"))
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "cache").mkdir()
    (folder / "nginx.conf").write_text(
        f"daemon off; worker_processes 1; pid {folder}/pid; error_log stderr warn; events {{}}\n"
        f"http {{ access_log off; {temporary} include {folder}/darkroom.conf; }}\n")
    with proxy([program("nginx"), "-e", "stderr", "-c", folder / "nginx.conf"], port, folder):
        yield


@contextmanager
def haproxy(folder: Path, text: str, port: int) -> Iterator[None]:
    text = replaced(text, "bind :80", f"bind 127.0.0.1:{port}")
    if os.getuid() != 0:
        # Only root can change to another user.
        text = re.sub(r"(?m)^ +(user|group) .*\n", "", text)
    (folder / "haproxy.cfg").write_text(text)
    with proxy([program("haproxy"), "-db", "-f", folder / "haproxy.cfg"], port, folder):
        yield


@contextmanager
def caddy(folder: Path, text: str, port: int) -> Iterator[None]:
    text = replaced(text, "images.example.com {", f"http://127.0.0.1:{port} {{\n\tbind 127.0.0.1")
    (folder / "Caddyfile").write_text(text)
    command = [program("caddy"), "run", "--config", folder / "Caddyfile", "--adapter", "caddyfile"]
    with proxy(
        command, port, folder, CADDY_ADMIN=f"127.0.0.1:{free_port()}", XDG_DATA_HOME=str(folder),
        XDG_CONFIG_HOME=str(folder),
    ):
        yield


def program(name: str) -> str:
    """Debian has some of them in sbin, which is not on every user's path."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    assert found, f"{name} is not installed; scripts/setup-proxies.sh installs it."
    return found


def replaced(text: str, old: str, new: str) -> str:
    assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times."
    return text.replace(old, new)


# What must hold through each of them.


def check_images(port: int, upstream: int) -> None:
    image = ask(port, IMAGE, {"Accept": "image/jpeg"})
    expect(image.status == 200 and image.headers["content-type"] == "image/jpeg", image)
    expect(jpeg_width(image.body) == 160, image)
    expect("accept" in image.headers["vary"].lower(), image)
    expect(image.headers["cache-status"].startswith("darkroom;"), image)
    expect("max-age" in image.headers["cache-control"], image)

    webp = ask(port, IMAGE, {"Accept": "image/webp,image/apng,*/*"})
    expect(webp.headers["content-type"] == "image/webp" and webp.body[8:12] == b"WEBP", webp)
    refused = ask(port, IMAGE, {"Accept": "image/webp;q=0, image/jpeg"})
    expect(refused.headers["content-type"] == "image/jpeg", refused)
    expect(ask(port, IMAGE, {"Accept": "image/webp;q=0.9"}).headers["etag"] == webp.headers["etag"], webp)

    unchanged = ask(port, IMAGE, {"Accept": "image/jpeg", "If-None-Match": image.headers["etag"]})
    expect(unchanged.status == 304 and not unchanged.body, unchanged)
    expect(unchanged.headers["etag"] == image.headers["etag"], unchanged)

    head = ask(port, IMAGE, {"Accept": "image/jpeg"}, method="HEAD")
    expect(head.status == 200 and not head.body, head)
    expect(head.headers["content-length"] == str(len(image.body)), head)

    for target in ("/image?url=local:///sample.jpg&w=0", "/image?url=local:///none.jpg", "/none"):
        problem, direct = ask(port, target), ask(upstream, target)
        expect(problem.status == direct.status >= 400, problem)
        expect(is_problem(problem), problem)
        expect(comparable(problem.body) == comparable(direct.body), problem)

    # Placeholders are the longest header fields, and percent-encoding must reach the server as it was sent.
    target = "/image?url=local%3A%2F%2F%2Fsample.jpg&w=160&output=png&placeholder=lqip,blurhash,thumbhash,color"
    rich = ask(port, target)
    expect(rich.status == 200 and rich.headers["x-placeholder-lqip"].startswith("data:image/"), rich)
    # A server without ranges answers with the whole image (RFC 9110 §14.2); nginx with a cache answers the range.
    ranged = ask(port, IMAGE, {"Accept": "image/jpeg", "Range": "bytes=0-9"})
    expect(ranged.body == (image.body if ranged.status == 200 else image.body[:10]), ranged)
    expect(ranged.status in (200, 206), ranged)


def check_client(port: int, *logs: Path) -> None:
    """The log of one server has the address of the client, and links its host, whatever the client says."""
    forged = {"X-Forwarded-For": "203.0.113.1", "Forwarded": "for=203.0.113.2", "X-Request-Id": "who-am-i"}
    expect(ask(port, IMAGE + "&blur=1", forged, source=CLIENT).status == 200, "forged")
    hosts = {"X-Forwarded-Host": "forged.example", "X-Forwarded-Proto": "https", "Forwarded": "host=forged.example"}
    links = ask(port, "/srcset?url=local:///sample.jpg&widths=40&output=webp", hosts)
    expect(links.status == 200 and b"forged.example" not in links.body, links)

    def lines() -> list[str]:
        return [line for log in logs for line in log.read_text().splitlines() if "request-id=who-am-i" in line]

    wait_until(lambda: bool(lines()))
    expect(all(f"client={CLIENT} " in line for line in lines()), f"{lines()}")


def check_limits(port: int) -> None:
    long = ask(port, "/image?url=local:///" + "a" * 24_000)
    expect(long.status < 500 and long.status != 414 and is_problem(long), long)
    too_long = ask(port, "/image?url=local:///" + "a" * 33_000)
    expect(too_long.status == 414 and b"/problems/target-too-long" in too_long.body, too_long)


def check_connections(port: int, relay: Relay) -> None:
    before = relay.connections
    for _ in range(40):
        expect(ask(port, IMAGE).status == 200, "40 requests")
    opened = relay.connections - before
    expect(opened <= 4, f"{opened} connections to the server for 40 requests")


def check_caching(port: int, upstream: int) -> None:
    target = IMAGE + "&q=70"

    def state(accept: str, **headers: str) -> tuple[str, str]:
        answer = ask(port, target, {"Accept": accept} | headers)
        return answer.headers["x-cache-status"], answer.headers["content-type"]

    expect(state("image/jpeg") == ("MISS", "image/jpeg"), "first")
    expect(state("text/html,*/*") == ("HIT", "image/jpeg"), "a browser without WebP")
    expect(state("image/webp,*/*") == ("MISS", "image/webp"), "the first with WebP")
    expect(state("image/png,image/webp;q=0.8") == ("HIT", "image/webp"), "the second with WebP")
    expect(state("image/webp;q=0") == ("HIT", "image/jpeg"), "WebP refused")
    target = IMAGE + "&formats=avif,webp&wait=best"
    expect(state("image/avif,image/webp,*/*") == ("MISS", "image/avif"), "the first with AVIF")
    expect(state("image/webp,image/avif;q=0.5") == ("HIT", "image/avif"), "the second with AVIF")
    expect(state("image/avif;q=0,image/webp") == ("MISS", "image/webp"), "AVIF refused")
    # What is not in the key must not make a difference.
    target = IMAGE.replace("w=160", "w=161") + "&slow_q=20"
    hints = {"Save-Data": "on", "Sec-CH-DPR": "2"}
    first = ask(port, target, {"Accept": "image/jpeg"} | hints)
    expect(first.headers["x-cache-status"] == "MISS" and jpeg_width(first.body) == 161, first)
    expect(first.body == ask(upstream, target, {"Accept": "image/jpeg"}).body, first)
    target = IMAGE + "&q=70"
    # The server takes this weight for none: key and response must not differ.
    ask(port, target + "&sharp=1", {"Accept": "image/webp;q=2"})
    expect(ask(port, target + "&sharp=1", {"Accept": "image/webp"}).headers["content-type"] == "image/webp", "a weight")
    expect(state("*/*", Authorization=f"Bearer {TOKEN}")[0] == "BYPASS", "the admin token")
    # missing-max-age is the lifetime of a missing image's problem; no other problem has one.
    for path, is_kept in ("none.jpg&w=3", True), ("sample.jpg&w=0", False):
        # Each problem has an identifier of its own.
        first, second = (ask(port, f"/image?url=local:///{path}").body for _ in range(2))
        expect((first == second) == is_kept, f"{path}: {first}, {second}")


def is_problem(answer: Answer) -> bool:
    return answer.headers["content-type"] == "application/problem+json"


def expect(holds: bool, found: Answer | str) -> None:
    if not holds:
        if isinstance(found, Answer):
            found = f"{found.status} {found.headers} {found.body[:200]!r}"
        raise AssertionError(found)


def comparable(problem: bytes) -> bytes:
    """A problem without what differs from request to request, and from node to node: its type begins with `public-url`."""
    problem = re.sub(rb'"type":"http://node\d[.]example', b'"type":"', problem)
    return re.sub(rb'"instance":"[^"]*"', b"", problem)


def jpeg_width(body: bytes) -> int:
    """The width in the first frame header of a JPEG."""
    at = 2
    while body[at] == 0xFF:
        if 0xC0 <= body[at + 1] <= 0xC2:
            return int.from_bytes(body[at + 7 : at + 9])
        at += 2 + int.from_bytes(body[at + 2 : at + 4])
    raise ValueError("not a JPEG")
