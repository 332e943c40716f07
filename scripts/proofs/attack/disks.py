"""Volumes without space or inodes, and cache folders in which others have put something."""

import os
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from attack.judge import Check
from attack.lab import LOOPBACK, Lab, asked, image
from attack.proof import NotSupported
from processes import PROC, waited_for
from server import TOKEN, Answer, Server

VOLUMES = {"inodes": "size=64m,nr_inodes=150", "bytes": "size=12m"}
IMAGES, RECENT = 150, 10
SETTINGS = (LOOPBACK, "--cache-memory-bytes=0", "--cache-disk-bytes=1GiB")
"""A budget of which the volume has only a part."""
SETTLE_SECONDS, REFUSED_SECONDS = 20, 20
STATE_FILES = ("lock", "index.sqlite", "index.sqlite-wal", "index.sqlite-shm")
NO_SPACE = 1 << 16


def small_volumes(lab: Lab) -> Iterator[Check]:
    """On a volume with fewer inodes or bytes than the budget, old entries are evicted and new ones stored; nothing fails."""
    lab.origin.documents["photo"] = lambda _: lab.photograph(800, 600)
    for name, options in VOLUMES.items():
        with on_volume(lab, options) as (server, _):
            paths = [image(lab.origin.url(f"photo/{name}-{number}.jpg"), "w=700&output=jpeg&q=90") for number in range(IMAGES)]
            failed = [answer.status for path in paths if (answer := asked(server, path)).status != 200]
            yield Check(not failed, f"{IMAGES} images on a volume with {options}: {len(failed)} failed {failed[:3]} (0)")
            kept = waited_for(lambda: all(is_hit(asked(server, path)) for path in paths[-RECENT:]), SETTLE_SECONDS)
            yield Check(kept, f"the last {RECENT} are hits from disk: {kept} (True)")
            yield ready(server, "the server afterwards")
            evicted = counted(server, 'darkroom_cache_evictions_total{tier="disk"}')
            yield Check(evicted > 0, f"evicted: {evicted:.0f} (more than 0)")


def full_volume(lab: Lab) -> Iterator[Check]:
    """While others fill the volume, images are answered; once there is space again, they are stored again."""
    for name, options in VOLUMES.items():
        with on_volume(lab, options) as (server, volume):
            path = lambda when, number: image(lab.origin.url(f"photo/{name}-{when}-{number}.jpg"), "w=40")
            asked(server, path("before", 0))
            filled = fill_inodes if name == "inodes" else fill_bytes
            filled(volume)
            statuses = [asked(server, path("full", number)).status for number in range(RECENT)]
            yield Check(statuses == [200] * RECENT, f"volume without {name}: {statuses} (each 200)")
            alive = asked(server, "/health/live").status
            yield Check(alive == 200, f"/health/live meanwhile: {alive} (200)")
            shutil.rmtree(volume / "others", ignore_errors=True)
            stored = waited_for(lambda: is_hit(again(server, path("after", time.monotonic_ns()))), SETTLE_SECONDS)
            yield Check(stored, f"an image is stored once there is space: {stored} (True)")
            yield ready(server, "the server afterwards")


def folders_of_others(lab: Lab) -> Iterator[Check]:
    """A cache folder that others could write to, or that is a link, stops the start with a sentence and stays untouched."""
    makers: dict[str, Callable[[Path], None]] = {
        "is a symbolic link": link, "can be written by all users": writable, "belongs to another user": foreign,
    }
    for reason, make in makers.items():
        if make is foreign and os.geteuid():
            continue
        folder = lab.new_folder()
        target = folder / "cache"
        make(target)
        status, errors = started(lab, target)
        inside = os.listdir(target)
        holds = status == 1 and reason in errors and not inside
        yield Check(holds, f"{reason}: {status}, {errors!r}, {len(inside)} files in it (1, that sentence, 0)")


def planted_files(lab: Lab) -> Iterator[Check]:
    """A pipe, a device or a link in place of a state file delays nothing and is not followed; images are answered."""
    for name in STATE_FILES:
        for kind, plant in (("a pipe", os.mkfifo), ("a device", device), ("a link", dangling)):
            if plant is device and os.geteuid():
                continue
            folder = lab.new_folder()
            (cache := folder / "cache").mkdir(mode=0o700)
            plant(cache / name)
            began = time.monotonic()
            status, errors = started(lab, cache)
            seconds, outside = time.monotonic() - began, (folder / "outside").exists()
            is_refused = status == 1 and errors.startswith("Error: cache-dir: ")
            holds = (status == 0 or is_refused) and seconds <= REFUSED_SECONDS and not outside
            text = f"{kind} at {name}: {errors!r} after {seconds:.1f} s" if status else f"{kind} at {name}: starts and answers"
            yield Check(holds, f"{text} (answers, or a sentence, within {REFUSED_SECONDS} s)")


