"""The tables of docs/benchmarks.md, between two markers."""

import textwrap
from collections.abc import Iterator
from pathlib import Path

from figures import Figure, shown

BEGIN, END = "<!-- Written by Benchmarks/run.sh charts -->", "<!-- End of what Benchmarks/run.sh charts writes -->"
TITLES = {
    "misses": "Misses", "hits": "Hits", "random_hits": "Hits of random images", "memory": "Memory", "growth": "Growth",
    "store": "Disk cache of many entries",
}


def rewrite(page: Path, sections: dict[str, dict], charts: list[str]) -> None:
    """Replaces what is between the markers by the charts and figures of each section."""
    before, _, rest = page.read_text().partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        raise SystemExit(f"{page} lacks the markers {BEGIN} and {END}")
    parts = [part for name in TITLES if name in sections for part in section_parts(name, sections[name], charts)]
    page.write_text("\n\n".join([before + BEGIN, *parts, END + after]))


def section_parts(name: str, section: dict, charts: list[str]) -> Iterator[str]:
    yield f"### {TITLES[name]}"
    conditions = (
        f"`Benchmarks/run.sh {name}` on {section['measured']} at {section['commit']}, medians of {section['rounds']} rounds: "
        f"{section['conditions']}.")
    yield "\n".join(textwrap.wrap(conditions, 120))
    yield from (f"![{TITLES[name]}: {chart.partition('-')[2] or 'relative to the baseline'}](charts/{chart}.svg)"
                for chart in charts if chart.partition("-")[0] == name)
    yield "\n".join(["| Figure | Value | Compared to | Goal | |", "|---|---|---|---|---|", *map(row, section["figures"])])


def row(figure: Figure) -> str:
    goal = figure.goal.text(figure.unit) if figure.goal else ""
    cells = (figure.name.strip(), shown(figure.value, figure.unit), figure.compared_to, goal, figure.verdict)
    return "| " + " | ".join(cells) + " |"
