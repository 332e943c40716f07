"""Cost against the size of sources, concurrency, connections and the length of the queue."""

from bars import SETTINGS, Figures
from drawing import Line, line_chart


def curve(figures: Figures, label: str, kind: str, prefix: str, suffix: str = "") -> Line:
    """The series of all figures with a place on the axis whose key has a prefix and a suffix."""
    found = [figure for key, figure in figures.items()
             if figure.x is not None and key.startswith(f"{prefix} ") and key.endswith(suffix)]
    return Line(label, kind, sorted((figure.x, figure.value) for figure in found))


def connections(figures: Figures) -> str:
    return line_chart(
        "Memory hits per second against connections", f"{SETTINGS} 24 KB, one thread of wrk on the same two processors.",
        [curve(figures, "nginx, static file", "yardstick", "nginx"), curve(figures, "Darkroom", "ours", "hits")],
        "keep-alive connections")


def concurrency(figures: Figures) -> str:
    return line_chart(
        "Misses per second against concurrency", f"{SETTINGS} JPEGs of 2–3 MP to 400 pixels, profile fast.",
        [curve(figures, "Darkroom", "ours", "misses")], "requests at a time")


def sizes(figures: Figures) -> str:
    return line_chart(
        "CPU milliseconds of a miss against the size of its source", f"{SETTINGS} JPEGs to 400 pixels, profile fast. Both axes are logarithmic.",
        [curve(figures, "workers", "part", "workers", "MP"), curve(figures, "server process", "ours", "server", "MP")],
        "megapixels", log_y=True)


def refusals(figures: Figures) -> str:
    goal = next(figure.goal for key, figure in figures.items() if key.startswith("refusal "))
    return line_chart(
        "CPU milliseconds of a refused request against waiting jobs", "The server process in all, access log included.",
        [curve(figures, "Darkroom", "ours", "refusal")], "jobs in the queue", (goal.bound, goal.text("ms")))


CHARTS = {
    "growth-connections": connections, "growth-concurrency": concurrency, "growth-sizes": sizes, "growth-refusals": refusals,
}
