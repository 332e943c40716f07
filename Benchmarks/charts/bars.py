"""Hits, misses and memory against their baselines and goals."""

from drawing import Bar, bar_chart
from figures import Figure

Figures = dict[str, Figure]
SETTINGS = "Default settings: disk tier, isolation and access log on."


def bar(figures: Figures, key: str, label: str, kind: str = "ours") -> Bar:
    figure = figures[key]
    return Bar(label, figure.value, kind, (figure.goal.bound, figure.goal.text("")) if figure.goal else None)


def hits(figures: Figures) -> str:
    return bar_chart(
        "Cache hits: requests per second, share of nginx",
        f"{SETTINGS} nginx with its access log; 16 connections.",
        [Bar("nginx, static file", 1, "yardstick"), bar(figures, "memory share", "hit in memory"),
         bar(figures, "disk share", "hit on disk, no memory tier")])


def misses(figures: Figures) -> str:
    bars = [Bar("vips_thumbnail_buffer", 1, "yardstick")]
    for profile in ("fast", "accurate", "linear"):
        bars.append(bar(figures, f"floors {profile}", f"{profile} baseline", "yardstick"))
        bars.append(bar(figures, f"thumbnail {profile}", profile))
    bars.append(bar(figures, "no disk", "fast, no disk tier", "part"))
    return bar_chart(
        "Cache misses: images per second, share of vips_thumbnail_buffer in one process",
        f"{SETTINGS} JPEGs of 2–3 MP to 400 pixels, quality 80, 4 at a time.", bars)


def processor(figures: Figures) -> str:
    return bar_chart(
        "Cache misses: CPU milliseconds of an image", f"{SETTINGS} JPEGs of 2–3 MP to 400 pixels, profile fast.",
        [bar(figures, "cpu disk", "server process"), bar(figures, "cpu no disk", "server process, no disk tier"),
         bar(figures, "cpu workers", "worker processes", "part")], "ms")


def memory(figures: Figures) -> str:
    return bar_chart(
        "Memory: proportional set size of all processes", "Two pixel workers. Misses are JPEGs of 2–3 MP, 4 at a time.",
        [bar(figures, "idle", "idle"), bar(figures, "dirty", "idle, private dirty pages", "part"),
         bar(figures, "misses", "during 300 misses, caches 0"), bar(figures, "after", "after them"),
         bar(figures, "caches", "during misses, default caches", "part")], "MB")


CHARTS = {"hits": hits, "misses": misses, "misses-cpu": processor, "memory": memory}
