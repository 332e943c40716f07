"""Resources held by a server and its child processes, from /proc."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
TICKS = os.sysconf("SC_CLK_TCK")


class Process(NamedTuple):
    pid: int
    parent: int
    state: str


def children(pid: int) -> list[Process]:
    """All descendants, including zombies."""
    everything = [process for entry in PROC.iterdir() if entry.name.isdigit() and (process := read(int(entry.name)))]
    found, parents = [], {pid}
    while more := [process for process in everything if process.parent in parents and process not in found]:
        found += more
        parents = {process.pid for process in more}
    return found


def read(pid: int) -> Process | None:
    with suppress(OSError, IndexError, ValueError):
        fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        return Process(pid, int(fields[1]), fields[0])
    return None


class Holdings(NamedTuple):
    """Sums over the whole tree."""

    descriptors: int
    threads: int
    processes: int
    zombies: int
    memory_mib: int

    @staticmethod
    def of(pid: int) -> "Holdings":
        tree = children(pid)
        pids = [pid] + [process.pid for process in tree if process.state != "Z"]
        return Holdings(
            sum(count(PROC / str(one) / "fd") for one in pids),
            sum(count(PROC / str(one) / "task") for one in pids),
            len(pids),
            sum(process.state == "Z" for process in tree),
            sum(map(own_memory_kib, pids)) // 1024,
        )

    def leaks_since(self, before: "Holdings") -> list[str]:
        """Resources that grew more than varying load explains."""
        bounds = {
            # The number of idle connections to origins varies.
            "descriptors": before.descriptors + 40,
            "threads": before.threads + 8,
            "processes": before.processes,
            "zombies": 0,
            "memory_mib": before.memory_mib * 3 // 2 + 96,
        }
        return [
            f"{name.replace('_', ' ')}: {getattr(self, name)}, {getattr(before, name)} before, at most {bound}"
            for name, bound in bounds.items()
            if getattr(self, name) > bound
        ]


def count(folder: Path) -> int:
    with suppress(OSError):
        return len(os.listdir(folder))
    return 0


def own_memory_kib(pid: int, kinds: tuple[str, ...] = ("Pss",)) -> int:
    """By default the proportional set size, which counts shared memory once."""
    with suppress(FileNotFoundError, ProcessLookupError):
        try:
            lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()
        except PermissionError:
            # Only root sees it of a sandboxed worker. Its resident set is an upper bound.
            kinds, lines = ("VmRSS",), (PROC / str(pid) / "status").read_text().splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith(tuple(f"{kind}:" for kind in kinds)))
    return 0


class Memory(NamedTuple):
    """Memory of a tree of processes, in units of 10⁶ bytes."""

    pss: float
    private_dirty: float
    root_pss: float
    """That of the first process alone."""


def memory_mb(pid: int) -> Memory:
    pids = [pid, *(process.pid for process in children(pid) if process.state != "Z")]
    pss = [own_memory_kib(one) * 1024 / 1e6 for one in pids]
    dirty = sum(own_memory_kib(one, ("Private_Dirty", "Private_Hugetlb")) for one in pids)
    return Memory(sum(pss), dirty * 1024 / 1e6, pss[0])


def cpu_seconds(pid: int) -> tuple[float, float]:
    """CPU time of a process itself and of all its descendants, including reaped ones."""
    while True:
        own, reaped = times(pid)
        living = sum(sum(times(process.pid)) for process in children(pid))
        # Otherwise a descendant was reaped in between, and its time is in neither number, or in both.
        if times(pid)[1] == reaped:
            return own, reaped + living


def times(pid: int) -> tuple[float, float]:
    """CPU seconds of a process and of its reaped children."""
    with suppress(OSError):
        fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        user, system, reaped_user, reaped_system = (int(ticks) / TICKS for ticks in fields[11:15])
        return user + system, reaped_user + reaped_system
    return 0.0, 0.0


def written_bytes(pid: int) -> int:
    """What a process has passed to write(2) and its kin so far, to files and sockets."""
    return int(calls(pid)["wchar"])


def calls(pid: int) -> dict[str, str]:
    """The counts of /proc/PID/io."""
    return dict(line.split(": ") for line in (PROC / str(pid) / "io").read_text().splitlines())


class Steps(NamedTuple):
    """What a process has done so far, without its children."""

    switches: int
    """Context switches of the threads that have not ended, voluntary and involuntary ones."""
    faults: int
    """Page faults without a read from disk."""
    reads: int
    """System calls that read from files or sockets by read(2) and its kin; not recv(2)."""
    writes: int

    @staticmethod
    def of(pid: int) -> "Steps":
        process = PROC / str(pid)
        switches = 0
        for thread in (process / "task").iterdir():
            with suppress(OSError):
                lines = (thread / "status").read_text().splitlines()
                switches += sum(int(line.split()[1]) for line in lines if "ctxt_switches" in line)
        faults = int((process / "stat").read_text().rpartition(")")[2].split()[7])
        counts = calls(pid)
        return Steps(switches, faults, int(counts["syscr"]), int(counts["syscw"]))


def waited_for(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not (is_met := condition()) and time.monotonic() < deadline:
        time.sleep(0.2)
    return is_met
