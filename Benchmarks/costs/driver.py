"""Runs cases one after the other, each in a separate process, and relates their time to the time of the plain case."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cases import CALIBRATION, MARK, Case
from sources import Sources

LEAST_MILLISECONDS = 5.0
LEAST_BYTES = 6 << 20
"""Below these, a job costs nothing that admission has to know, and figures are noise."""
CALIBRATE_EVERY = 8
SECONDS = 300
ONE_THREAD = os.environ | {"OMP_NUM_THREADS": "1"}
"""libimagequant, which reduces colors, has threads that wait for each other by spinning."""


class Result(NamedTuple):
    case: Case
    predicted_milliseconds: float
    """On this machine: the declared time times the factor of the plain case."""
    milliseconds: float
    predicted_bytes: int
    bytes: int

    @property
    def time(self) -> float:
        return max(self.milliseconds, LEAST_MILLISECONDS) / max(self.predicted_milliseconds, LEAST_MILLISECONDS)

    @property
    def memory(self) -> float:
        return max(self.bytes, LEAST_BYTES) / max(self.predicted_bytes, LEAST_BYTES)

    def is_within(self, factor: float) -> bool:
        return all(1 / factor <= ratio <= factor for ratio in (self.time, self.memory))

    @property
    def error(self) -> float:
        """The larger of both factors by which a prediction is wrong, in either direction."""
        return max(max(ratio, 1 / ratio) for ratio in (self.time, self.memory))


class Driver:
    def __init__(self, executable: Path, sources: Sources, rounds: int) -> None:
        self.executable, self.sources, self.rounds = executable, sources, rounds

    def run(self, cases: list[Case]) -> Iterator[Result]:
        before = self.calibrated()
        for start in range(0, len(cases), CALIBRATE_EVERY):
            measured = list(self.attempts(cases[start : start + CALIBRATE_EVERY]))
            after = self.calibrated()
            factor = (before * after) ** 0.5
            before = after
            yield from (self.result(case, figures, factor) for case, figures in measured)

    def attempts(self, cases: list[Case]) -> Iterator[tuple[Case, dict]]:
        for case in cases:
            try:
                yield case, self.measured(case, self.rounds)
            except subprocess.CalledProcessError as error:
                print(f"not measured: {case.name}, {case.where}: {error.stderr.strip()[-300:]}", flush=True)
            except subprocess.TimeoutExpired:
                print(f"not measured: {case.name}, {case.where}: more than {SECONDS} seconds", flush=True)

    def calibrated(self) -> float:
        """A prediction counts time on a server of 2020; the plain case tells how this machine compares at this moment."""
        plain = self.measured(CALIBRATION, 5)
        return plain["milliseconds"] / plain["predictedMilliseconds"]

    def result(self, case: Case, figures: dict, factor: float) -> Result:
        return Result(
            case, figures["predictedMilliseconds"] * factor, figures["milliseconds"], figures["predictedBytes"],
            figures["bytes"])

    def measured(self, case: Case, rounds: int) -> dict:
        source = self.sources.path(case.source, case.size)
        mark = self.sources.path(MARK, "small") if any(step.startswith("mark") for step in case.steps) else "-"
        command = [str(self.executable), "run", str(source), str(case.width), case.output, str(mark), str(rounds)]
        done = subprocess.run(
            [*command, *case.steps], check=True, capture_output=True, text=True, timeout=SECONDS, env=ONE_THREAD)
        return json.loads(done.stdout)