def replaced_folder(lab: Lab) -> Iterator[Check]:
    """A cache folder that is replaced by a link while the server runs is not followed, and is made again without it."""
    folder = lab.new_folder()
    cache, elsewhere = folder / "cache", folder / "elsewhere"
    elsewhere.mkdir()
    with lab.server(*SETTINGS, folder=folder) as server:
        path = lambda number: image(lab.origin.url(f"photo/replaced-{number}.jpg"), "w=40")
        asked(server, path(0))
        deadline = time.monotonic() + SETTLE_SECONDS
        while not cache.is_symlink() and time.monotonic() < deadline:
            # The server may make the folder again in between.
            shutil.rmtree(cache, ignore_errors=True)
            with suppress(FileExistsError):
                cache.symlink_to(elsewhere)
        statuses = [asked(server, path(number)).status for number in range(1, RECENT)]
        inside = os.listdir(elsewhere)
        text = f"behind the link: {statuses}, {len(inside)} files written to its target"
        yield Check(set(statuses) == {200} and not inside, f"{text} (each 200, 0)")
        cache.unlink()
        stored = waited_for(lambda: is_hit(again(server, path(time.monotonic_ns()))), SETTLE_SECONDS)
        yield Check(stored, f"an image is stored once the link is gone: {stored} (True)")


@contextmanager
def on_volume(lab: Lab, options: str) -> Iterator[tuple[Server, Path]]:
    """A server whose cache folder is on a volume that only the server sees, and the path to the volume from here."""
    folder = lab.new_folder()
    (mounted := folder / "volume").mkdir()
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    script = f'mount -t tmpfs -o mode=755,{options} tmpfs "{mounted}" && exec "$@"'
    prefix = ("unshare", *user, "--mount", "sh", "-c", script, "sh")
    if not shutil.which("unshare") or subprocess.run([*prefix, "true"], capture_output=True).returncode:
        raise NotSupported("neither root nor user namespaces may mount a volume here")
    with lab.server(*SETTINGS, f"--cache-dir={mounted / 'cache'}", folder=folder, prefix=prefix) as server:
        yield server, PROC / str(server.process.pid) / "root" / mounted.relative_to("/")


def fill_bytes(volume: Path) -> None:
    (volume / "others").mkdir()
    with suppress(OSError), (volume / "others/file").open("wb", buffering=0) as file:
        while file.write(bytes(NO_SPACE)):
            pass


def fill_inodes(volume: Path) -> None:
    (volume / "others").mkdir()
    with suppress(OSError):
        for number in range(NO_SPACE):
            (volume / f"others/{number}").touch()


def again(server: Server, path: str) -> Answer:
    """The second response for an image that was stored, if it was."""
    asked(server, f"{path}&wait=stored")
    return asked(server, path)


def is_hit(answer: Answer) -> bool:
    return answer.status == 200 and "detail=disk" in answer.headers.get("cache-status", "")


def ready(server: Server, what: str) -> Check:
    answer = asked(server, "/health/ready")
    return Check(answer.status == 200, f"{what}: /health/ready {answer.status} {answer.problem} (200)")


def counted(server: Server, series: str) -> float:
    page = asked(server, "/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).body.decode()
    found = re.search(rf"^{re.escape(series)} ([\d.e+]+)$", page, re.MULTILINE)
    return float(found[1]) if found else 0


def started(lab: Lab, cache: Path) -> tuple[int, str]:
    """The exit status and the errors of a server that does not start; 0 if it starts and answers with an image."""
    server = Server(lab.binary, cache.parent, LOOPBACK, "--log-level=critical", *lab.settings)
    try:
        server.wait_until_it_listens()
    except ChildProcessError:
        return server.process.returncode, server.log_end().strip().splitlines()[-1]
    status = asked(server, image(lab.origin.url("photo/1.jpg"), "w=40")).status
    return (0 if status == 200 and server.stop() == 0 else status), ""


def link(path: Path) -> None:
    (path.parent / "target").mkdir()
    path.symlink_to(path.parent / "target")


def writable(path: Path) -> None:
    path.mkdir()
    path.chmod(0o777)


def foreign(path: Path) -> None:
    path.mkdir()
    os.chown(path, 12_345, 12_345)


def device(path: Path) -> None:
    os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(1, 5))


def dangling(path: Path) -> None:
    path.symlink_to(path.parent.parent / "outside")


ATTACKS = [small_volumes, full_volume, folders_of_others, planted_files, replaced_folder]
