"""The servers of a run: Darkroom at default settings, and nginx as origin and baseline."""

import json
import os
import re
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from processes import cpu_seconds

TOKEN = "bench-token-0123456789abcdef"
START_SECONDS, END_SECONDS = 60, 40
WIDTH = 400


class Darkroom:
    """A server at default settings, except a port, a folder for its cache and access to the origin; log to a file."""

    def __init__(self, binary: Path, work: Path, *settings: str, processors: set[int] | None = None) -> None:
        work.mkdir(parents=True, exist_ok=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("DARKROOM_")}
        with (work / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [binary, "serve", "--port=0", f"--cache-dir={work / 'cache'}", "--allow-networks=127.0.0.0/8", *settings],
                stdout=subprocess.PIPE, stderr=log, text=True, env=environment | {"DARKROOM_ADMIN_TOKEN": TOKEN},
                preexec_fn=(lambda: os.sched_setaffinity(0, processors)) if processors else None)
        self.pid = self.process.pid
        watchdog = threading.Timer(START_SECONDS, self.process.kill)
        watchdog.start()
        line = self.process.stdout.readline()
        watchdog.cancel()
        found = re.search(r"http://[0-9.]+:(\d+)", line)
        if not found:
            raise SystemExit(f"the server did not start: {(work / 'log').read_text()[-2000:]}")
        self.base, self.port = found[0], int(found[1])

    def path(self, source: str, **query: object) -> str:
        asked = {"url": source, "w": WIDTH, "output": "jpg", "q": 80} | query
        return "/image?" + urllib.parse.urlencode(asked, safe=":/")

    def url(self, source: str, **query: object) -> str:
        return self.base + self.path(source, **query)

    def explanation(self, source: str) -> dict:
        with urllib.request.urlopen(self.base + self.path(source).replace("/image?", "/explain?", 1)) as answer:
            return json.load(answer)

    def metric(self, name: str) -> float:
        request = urllib.request.Request(self.base + "/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
        with urllib.request.urlopen(request) as answer:
            lines = answer.read().decode().splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if re.match(rf"{name}[ {{]", line))

    def settled_cpu(self) -> tuple[float, float]:
        """CPU seconds of the server and of its workers, once background work such as writing to disk has ended."""
        before = cpu_seconds(self.pid)
        for _ in range(50):
            time.sleep(0.2)
            after = cpu_seconds(self.pid)
            if sum(after) - sum(before) < 0.02:
                return after
            before = after
        return before

    def __enter__(self) -> "Darkroom":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(END_SECONDS)
        finally:
            self.process.kill()
            self.process.stdout.close()


class Program:
    """A program that prints its address, and runs until its context ends."""

    def __init__(self, *command: Path) -> None:
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        self.base = self.process.stdout.readline().strip()

    def __enter__(self) -> "Program":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(END_SECONDS)
        self.process.stdout.close()


class Download(Program):
    """The program that downloads, hashes and stores an original, and answers with as many bytes as a small image has."""

    def url(self, source: str) -> str:
        return f"{self.base}/?url={source}"

    def settled_cpu(self) -> tuple[float, float]:
        return cpu_seconds(self.pid)


class Bare(Program):
    """The program that answers every request with one body and one list of fields, by SwiftNIO."""

    def __init__(self, binary: Path, body: Path, fields: list[tuple[str, str]]) -> None:
        head = body.with_suffix(".fields")
        head.write_text("".join(f"{name}: {value}\n" for name, value in fields))
        super().__init__(binary, body, head)


class Nginx:
    """The origin of all sources, and the baseline for static files; both with an access log to a file.

    `settings` and `locations` are further directives.
    """

    def __init__(self, work: Path, settings: str = "", locations: str = "") -> None:
        self.spare: list[Path] = []
        """Files of earlier sources, to be used again. They are not deleted, because ext4 passes over the inodes of recently
        deleted files one by one, so that the server would take longer to create its own."""
        self.origin_log, self.root, self.static = work / "origin.log", work / "origin", work / "static"
        self.root.mkdir(parents=True)
        self.static.mkdir()
        port = free_port()
        config = work / "nginx.conf"
        config.write_text(
            f"worker_processes 1;\nworker_rlimit_nofile 16384;\npid {work}/nginx.pid;\nerror_log {work}/error.log;\n"
            f"daemon off;\nevents {{ worker_connections 8192; }}\n"
            f"http {{ sendfile on; tcp_nopush on; keepalive_requests 1000000000; types {{ image/jpeg jpg; }}\n"
            f"  client_body_temp_path {work}/b; proxy_temp_path {work}/p; fastcgi_temp_path {work}/f;\n"
            f"  uwsgi_temp_path {work}/u; scgi_temp_path {work}/s; {settings}\n"
            f"  server {{ listen 127.0.0.1:{port} backlog=4096; access_log {self.origin_log};\n"
            f"    location / {{ root {self.root}; add_header Cache-Control max-age=86400; }}\n"
            f"    location /static/ {{ alias {self.static}/; access_log {work}/static.log; }}\n"
            f"    {locations} }} }}\n")
        self.base = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen(["nginx", "-c", str(config)], stderr=subprocess.DEVNULL)
        for _ in range(200):
            try:
                urllib.request.urlopen(self.base + "/static/", timeout=1)
            except urllib.error.HTTPError:
                return
            except OSError:
                time.sleep(0.05)
        raise SystemExit(f"nginx did not start: {(work / 'error.log').read_text()}")

    def __enter__(self) -> "Nginx":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(10)


def free_port() -> int:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


@contextmanager
def sources(nginx: Nginx, images: list[Path], label: str) -> Iterator[list[str]]:
    """URLs of copies that differ from all others in a JPEG comment, so that no cache of any kind knows their content."""
    folder = nginx.root / label
    folder.mkdir()
    comment = f"{label} {time.monotonic_ns()}".encode()
    segment = b"\xff\xfe" + (len(comment) + 2).to_bytes(2) + comment
    for number, image in enumerate(images):
        original = image.read_bytes()
        file = folder / f"{number:04}.jpg"
        if nginx.spare:
            nginx.spare.pop().rename(file)
        file.write_bytes(original[:2] + segment + original[2:])
    yield [f"{nginx.base}/{label}/{number:04}.jpg" for number in range(len(images))]
    for file in folder.iterdir():
        nginx.spare.append(file.rename(nginx.root / f"spare-{len(nginx.spare)}"))
    folder.rmdir()
