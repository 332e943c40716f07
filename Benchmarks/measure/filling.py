"""Fills caches with copies of one image that each server has cached itself, which takes seconds for 10,000 images.

A copy has the URL, the keys and the checksums of a source of its own, so a server cannot tell it from an entry that it has
written. The derivation of keys and checksums is repeated here, and compared with the entry of the server.
"""

import os
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from hashlib import md5, sha256
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path

from servers import Darkroom

OUTPUT_KEY, CHAIN_KEY = "jpg(-,-,-)", "12:orient(auto)32:resize(400,-,inside,shrink,fast)4:srgb"
"""Output and chain of `Darkroom.path` in a variant key."""
BODY_BYTES = 562 * 32
BLOCK_BYTES, BATCH = 4096, 1_000
CHECKSUM, SOURCE, ENTRY = (slice(8 + 32 * number, 40 + 32 * number) for number in range(3))
"""The places of a file's keys."""
LENGTHS = slice(120, 152)
"""The place of the lengths of labels, metadata, body and companion, at the end of the header."""


def random_url(base: str, number: int) -> str:
    """Of the same length for all numbers, so that one can be replaced by another in encoded values."""
    return f"{base}/random/{number:07}.jpg"


def body(number: int) -> bytes:
    """Bytes that are different for each number, like the bytes of images."""
    return sha256(number.to_bytes(8)).digest() * (BODY_BYTES // 32)


def key(kind: str, *parts: bytes | int | str) -> bytes:
    joined = b""
    for part in (kind, *parts):
        if isinstance(part, str):
            joined += len(part).to_bytes(8) + part.encode()
        else:
            joined += part.to_bytes(8) if isinstance(part, int) else part
    return sha256(joined).digest()


class DarkroomCopies:
    """The record and the variant of the image with the number 0, as a server has cached them, and copies for others."""

    def __init__(self, server: Darkroom, base: str) -> None:
        self.base = base
        self.epoch = server.explanation(random_url(base, 0))["keys"]["encoder_epoch"]

    def fill(self, cache: Path, count: int) -> None:
        """Adds the images from 1 to `count` to the cache of a server that has ended."""
        index = sqlite3.connect(cache / "index.sqlite", isolation_level=None)
        self.read_sample(index, cache)
        for folder in range(1 << 12):
            (cache / f"entries/{folder:03x}").mkdir(mode=0o700, exist_ok=True)
        created = index.execute("SELECT sql FROM sqlite_master WHERE name = 'entry_by_last_use'").fetchone()[0]
        index.execute("PRAGMA journal_mode = MEMORY")
        index.execute("BEGIN EXCLUSIVE")
        index.execute("DROP INDEX entry_by_last_use")
        labels: list[tuple[bytes, bytes, int]] = []
        blocks = 0
        # In the order of the keys, so that rows are appended.
        numbers = sorted(range(1, count + 1), key=lambda number: self.keys(number)[0])
        for rows, copied, written in in_processes(self.write_copies, numbers, cache):
            index.executemany(f"INSERT INTO entry VALUES ({', '.join('?' * len(self.record))})", rows)
            labels += copied
            blocks += written
        index.executemany("INSERT INTO label VALUES (?, ?, ?)", sorted(labels))
        index.execute(created)
        index.execute("UPDATE state SET entries = entries + ?, bytes = bytes + ?", (2 * count, blocks * BLOCK_BYTES))
        index.execute("COMMIT")
        index.execute("PRAGMA journal_mode = WAL")
        index.close()

    def write_copies(self, numbers: list[int], cache: Path) -> tuple[list[tuple], list[tuple[bytes, bytes, int]], int]:
        """Writes the files of these images, and returns their rows, their labels, and the blocks that the files take."""
        rows, labels, blocks = [], [], 0
        for number in numbers:
            record, variant, file = self.copy(number)
            source, entry = variant[:2]
            write(f"{cache}/entries/{source.hex()[:3]}/{source.hex()}{entry.hex()}", file, 0o600)
            blocks += -(-len(file) // BLOCK_BYTES)
            rows += sorted([record, variant], key=lambda row: row[1])
            labels += [(self.renamed(label, number), source, 1) for label in self.labels]
        return rows, labels, blocks

    def read_sample(self, index: sqlite3.Connection, cache: Path) -> None:
        source, record, variant = self.keys(0)
        rows = "SELECT * FROM entry WHERE source = ? AND entry = ?"
        self.record = index.execute(rows, (source, record)).fetchone()
        self.variant = index.execute(rows, (source, variant)).fetchone()
        self.labels = [label for (label,) in index.execute("SELECT label FROM label WHERE source = ?", (source,))]
        if self.record and self.variant:
            self.file = (cache / f"entries/{source.hex()[:3]}/{(source + variant).hex()}").read_bytes()
            _, metadata, size, companion = struct.unpack(">4Q", self.file[LENGTHS])
            self.companion_end = LENGTHS.stop + companion
            self.body_start = self.companion_end + metadata
            if self.copy(0, self.file[self.body_start:]) == (self.record, self.variant, self.file):
                return
        raise SystemExit("keys or entries have another form than Benchmarks/measure/filling.py makes")

    def keys(self, number: int) -> tuple[bytes, bytes, bytes]:
        """The keys of the source, its record and its variant."""
        source = key("source", random_url(self.base, number))
        return source, key("record", source), key("variant", source, 0, 1, 0, OUTPUT_KEY, self.epoch, CHAIN_KEY)

    def copy(self, number: int, content: bytes = b"") -> tuple[tuple, tuple, bytes]:
        """The rows of record and variant, and the file of the variant."""
        source, record, variant = self.keys(number)
        content = content or body(number)
        labels, metadata = (self.renamed(part, number) for part in self.record[4:6])
        checksum = sha256(labels + metadata + sha256(b"").digest()).digest()
        row = (source, record, 0, checksum, labels, metadata, *self.record[6:])
        companion = bytearray(self.renamed(self.file[LENGTHS.stop:self.companion_end], number))
        companion[CHECKSUM], companion[SOURCE], companion[ENTRY] = checksum, source, record
        digest = sha256(content)
        # The metadata has the hash of the body as text, which is the validator of responses.
        old = sha256(self.file[self.body_start:]).hexdigest().encode()
        metadata = self.file[self.companion_end:self.body_start].replace(old, digest.hexdigest().encode())
        checksum = sha256(companion + metadata + digest.digest()).digest()
        header = bytearray(self.file[:LENGTHS.stop])
        header[CHECKSUM], header[SOURCE], header[ENTRY] = checksum, source, variant
        header[LENGTHS] = struct.pack(">4Q", 0, len(metadata), len(content), len(companion))
        file = bytes(header + companion + metadata + content)
        return row, (source, variant, len(file), checksum, *self.variant[4:]), file

    def renamed(self, encoded: bytes, number: int) -> bytes:
        return encoded.replace(random_url(self.base, 0).encode(), random_url(self.base, number).encode())


def fill_nginx(cache: Path, sample: str, count: int) -> None:
    """Adds the images from 1 to `count` to a cache of nginx, which has cached the image 0 under the key `sample`."""
    (file,) = (path for path in cache.glob("*/*/*") if path.is_file())
    entry, start = file.read_bytes(), entry_bytes(sample)
    if start not in entry or entry.count(checksum(sample)) != 1:
        raise SystemExit("cached files of nginx have another form than Benchmarks/measure/filling.py makes")
    for _ in in_processes(write_nginx_copies, nginx_names(sample, count), cache, sample, entry[:-BODY_BYTES]):
        pass


def write_nginx_copies(names: list[tuple[str, int]], cache: Path, sample: str, head: bytes) -> None:
    for name, number in names:
        wanted = nginx_key(sample, number)
        folder = f"{cache}/{name[-1]}/{name[-3:-1]}"
        os.makedirs(folder, exist_ok=True)
        copied = head.replace(entry_bytes(sample), entry_bytes(wanted)).replace(checksum(sample), checksum(wanted))
        write(f"{folder}/{name}", copied + body(number), 0o644)


def nginx_key(sample: str, number: int) -> str:
    return f"{sample[:-11]}{number:07}.jpg"


def nginx_names(sample: str, count: int) -> list[tuple[str, int]]:
    """The names of files, folder by folder."""
    names = [(md5(nginx_key(sample, number).encode()).hexdigest(), number) for number in range(1, count + 1)]
    return sorted(names, key=lambda name: (name[0][-1], name[0][-3:-1]))


def entry_bytes(key: str) -> bytes:
    return f"\nKEY: {key}\n".encode()


def checksum(key: str) -> bytes:
    return zlib.crc32(key.encode()).to_bytes(4, "little")


def in_processes(work: Callable, items: list, *arguments: object) -> Iterator:
    """The results of work on parts of a list, in its order, from as many processes as there are processors."""
    parts = [items[start:start + BATCH] for start in range(0, len(items), BATCH)]
    with ProcessPoolExecutor(mp_context=get_context("fork")) as processes:
        yield from processes.map(work, parts, *(repeat(argument) for argument in arguments))


def write(path: str, content: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    os.write(descriptor, content)
    os.close(descriptor)
