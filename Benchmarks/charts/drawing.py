"""Bar charts and line charts as SVG that is readable on light and dark pages."""

import math
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from figures import shown

STYLE = """
text { font: 13px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 15px } .note { fill: #59636e; font-size: 12px } .end { text-anchor: end }
.middle { text-anchor: middle } .grid { stroke: #d1d9e0 } .goal { stroke: #bc4c00; stroke-width: 2.5 }
.goal-text { fill: #bc4c00; font-size: 12px } .ours { fill: #0969da } .yardstick { fill: #818b98 } .part { fill: #80b3ef }
.line { fill: none; stroke-width: 2.5 } .ours.line { stroke: #0969da; fill: none } .yardstick.line { stroke: #818b98; fill: none }
.part.line { stroke: #80b3ef; fill: none }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .note { fill: #9198a1 } .grid { stroke: #3d444d } .goal { stroke: #f0883e } .goal-text { fill: #f0883e }
.ours { fill: #4493f8 } .yardstick { fill: #9198a1 } .part { fill: #2f6bb5 } .ours.line { stroke: #4493f8 }
.yardstick.line { stroke: #9198a1 } .part.line { stroke: #2f6bb5 }
}"""
WIDTH, MARGIN = 760, 16


class Bar(NamedTuple):
    label: str
    value: float
    kind: str
    """`ours`, `part` or `yardstick`."""
    goal: tuple[float, str] | None = None
    """The bound, and how to write it."""


class Line(NamedTuple):
    label: str
    kind: str
    points: list[tuple[float, float]]


class Scale(NamedTuple):
    """A linear or logarithmic axis from values to pixels."""

    low: float
    high: float
    start: float
    end: float
    is_logarithmic: bool = False

    def at(self, value: float) -> float:
        low, high, value = (math.log(v) if self.is_logarithmic else v for v in (self.low, self.high, value))
        return self.start + (value - low) / ((high - low) or 1) * (self.end - self.start)


def document(title: str, note: str, height: int, shapes: Iterator[str]) -> str:
    head = [text(MARGIN, 26, title, "title"), text(MARGIN, 45, note, "note")]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}\n</style>\n" + "\n".join([*head, *shapes]) + "\n</svg>\n")


def bar_chart(title: str, note: str, bars: list[Bar], unit: str = "") -> str:
    top, row, left, right = 64, 30, 220, 180
    most = max(max(bar.value, bar.goal[0] if bar.goal else 0) for bar in bars)
    scale = Scale(0, most, left, WIDTH - right)

    def shapes() -> Iterator[str]:
        for number, bar in enumerate(bars):
            y = top + number * row
            end = scale.at(bar.value)
            yield text(left - 10, y + 15, bar.label, "end")
            yield f'<rect class="{bar.kind}" x="{left}" y="{y + 2}" width="{max(end - left, 1):.1f}" height="18" rx="2"/>'
            if bar.goal:
                at = scale.at(bar.goal[0])
                yield line(at, y - 2, at, y + 24, "goal")
            goal = f"goal {bar.goal[1]}" if bar.goal else ""
            right_of = max(end, scale.at(bar.goal[0]) if bar.goal else 0) + 8
            yield text(right_of, y + 15, shown(bar.value, unit))
            if goal:
                yield text(WIDTH - MARGIN, y + 15, goal, "goal-text end")

    return document(title, note, top + len(bars) * row + 8, shapes())


def line_chart(
    title: str, note: str, lines: list[Line], x_name: str, goal: tuple[float, str] | None = None, log_y: bool = False
) -> str:
    height, top, left, right, bottom = 320, 70, 70, 150, 52
    xs = sorted({x for one in lines for x, _ in one.points})
    values = [y for one in lines for _, y in one.points] + ([goal[0]] if goal else [])
    ticks = log_ticks(min(values), max(values)) if log_y else linear_ticks(max(values))
    x_scale = Scale(xs[0], xs[-1], left + 10, WIDTH - right, True)
    y_scale = Scale(ticks[0], ticks[-1], height - bottom, top, log_y)

    def shapes() -> Iterator[str]:
        for tick in ticks:
            y = y_scale.at(tick)
            yield line(left, y, WIDTH - right + 10, y, "grid")
            yield text(left - 8, y + 4, number_text(tick), "note end")
        for x in xs:
            yield text(x_scale.at(x), height - bottom + 20, number_text(x), "note middle")
        yield text((left + WIDTH - right) / 2, height - 12, x_name, "note middle")
        if goal:
            y = y_scale.at(goal[0])
            yield line(left, y, WIDTH - right + 10, y, "goal")
            yield text(WIDTH - right + 16, y + 4, f"goal {goal[1]}", "goal-text")
        for one, label_y in zip(lines, spread([y_scale.at(one.points[-1][1]) for one in lines]), strict=True):
            points = [(x_scale.at(x), y_scale.at(y)) for x, y in one.points]
            path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
            yield f'<polyline class="{one.kind} line" points="{path}"/>'
            yield from (f'<circle class="{one.kind}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>' for x, y in points)
            yield text(points[-1][0] + 16, label_y + 4, one.label)

    return document(title, note, height, shapes())


def spread(places: list[float], gap: float = 18) -> list[float]:
    """Places for labels that do not overlap."""
    moved, last = dict[int, float](), -math.inf
    for index in sorted(range(len(places)), key=lambda index: places[index]):
        last = moved[index] = max(places[index], last + gap)
    return [moved[index] for index in range(len(places))]


def linear_ticks(most: float) -> list[float]:
    step = 10 ** math.floor(math.log10(most or 1))
    step = next(step * part for part in (0.1, 0.2, 0.25, 0.5, 1, 2) if most / (step * part) <= 5)
    return [step * number for number in range(math.ceil(most / step) + 1)]


def log_ticks(least: float, most: float) -> list[float]:
    return [10.0**power for power in range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)]


def number_text(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def text(x: float, y: float, content: str, kind: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}"{f" class={chr(34)}{kind}{chr(34)}" if kind else ""}>{escape(content)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'
