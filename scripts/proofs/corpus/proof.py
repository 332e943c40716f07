"""Requests the samples one at a time, so that every effect has a known cause."""

import argparse
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter, defaultdict
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from server import TOKEN, Answer, Server, encoded
from corpus.samples import Sample, all_samples, numbers

MAX_SECONDS = 5
SETTINGS = ("--allow-networks=127.0.0.0/8", "--log-level=warning")


def run(arguments: argparse.Namespace) -> int:
    shown = subprocess.run([arguments.server, "version"], check=True, capture_output=True, text=True).stdout
    samples = all_samples(arguments.corpus, numbers(re.search(r"^libvips ([0-9.]+)", shown, re.MULTILINE)[1]))
    with tempfile.TemporaryDirectory(prefix="darkroom-corpus-") as name:
        proof = Proof(arguments.server, Path(name), samples, arguments.settings.split())
        if not proof.harness_sees():
            return 1
        proof.send()
        proof.report(arguments.corpus)
        if proof.breaches:
            print(proof.server.log_end(), file=sys.stderr)
    return 1 if proof.breaches else 0


class Proof:
    def __init__(self, binary: Path, folder: Path, samples: list[Sample], settings: list[str]) -> None:
        self.samples, self.origin = samples, origin(samples)
        self.server = Server(binary, folder, *SETTINGS, *settings)
        self.statuses: defaultdict[str, Counter[int]] = defaultdict(Counter)
        self.slowest: Counter[str] = Counter()
        self.breaches: list[str] = []
        self.killers: list[str] = []

    def harness_sees(self) -> bool:
        """Whether made-up breaches are detected."""
        wanted, good = frozenset({200}), Answer(200, {}, b"", 0.1)
        bad = {
            "a 5xx": good._replace(status=500), "a hang": good._replace(seconds=MAX_SECONDS + 1),
            "a lost server": None, "a refusal of a good image": good._replace(status=422),
        }
        unseen = [name for name, answer in bad.items() if not fault(answer, wanted)]
        unseen += ["nothing but breaches"] if fault(good, wanted) else []
        print(f"corpus: the harness {f'misses {unseen}' if unseen else 'detects every kind of made-up breach'}")
        return not unseen

    def send(self) -> None:
        self.server.wait_until_it_listens()
        for number, sample in enumerate(self.samples):
            url = encoded(f"http://127.0.0.1:{self.origin.server_port}/{number}")
            before = self.worker_deaths()
            self.judge(sample, "/image", self.ask(f"/image?w=64&url={url}"), sample.statuses)
            self.judge(sample, "/info", self.ask(f"/info?url={url}"), sample.statuses_of_info)
            if self.worker_deaths() > before:
                self.killers.append(f"{sample.group} {sample.name}")
        if status := self.server.stop():
            self.breaches.append(f"the server exited with status {status}")

    def ask(self, path: str, headers: dict[str, str] | None = None) -> Answer | None:
        try:
            return self.server.ask(path, headers=headers, timeout=MAX_SECONDS * 4)
        except (OSError, HTTPException):
            return None

    def judge(self, sample: Sample, path: str, answer: Answer | None, statuses: frozenset[int]) -> None:
        group = f"{sample.group} {path}"
        self.statuses[group][answer.status if answer else 0] += 1
        self.slowest[group] = max(self.slowest[group], answer.seconds if answer else 0)
        if why := fault(answer, statuses):
            self.breaches.append(f"{path} {sample.group} {sample.name}: {why}")

    def worker_deaths(self) -> int:
        """The number of workers that ended otherwise than on schedule."""
        answer = self.ask("/metrics", {"Authorization": f"Bearer {TOKEN}"})
        page = answer.body.decode() if answer else ""
        ends = re.findall(r'^darkroom_worker_ends_total{reason="(\w+)"} (\d+)', page, re.MULTILINE)
        return sum(int(count) for reason, count in ends if reason not in ("recycled", "idle"))

    def report(self, folder: Path) -> None:
        width = max(map(len, self.statuses))
        print(f"{'':{width}} {'200':>6} {'413':>6} {'415':>6} {'422':>6} {'other':>6} {'slowest':>8}")
        for group, came in self.statuses.items():
            other = sum(came.values()) - sum(came[status] for status in (200, 413, 415, 422))
            columns = [*(came[status] for status in (200, 413, 415, 422)), other]
            print(f"{group:{width}} " + " ".join(f"{number:6}" for number in columns) + f" {self.slowest[group]:6.2f} s")
        where = folder if (folder / "MANIFEST.tsv").is_file() else "no corpus next to the repository"
        print(f"corpus: {len(self.samples):,} files ({where}), {len(self.killers)} cost a worker, {len(self.breaches)} breaches")
        for killer in self.killers:
            print(f"corpus: cost a worker: {killer}")
        for breach in self.breaches[:40]:
            print(f"corpus: {breach}", file=sys.stderr)


def fault(answer: Answer | None, statuses: frozenset[int]) -> str | None:
    if not answer:
        return "no response"
    if answer.seconds > MAX_SECONDS:
        return f"responded after {answer.seconds:.1f} s"
    return None if answer.status in statuses else f"responded with {answer.status} {answer.problem}, not {sorted(statuses)}"


def origin(samples: list[Sample]) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = samples[int(self.path.strip("/"))].bytes
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.daemon_threads = True
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    return listener
