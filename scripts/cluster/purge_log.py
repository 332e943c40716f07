"""Purges in the log of the shared store that no node of this run has made, such as purges of the last weeks.

`SharedObject` and `PurgeLog` define their format, in `Sources/Store/Shared`.
"""

import hashlib
import json
import random
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from typing import NamedTuple
from urllib.parse import quote

from store import Store

IMAGES, PURGES, SUMMARIES = "1/s/", "1/p/", "1/f/"
MARK, PURGE_KIND = b"DKRM\x01", 5
WRITERS = 8


class LoggedPurge(NamedTuple):
    at: float
    """Seconds since 1970."""
    kind: str
    """`host`, `tag`, `prefix`, `everything` or `url`."""
    value: str | None = None


def write(store: Store, folder: str, purges: Iterable[LoggedPurge]) -> None:
    objects = [encoded(purge) for purge in purges]
    with ThreadPoolExecutor(WRITERS) as writers:
        for done in [writers.submit(put, store, folder, objects[number::WRITERS]) for number in range(WRITERS)]:
            done.result()


def put(store: Store, folder: str, objects: list[tuple[str, bytes]]) -> None:
    """Over one connection, since there may be very many."""
    with closing(HTTPConnection(store.address, timeout=60)) as connection:
        for name, body in objects:
            path = quote(f"/{store.bucket}/{folder}/{name}")
            connection.request("PUT", path, body, store.signed("PUT", store.address, path, "", body))
            response = connection.getresponse()
            response.read()
            if response.status != 200:
                raise OSError(f"{path} was not written: {response.status}")


def encoded(purge: LoggedPurge) -> tuple[str, bytes]:
    """Name and content of a purge's object."""
    milliseconds, number = int(purge.at * 1000), random.getrandbits(64)
    name = f"{PURGES}{milliseconds:016x}-{number:016x}-{'s' if purge.kind == 'url' else 'l'}"
    key = hashlib.sha256(name.encode()).digest()
    value = {} if purge.value is None else {"value": purge.value}
    message = json.dumps({"kind": purge.kind, "soft": False} | value).encode()
    time_bytes = milliseconds.to_bytes(8)
    fields = bytes([PURGE_KIND]) + key + key + time_bytes + time_bytes + sized(b"") + sized(message)
    fields += (0).to_bytes(8) + hashlib.sha256(b"").digest()
    head = MARK + (len(fields) + 32).to_bytes(4) + fields
    return name, head + hashlib.sha256(head).digest()


def sized(data: bytes) -> bytes:
    return len(data).to_bytes(4) + data


def spread(count: int, days: float, hours: float, make) -> list[LoggedPurge]:
    """So many purges, evenly from so many days ago until so many hours ago; `make` gives kind and value of each."""
    now, first, last = time.time(), days * 86_400, hours * 3_600
    step = (first - last) / max(1, count - 1)
    return [LoggedPurge(now - first + number * step, *make(number)) for number in range(count)]
