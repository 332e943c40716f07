"""The processes of the server: their descriptors and their names."""

import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL

from attack.judge import Check
from attack.lab import LOOPBACK, Lab, asked, image
from processes import children
from server import Server

LIMITS, REQUESTS, AT_ONCE = (64, 128, 256), 120, 40
ALLOWED = {200, 503}
ZYGOTE, WORKER = "darkroom-zygote", "darkroom-worker"
FORKS, SETTLE_SECONDS = 30, 0.3
MOMENTS = 3
"""How many of the workers may be seen in the microseconds between their fork and their new name."""


def few_descriptors(lab: Lab) -> Iterator[Check]:
    """With a low limit of open files, a server refuses to start or answers 40 requests at a time with 200 or 503."""
    for limit in LIMITS:
        try:
            with lab.server(LOOPBACK, prefix=("sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh")) as server:
                yield from many_requests(lab, server, limit)
        except ChildProcessError as error:
            # Server has read its first line, and found none.
            is_named = "did not start" in str(error) and "file" in str(error)
            yield Check(is_named and limit < LIMITS[-1], f"ulimit -n {limit}: {error} (a sentence about open files)")


def many_requests(lab: Lab, server: Server, limit: int) -> Iterator[Check]:
    paths = [image(lab.origin.url(f"photo/{limit}-{number}.jpg"), "w=40") for number in range(REQUESTS)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda path: asked(server, path), paths))
    seen = Counter(f"{answer.status} {answer.problem}".strip() for answer in answers)
    holds = {answer.status for answer in answers} <= ALLOWED
    yield Check(holds, f"ulimit -n {limit}, {REQUESTS} requests: {dict(seen)} (200 or 503)")
    after = asked(server, image(lab.origin.url(f"photo/{limit}-after.jpg"), "w=40"))
    yield Check(after.status == 200, f"ulimit -n {limit}, one request afterwards: {after.status} {after.problem} (200)")


def names_of_workers(lab: Lab) -> Iterator[Check]:
    """A worker has its own name, not the zygote's, from the moment on at which it is forked."""
    with lab.server(LOOPBACK) as server:
        asked(server, image(lab.origin.url("photo/first.jpg"), "w=40"))
        found = {pid: name_of(pid) for pid in descendants(server)}
        zygotes = [pid for pid, name in found.items() if name == ZYGOTE]
        yield Check(
            len(zygotes) == 1 and set(found.values()) == {ZYGOTE, WORKER},
            f"names of the child processes: {sorted(found.values())} (one {ZYGOTE}, otherwise {WORKER})",
        )
        seen = [names_of_next_workers(lab, server, zygotes[0], number) for number in range(FORKS)]
    total = Counter(name for names in seen for name in names)
    text = f"names of {FORKS} workers from their first moment on: {dict(total)} (at most {MOMENTS} {ZYGOTE})"
    yield Check(total[WORKER] == FORKS and total[ZYGOTE] <= MOMENTS, text)


def descendants(server: Server) -> list[int]:
    return [process.pid for process in children(server.process.pid) if process.state != "Z"]


def name_of(pid: int | str) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return ""


def names_of_next_workers(lab: Lab, server: Server, zygote: int, number: int) -> set[str]:
    """Kills all workers, requests an image, and reads the names of the workers that are forked meanwhile."""
    for pid in descendants(server):
        if pid != zygote:
            os.kill(pid, SIGKILL)
    time.sleep(SETTLE_SECONDS)
    path = image(lab.origin.url(f"photo/{number}.jpg"), "w=40")
    request = threading.Thread(target=asked, args=(server, path))
    # The kernel lists children by the thread that they belong to: the zygote's.
    lists = list(Path(f"/proc/{server.process.pid}/task").glob("*/children"))
    own = next(file for file in lists if str(zygote) in file.read_text().split())
    seen: set[str] = set()
    request.start()
    while request.is_alive():
        seen |= {name_of(pid) for pid in own.read_text().split() if pid != str(zygote)}
    return seen - {""}


ATTACKS = [few_descriptors, names_of_workers]
