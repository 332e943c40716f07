"""Forged and damaged objects in the store that several nodes share."""

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attack import forged
from attack.forged import PURGES, Forged
from attack.judge import Check
from attack.lab import LOOPBACK, Lab, asked, image
from attack.proof import NotSupported
from server import ROOT, TOKEN, Server, encoded

sys.path.append(str(ROOT / "scripts/cluster"))

from store import Store  # noqa: E402

FOLDER = "nodes"
POLL_SECONDS = 1
POLLS = 4
"""Intervals of purge-poll after which a node has read what is new."""
SEEN_WIDTH = 640
"""A possible width, which shows that the forged document is read."""
IIIF_PATHS = ("info.json", "full/60,/0/default.jpg", "pct:10,10,50,50/max/0/default.png", "0,0,9,9/^!400,400/30/gray.webp")
ADMIN = {"Authorization": f"Bearer {TOKEN}"}


class Cluster:
    """A store, and one node that starts again and again."""

    def __init__(self, lab: Lab, store: Store) -> None:
        self.lab, self.store, self.folder = lab, store, lab.new_folder()
        self.path = image(lab.origin.url("photo/1.jpg"), "w=40")
        self.settings = (
            LOOPBACK, f"--shared-store=s3://{store.bucket}/{FOLDER}", f"--s3-endpoint=http://{store.address}",
            f"--s3-region={store.region}", "--s3-path-style=true", f"--purge-poll={POLL_SECONDS}s", "--iiif=true",
        )

    def node(self, *, has_disk: bool = True):
        if not has_disk:
            shutil.rmtree(self.folder / "cache", ignore_errors=True)
        return self.lab.server(*self.settings, folder=self.folder)

    def put(self, name: str, data: bytes) -> None:
        if (answer := self.store.ask("PUT", f"{FOLDER}/{name}", body=data)).status != 200:
            raise OSError(f"the store answered {answer.status} to PUT {name}")

    def get(self, name: str) -> Forged:
        return Forged.read(self.store.ask("GET", f"{FOLDER}/{name}").body)

    def names(self, prefix: str) -> list[str]:
        return [key.removeprefix(f"{FOLDER}/") for key in self.store.keys(f"{FOLDER}/{prefix}")]

    def answers(self, server: Server, when: str, expected: bytes, *, is_hit: bool = False) -> Check:
        """Whether the node still runs and answers with the image."""
        answer = asked(server, self.path, timeout=15)
        status = answer.headers.get("cache-status", "")
        holds = answer.status == 200 and answer.body == expected and (not is_hit or ";hit" in status)
        bound = "200, the same bytes" + (", a hit" if is_hit else "")
        ended = server.process.poll()
        end = "" if ended is None else f", the node ended with status {ended}"
        return Check(holds, f"{when}: {answer.status}, {len(answer.body)} bytes, {status}{end} ({bound})")


@contextmanager
def cluster(lab: Lab) -> Iterator[tuple[Cluster, bytes]]:
    """A store with an image and a purge in it, and the image's bytes."""
    directory = lab.folder / "store"
    try:
        store = Store(directory)
    except ChildProcessError as error:
        raise NotSupported(str(error)) from error
    os.environ.update(store.credentials)
    try:
        found = Cluster(lab, store)
        with found.node() as server:
            first = asked(server, found.path)
            store.settled(FOLDER)
            purge = asked(server, "/cache?host=other.example", "DELETE", headers=ADMIN)
            if first.status != 200 or purge.status != 200:
                raise OSError(f"the node answered {first.status} and {purge.status} before the attack")
        yield found, first.body
    finally:
        store.end()


def forged_purges(lab: Lab) -> Iterator[Check]:
    """A purge with an impossible time stops no node, neither while it runs nor when it starts, and purges nothing."""
    with cluster(lab) as (nodes, expected):
        real = nodes.get(nodes.names(PURGES)[0])
        with nodes.node() as server:
            for name, data in forged.purges(real).items():
                nodes.put(name, data)
            time.sleep(POLLS * POLL_SECONDS)
            yield nodes.answers(server, "a running node", expected)
            yield nodes.answers(server, "the same node once more", expected, is_hit=True)
        for has_disk in (True, False):
            yield from nodes_after_start(nodes, expected, has_disk)


