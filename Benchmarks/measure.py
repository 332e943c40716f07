#!/usr/bin/env python3
"""Measures the whole service against floors and nginx, in interleaved rounds, and prints medians and ratios.

Everything runs on this machine over loopback: nginx is the origin and the static-file yardstick, curl and wrk ask.
"""
import argparse
import os
import re
import signal
import statistics
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

PROFILES = ["fast", "accurate", "linear"]
WIDTH = 400
CONCURRENCY = 4


class Server:
    """A child process that says on its standard output where it listens."""

    def __init__(self, darkroom, cache, *flags):
        self.process = subprocess.Popen(
            [darkroom, "serve", "--port", "0", "--cache-dir", str(cache), "--allow-networks", "127.0.0.0/8",
             "--log-level", "error", *flags],
            stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.base = re.search(r"http://[0-9.:]+", line).group(0)

    def url(self, source, **query):
        return f"{self.base}/image?" + urllib.parse.urlencode({"url": source, **query}, safe=":/")

    def peak_mib(self):
        """The sum of what the server and each of its workers have had at most."""
        own = self.process.pid
        children = Path(f"/proc/{own}/task").glob("*/children")
        pids = [own, *(int(pid) for path in children for pid in path.read_text().split())]
        statuses = [Path(f"/proc/{pid}/status").read_text() for pid in pids]
        return sum(int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) for status in statuses) / 1024

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=30)


class Nginx:
    """An nginx of our own: the origin with the sources, and a place for files to compare with."""

    def __init__(self, root, port, work):
        self.log = work / "origin.log"
        config = work / "nginx.conf"
        config.write_text(
            f"worker_processes 1;\npid {work}/nginx.pid;\nerror_log {work}/error.log;\ndaemon off;\n"
            "events { worker_connections 1024; }\n"
            f"http {{ access_log {self.log}; sendfile on; keepalive_requests 1000000; types {{ image/jpeg jpg; }}\n"
            f"  client_body_temp_path {work}/b; proxy_temp_path {work}/p; fastcgi_temp_path {work}/f;\n"
            f"  uwsgi_temp_path {work}/u; scgi_temp_path {work}/s;\n"
            f"  server {{ listen 127.0.0.1:{port}; location / {{ root {root}; }}\n"
            f"    location /static/ {{ alias {work}/static/; access_log off; }} }} }}\n")
        (work / "static").mkdir()
        self.base = f"http://127.0.0.1:{port}"
        self.process = subprocess.Popen(["nginx", "-c", str(config)], stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                urllib.request.urlopen(self.base + "/static/", timeout=1)
            except urllib.error.HTTPError:
                return
            except OSError:
                time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=10)


def ask_all(urls, concurrency):
    """Fetches every URL with curl, so many at once, and gives the wall-clock seconds and what curl wrote."""
    with tempfile.NamedTemporaryFile("w", suffix=".curl", delete=False) as config:
        for url in urls:
            config.write(f'url = "{url}"\noutput = "/dev/null"\n')
    start = time.monotonic()
    result = subprocess.run(
        ["curl", "--silent", "--parallel", "--parallel-immediate", "--parallel-max", str(concurrency),
         "--write-out", "%{http_code} %header{cache-status}\\n", "--config", config.name],
        capture_output=True, text=True)
    seconds = time.monotonic() - start
    os.unlink(config.name)
    answers = result.stdout.splitlines()
    bad = [line for line in answers if not line.startswith("200")]
    if bad or len(answers) != len(urls):
        raise SystemExit(f"{len(bad)} of {len(urls)} requests failed: {bad[:3]}")
    return seconds, answers


