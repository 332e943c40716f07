"""The table of declarations and measurements, worst first."""

from collections.abc import Iterable
from pathlib import Path

from cases import UNPREDICTED
from driver import Result

BEGIN, END = "<!-- costs: Benchmarks/run.sh costs -->", "<!-- end of the costs -->"
HEAD = [
    "| Case | Where | Time predicted | measured | ratio | Memory predicted | measured | ratio |",
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
]


def lines(results: Iterable[Result], rows: int) -> list[str]:
    """The table: each name once, at the size where its declaration is worst."""
    worst: dict[str, Result] = {}
    for result in sorted(results, key=lambda result: result.error):
        worst[result.case.name] = result
    order = sorted(worst.values(), key=lambda result: -result.error)
    return HEAD + [row(result) for result in order[:rows]]


def row(result: Result) -> str:
    case = result.case
    columns = [
        f"`{case.name}`", case.where, f"{result.predicted_milliseconds:,.0f} ms", f"{result.milliseconds:,.0f} ms",
        f"{result.time:.2f}", mebibytes(result.predicted_bytes), mebibytes(result.bytes), f"{result.memory:.2f}"]
    return "| " + " | ".join(columns) + " |"


def mebibytes(count: int) -> str:
    return f"{count / (1 << 20):,.0f} MiB"


def summary(results: list[Result]) -> str:
    def share(factor: float) -> str:
        return f"{sum(result.is_within(factor) for result in results) / max(len(results), 1) * 100:.1f} %"

    measured = {result.case.name for result in results}
    exceptions = "".join(
        f"\nNot judged: `{name}`, because {reason}." for name, reason in UNPREDICTED.items() if name in measured)
    return f"{len(results)} cases: {share(1.5)} within a factor of 1.5, {share(2)} within 2.{exceptions}"


def written(document: Path, results: list[Result], rows: int) -> None:
    """Replaces the table between the two comments of a document."""
    text = document.read_text()
    before, found, rest = text.partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise SystemExit(f"{document} has no place for the table: {BEGIN} … {END}")
    table = "\n".join([summary(results), "", *lines(results, rows)])
    document.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}")
