"""Load: curl for requests that are sent once each, wrk for one request that is repeated."""

import re
import subprocess
import tempfile
import time
from typing import NamedTuple


class Rate(NamedTuple):
    per_second: float
    requests: int
    refused: int
    """Responses with a status of 400 or more."""
    median: float
    """The median time of a response in milliseconds."""
    slowest: float
    """The 99th percentile."""


def fetch_all(urls: list[str], concurrency: int) -> tuple[float, list[str]]:
    """Requests every URL once, and returns the wall-clock seconds and the `Cache-Status` of each response."""
    with tempfile.NamedTemporaryFile("w", suffix=".curl") as config:
        for url in urls:
            config.write(f'url = "{url}"\noutput = "/dev/null"\n')
        config.flush()
        start = time.monotonic()
        result = subprocess.run(
            ["curl", "--silent", "--parallel", "--parallel-immediate", "--parallel-max", str(concurrency),
             "--write-out", "%{http_code} %header{cache-status}\\n", "--config", config.name],
            capture_output=True, text=True, check=False)
        seconds = time.monotonic() - start
    answers = result.stdout.splitlines()
    bad = [line for line in answers if not line.startswith("200")]
    if bad or len(answers) != len(urls):
        raise SystemExit(f"{len(bad)} of {len(urls)} requests failed, {len(answers)} were answered: {bad[:3]}")
    return seconds, answers


def wrk(url: str, connections: int, seconds: float, script: str = "") -> Rate:
    """Sends requests from one thread over kept-alive connections for whole seconds."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as lua:
        lua.write(script)
        lua.flush()
        command = ["wrk", "--latency", "-t1", f"-c{connections}", f"-d{max(round(seconds), 1)}s", "--timeout", "10s"]
        out = subprocess.run(
            [*command, *(["-s", lua.name] if script else []), url], capture_output=True, text=True, check=True).stdout
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+)", out)
    if errors and sum(map(int, errors.groups())):
        raise SystemExit(out)
    return Rate(
        float(re.search(r"Requests/sec:\s+([0-9.]+)", out)[1]), int(re.search(r"(\d+) requests in", out)[1]),
        int(refused[1]) if refused else 0, percentile(out, 50), percentile(out, 99))


def percentile(out: str, percent: int) -> float:
    value, unit = re.search(rf"^\s+{percent}%\s+([0-9.]+)(us|ms|s|m)$", out, re.MULTILINE).groups()
    return float(value) * {"us": 1e-3, "ms": 1, "s": 1e3, "m": 60e3}[unit]


def served(rate: Rate) -> Rate:
    """The rate of a run in which every response must be an image."""
    if rate.refused:
        raise SystemExit(f"{rate.refused} of {rate.requests} requests failed")
    return rate