def requests_per_second(url, connections, seconds):
    out = subprocess.run(
        ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", url], capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in out:
        raise SystemExit(out)
    return float(re.search(r"Requests/sec:\s+([0-9.]+)", out).group(1))


def floor_seconds(floor, images, way, threads):
    return float(subprocess.run(
        [floor, str(images), way, str(threads), str(WIDTH)], capture_output=True, text=True, check=True).stdout)


def measure_misses(options, nginx, names, work):
    """Floors and services, one after the other within each round, so that a drifting machine hits all alike."""
    services = [prefix + profile for prefix in ("service ", "in-process ") for profile in PROFILES]
    times = {way: [] for way in [*PROFILES, "thumbnail", *services, "second"]}
    threads = os.cpu_count()
    # Every round asks for the same bytes under other names, and a decode that is kept would be found by its bytes.
    with Server(options.darkroom, work / "cache-miss", "--cache-decoded-bytes", "0") as server, \
            Server(options.darkroom, work / "cache-none", "--cache-decoded-bytes", "0", "--isolation", "none") as open_server:
        for round_number in range(options.rounds):
            for way in [*PROFILES, "thumbnail"]:
                times[way].append(floor_seconds(options.floor, options.images, way, threads))
            for profile in PROFILES:
                sources = [f"{nginx.base}/{name}?r={round_number}{profile}" for name in names]
                contenders = [("service ", server), ("in-process ", open_server)]
                # Who is asked first finds the files of the origin colder.
                for prefix, contender in contenders if round_number % 2 else reversed(contenders):
                    urls = [contender.url(s, w=WIDTH, output="jpg", q=80, resample=profile) for s in sources]
                    times[prefix + profile].append(ask_all(urls, CONCURRENCY)[0])
            seconds = [server.url(s, w=300, output="jpg", q=80) for s in sources]
            times["second"].append(ask_all(seconds, CONCURRENCY)[0])
        peak, open_peak = server.peak_mib(), open_server.peak_mib()
    count = len(names)
    medians = {way: statistics.median(values) / count * 1000 for way, values in times.items()}
    print(f"miss: {count} JPEGs to w={WIDTH} q80, {CONCURRENCY} requests at once, {threads} threads; ms per picture")
    for profile in PROFILES:
        own, service = medians[profile], medians["service " + profile]
        print(f"  {profile:9} floor {own:6.2f}  service {service:6.2f}  service speed / own floor {own / service:5.2f}"
              f"  / vips_thumbnail floor {medians['thumbnail'] / service:5.2f}"
              f"  own floor / thumbnail floor {medians['thumbnail'] / own:5.2f}")
    print(f"  thumbnail floor {medians['thumbnail']:6.2f}")
    for profile in PROFILES:
        own, service = medians["in-process " + profile], medians["service " + profile]
        print(f"isolation: {profile:9} in-process {own:6.2f}  in workers {service:6.2f}  costs {(service / own - 1) * 100:+5.1f} %")
    print(f"second width of a cached original: {medians['second']:6.2f} ms per picture,"
          f" {medians['service linear'] / medians['second']:5.2f} times the speed of its first (linear)")
    print(f"peak RSS during the miss run: {peak:.0f} MiB, in-process {open_peak:.0f} MiB")


def measure_hits(options, nginx, name, work):
    rates = {"nginx": [], "memory": [], "disk": []}
    with Server(options.darkroom, work / "cache-hit") as memory, \
            Server(options.darkroom, work / "cache-disk", "--cache-memory-bytes", "24KiB") as disk:
        # So little memory has room for what is known of the source, but not for the picture.
        urls = {s: s.url(f"{nginx.base}/{name}", w=WIDTH, output="jpg", q=80) for s in (memory, disk)}
        body = urllib.request.urlopen(urls[memory]).read()
        (work / "static" / "variant.jpg").write_bytes(body)
        for _ in range(50):
            with urllib.request.urlopen(urls[disk]) as answer:
                answer.read()
                if "hit" in answer.headers["Cache-Status"]:
                    break
            time.sleep(0.1)
        for _ in range(options.rounds):
            rates["nginx"].append(requests_per_second(f"{nginx.base}/static/variant.jpg", 16, 3))
            rates["memory"].append(requests_per_second(urls[memory], 16, 3))
            rates["disk"].append(requests_per_second(urls[disk], 16, 3))
    medians = {name: statistics.median(values) for name, values in rates.items()}
    print(f"hit: {len(body)} bytes, 16 keep-alive connections, requests per second")
    print(f"  nginx static file {medians['nginx']:8.0f}")
    for tier in ("memory", "disk"):
        print(f"  {tier:17} {medians[tier]:8.0f}  {medians[tier] / medians['nginx']:5.2f} of nginx")


def measure_burst(options, nginx, name, work):
    before = nginx.log.read_text().count("burst")
    with Server(options.darkroom, work / "cache-burst") as server:
        url = server.url(f"{nginx.base}/{name}?burst", w=WIDTH, output="jpg", q=80)
        seconds, answers = ask_all([url] * 200, 200)
    downloads = nginx.log.read_text().count("burst") - before
    produced = sum("fwd=miss" in line and "collapsed" not in line for line in answers)
    print(f"burst: 200 requests at once for one cold variant: {downloads} download(s), {produced} production(s),"
          f" {seconds * 1000:.0f} ms in all")


def measure_large(options, nginx, work):
    large = Path(options.images) / "large.jpg"
    if not large.exists():
        return
    with Server(options.darkroom, work / "cache-large", "--max-source-pixels", "120000000",
                "--max-animation-pixels", "120000000") as server:
        idle = server.peak_mib()
        seconds, _ = ask_all([server.url(f"{nginx.base}/large.jpg", w=WIDTH, output="jpg")], 1)
        print(f"100 MP JPEG to w={WIDTH}: {seconds * 1000:.0f} ms, peak RSS {server.peak_mib():.0f} MiB"
              f" (idle {idle:.0f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", required=True)
    parser.add_argument("--darkroom", required=True)
    parser.add_argument("--floor", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--origin-port", type=int, default=18099)
    options = parser.parse_args()
    options.images = Path(options.images).resolve()
    names = sorted(p.name for p in Path(options.images).glob("[0-9]*.jpg"))
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        os.chmod(work, 0o755)
        with Nginx(options.images, options.origin_port, work) as nginx:
            measure_misses(options, nginx, names, work)
            measure_hits(options, nginx, names[0], work)
            measure_burst(options, nginx, names[1], work)
            measure_large(options, nginx, work)


if __name__ == "__main__":
    main()
