#!/usr/bin/env python3
"""Runs every proof that .ci/run does not run, one after the other, and prints one table.

The release build is made once. A proof that fails does not stop the others; the output of each is a file in
.build/nightly. Exit status 77 of a proof means that this machine cannot run it, such as one without namespaces.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LOGS = ROOT / ".build/nightly"
SERVER = ".build/release/darkroom"
SKIPPED = 77
# What this run's own make says of itself and of its arguments is not for the others.
ENVIRONMENT = {
    name: value for name, value in os.environ.items()
    if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "PROOFS", "SERVER")
}


class Proof(NamedTuple):
    target: str
    minutes: int
    """After which it is stopped: several times what it takes on two cores."""
    needs_root: bool = False
    builds: bool = False
    """Whether it builds what it runs itself."""


PROOFS = (
    Proof("ssrf", 30), Proof("chaos", 45), Proof("corpus", 45), Proof("soak", 120), Proof("overload", 60),
    Proof("attack", 90), Proof("costs", 45), Proof("urls", 60), Proof("cluster", 90), Proof("edge", 45),
    Proof("prove", 60, builds=True), Proof("sanitize", 120, builds=True), Proof("fuzz", 30, builds=True),
    Proof("playground", 30, builds=True),
    Proof("browser", 60), Proof("browser-hdr", 30), Proof("systems", 90, needs_root=True),
    Proof("package-test", 90, needs_root=True),
    Proof("image-test", 60, needs_root=True), Proof("tutorial-test", 60, needs_root=True),
    Proof("nodes-test", 60, needs_root=True),
)
PACKAGED = ("package-test", "image-test", "tutorial-test", "nodes-test")
OPTIONS = {"fuzz": ("SECONDS=900",), **{target: (f"EXECUTABLE={SERVER}",) for target in PACKAGED}}


class Outcome(NamedTuple):
    target: str
    result: str
    seconds: float
    last_line: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="names of proofs, separated by commas")
    only = parser.parse_args().only
    names = only.split(",") if only else [proof.target for proof in PROOFS]
    if unknown := set(names) - {proof.target for proof in PROOFS}:
        parser.error(f"there is no proof {', '.join(sorted(unknown))}")
    LOGS.mkdir(parents=True, exist_ok=True)
    if make("release", [], 120).result != "passed":
        print(f"The release build failed; see {LOGS / 'release.log'}.", file=sys.stderr)
        return 1
    outcomes = [outcome(proof) for proof in PROOFS if proof.target in names]
    print(table(outcomes))
    return int(any(outcome.result == "FAILED" for outcome in outcomes))


def outcome(proof: Proof) -> Outcome:
    if proof.needs_root and os.geteuid() != 0:
        return Outcome(proof.target, "skipped", 0, "requires root")
    options = [*OPTIONS.get(proof.target, ()), *([] if proof.builds else [f"SERVER={SERVER}"])]
    found = make(proof.target, options, proof.minutes)
    print(f"{found.target}: {found.result} after {found.seconds:.0f} s", file=sys.stderr, flush=True)
    return found


def make(target: str, options: list[str], minutes: int) -> Outcome:
    log = LOGS / f"{target}.log"
    began = time.monotonic()
    with log.open("w") as output:
        # A group of its own, so that a proof that is stopped takes its servers along.
        process = subprocess.Popen(
            ["make", "--no-print-directory", target, *options], cwd=ROOT, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
            stdout=output, stderr=subprocess.STDOUT, process_group=0)
        try:
            status = process.wait(minutes * 60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            return Outcome(target, "FAILED", time.monotonic() - began, f"stopped after {minutes} minutes")
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    # make has a status of its own, and writes the command's.
    is_skipped = status != 0 and any(line.endswith(f"Error {SKIPPED}") for line in lines[-3:])
    result = "passed" if status == 0 else "skipped" if is_skipped else "FAILED"
    told = [line for line in lines if not line.startswith("make:")]
    return Outcome(target, result, time.monotonic() - began, told[-1] if told else "")


def table(outcomes: list[Outcome]) -> str:
    rows = ["| proof | result | minutes | last line |", "|---|---|---|---|"]
    rows += [
        f"| {found.target} | {found.result} | {found.seconds / 60:.1f} | {found.last_line[:100].replace('|', chr(92) + '|')} |"
        for found in outcomes
    ]
    return "\n".join(rows)


if __name__ == "__main__":
    sys.exit(main())
