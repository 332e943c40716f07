"""A disk cache of many entries: start, look-ups, writes and evictions, measured by StoreBench without a server."""

import re
import subprocess

from context import Context

LINE = re.compile(r"(?P<name>.+): (?P<value>[0-9.]+) ?(?P<unit>.*)")


def measure(context: Context) -> None:
    """Once: filling a million entries takes minutes."""
    context.report.begin("store", f"a disk cache of {context.entries:,} entries of about 1 KB in one process; one round")
    command = [context.store_bench, "million", "--entries", str(context.entries), "--folder", str(context.work)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as bench:
        for line in bench.stdout:
            if found := LINE.fullmatch(line.strip()):
                context.report.add(found["name"], found["name"], [float(found["value"])], found["unit"])
    if bench.returncode:
        raise SystemExit(f"StoreBench ended with status {bench.returncode}")
    context.report.end()