def forged_objects(lab: Lab) -> Iterator[Check]:
    """An object with impossible times, lengths or kinds, or without any meaning, counts as missing."""
    with cluster(lab) as (nodes, expected):
        names = nodes.names("1/s/")
        real = {name: nodes.get(name) for name in names}
        count = max(len([*forged.implausible(one), *forged.garbage(one)]) for one in real.values())
        for number in range(count):
            # What the last node has written in their place.
            for name in set(nodes.names("1/s/")) - set(real):
                nodes.store.ask("DELETE", f"{FOLDER}/{name}")
            for name, one in real.items():
                nodes.put(name, [*forged.implausible(one), *forged.garbage(one)][number])
            with nodes.node(has_disk=False) as server:
                check = nodes.answers(server, f"forged object {number} of {count} in place of {len(names)}", expected)
            if not check.holds:
                yield check
        yield Check(True, f"{count} forged objects in place of each of {len(names)}, read by new nodes")


def garbage_beside(lab: Lab) -> Iterator[Check]:
    """Garbage at the names of purges and records, and at names of no meaning, is skipped."""
    with cluster(lab) as (nodes, expected):
        source = nodes.names("1/s/")[0].rpartition("/")[0]
        real = nodes.get(nodes.names(PURGES)[0])
        for number, data in enumerate(forged.garbage(real)):
            for name in (
                f"{PURGES}{number}", f"{PURGES}{'z' * 16}-{number:016x}-l", f"{PURGES}-{number}--",
                f"{source}/r-{number:016x}-0", f"{source}/r-{'0' * 16}-{number:016x}", f"{source}/x{number}",
                f"1/{number}", f"x{number}",
            ):
                nodes.put(name, data)
        yield from nodes_after_start(nodes, expected, has_disk=True)
        yield from nodes_after_start(nodes, expected, has_disk=False)


def lying_documents(lab: Lab) -> Iterator[Check]:
    """A document about a source, as a lying worker or a forged object states it, ends no node that serves IIIF."""
    path = f"/iiif/{encoded(lab.origin.url('photo/1.jpg'))}"
    with cluster(lab) as (nodes, expected):
        with nodes.node() as server:
            asked(server, f"{path}/info.json")
            nodes.store.settled(FOLDER)
        objects = {name: nodes.get(name) for name in nodes.names("1/s/")}
        name, real = next((name, one) for name, one in objects.items() if b'"upright_width"' in one.body)
        for width in (SEEN_WIDTH, *forged.LYING_WIDTHS):
            nodes.put(name, forged.stating(real, width))
            with nodes.node(has_disk=False) as server:
                statuses = [asked(server, f"{path}/{rest}").status for rest in IIIF_PATHS]
                seen = asked(server, f"{path}/info.json")
                yield Check(0 not in statuses, f"upright_width of {width}: {statuses} (answers)")
                if width == SEEN_WIDTH:
                    is_read = f'"width":{width}'.encode() in seen.body.replace(b" ", b"")
                    yield Check(is_read, f"the node shows the forged width of {width}: {is_read} (True, so that lies are read)")
                yield nodes.answers(server, "the same node, another path", expected)


def nodes_after_start(nodes: Cluster, expected: bytes, has_disk: bool) -> Iterator[Check]:
    which = "a node started again" if has_disk else "a new node"
    with nodes.node(has_disk=has_disk) as server:
        time.sleep(POLLS * POLL_SECONDS)
        yield nodes.answers(server, which, expected)
        yield nodes.answers(server, f"{which}, once more", expected, is_hit=True)


ATTACKS = [forged_purges, forged_objects, garbage_beside, lying_documents]
