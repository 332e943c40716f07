"""Figures of a run: what was measured, what it is compared to, and whether its goal is met."""

import json
import statistics
import subprocess
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Goal:
    bound: float
    is_minimum: bool

    def is_met_by(self, value: float) -> bool:
        return value >= self.bound if self.is_minimum else value <= self.bound

    def text(self, unit: str) -> str:
        return f"{'≥' if self.is_minimum else '≤'} {shown(self.bound, unit)}"


def at_least(bound: float) -> Goal:
    return Goal(bound, True)


def at_most(bound: float) -> Goal:
    return Goal(bound, False)


@dataclass
class Figure:
    section: str
    key: str
    name: str
    samples: list[float]
    """One value for each round."""
    unit: str
    """Empty for a ratio."""
    compared_to: str = ""
    goal: Goal | None = None
    x: float | None = None
    """The place on a chart's axis, if the figure belongs to a series."""
    value: float = field(init=False)
    """The median of the samples."""

    def __post_init__(self) -> None:
        self.value = statistics.median(self.samples)

    @property
    def verdict(self) -> str:
        return "" if self.goal is None else "met" if self.goal.is_met_by(self.value) else "missed"

    def line(self) -> str:
        compared = f" of {self.compared_to}" if self.compared_to else ""
        spread = f" [{shown(min(self.samples), self.unit)} … {shown(max(self.samples), self.unit)}]"
        goal = f"  goal {self.goal.text(self.unit)}: {self.verdict}" if self.goal else ""
        return f"  {self.name:58} {shown(self.value, self.unit)}{compared}{spread if len(self.samples) > 1 else ''}{goal}"


def shown(value: float, unit: str) -> str:
    digits = f"{value:,.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
    if 0 < abs(value) < 0.1:
        digits = f"{value:.3f}"
    return f"{digits} {unit}".rstrip()


def ratios(values: list[float], yardstick: list[float]) -> list[float]:
    """Round by round, so that a drifting machine affects both alike."""
    return [value / other for value, other in zip(values, yardstick, strict=True)]


class Report:
    """Prints figures as they come, and keeps them in a JSON file, in which each section replaces only its own."""

    def __init__(self, file: Path, rounds: int) -> None:
        self.file, self.rounds = file, rounds
        self.section, self.conditions = "", ""
        self.figures: list[Figure] = []

    def begin(self, section: str, conditions: str) -> None:
        self.section, self.conditions, self.figures = section, conditions, []
        print(f"{section}: {conditions}", flush=True)

    def add(self, key: str, name: str, samples: list[float], unit: str = "", **more: object) -> None:
        figure = Figure(self.section, key, name, [round(sample, 5) for sample in samples], unit, **more)
        self.figures.append(figure)
        print(figure.line(), flush=True)

    def end(self) -> None:
        document = json.loads(self.file.read_text()) if self.file.exists() else {"sections": {}}
        document["machine"] = machine()
        document["sections"][self.section] = {
            "measured": time.strftime("%Y-%m-%d"), "commit": commit(), "rounds": self.rounds,
            "conditions": self.conditions, "figures": [as_document(figure) for figure in self.figures],
        }
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def as_document(figure: Figure) -> dict:
    document = {name: value for name, value in asdict(figure).items() if value is not None}
    return document | ({"verdict": figure.verdict} if figure.goal else {})


def read(file: Path) -> dict[str, dict]:
    """The sections of an earlier run, with their figures by key."""
    sections = json.loads(file.read_text())["sections"]
    for section in sections.values():
        section["figures"] = [restored(figure) for figure in section["figures"]]
    return sections


def restored(document: dict) -> Figure:
    fields = {name: value for name, value in document.items() if name not in ("value", "verdict", "goal")}
    return Figure(**fields, goal=Goal(**document["goal"]) if "goal" in document else None)


def machine() -> dict[str, str]:
    cpu = next((line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                if line.startswith("model name")), "unknown")
    vips = subprocess.run(["vips", "--version"], capture_output=True, text=True, check=False).stdout.strip()
    return {"processors": str(Path("/proc/cpuinfo").read_text().count("processor\t")), "model": cpu, "libvips": vips}


def commit() -> str:
    root = Path(__file__).resolve().parent
    found = subprocess.run(["git", "-C", str(root), "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    return found.stdout.strip() or "unknown"
