"""Cache misses: images per second against the same work without a service, and the CPU time of each image."""

import os
import subprocess
from contextlib import ExitStack

from context import Context
from figures import at_least, at_most, ratios
from load import fetch_all
from processes import Steps
from servers import WIDTH, Darkroom, Download, sources
from sized import sized_image

PROFILES = ("fast", "accurate", "linear")
SERVERS = {"default": (), "no disk": ("--cache-disk-bytes=0",), "in process": ("--isolation=none",)}
CONCURRENCY = 4
SMALL_SIDE = 500
"""The side of the square JPEGs of 0.25 MP."""
STEPS = {"switches": "context switches", "faults": "page faults", "reads": "read system calls", "writes": "write system calls"}


def measure(context: Context) -> None:
    count, threads = len(context.images), os.cpu_count() or 1
    context.report.begin(
        "misses", f"{count} JPEGs of 2–3 MP to w={WIDTH} q80, {CONCURRENCY} requests at a time, {threads} processors; "
        "default settings unless named; a baseline is the same work in one process without a service, with the profile of its name or with libvips' own vips_thumbnail_buffer")
    speeds: dict[str, list[float]] = {}
    cpu: dict[str, list[float]] = {}
    small = [sized_image(context.large, context.large.parent / f"{SMALL_SIDE}.jpg", SMALL_SIDE)] * count
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(Darkroom(context.darkroom, context.folder(f"misses {name}"), *settings))
            for name, settings in SERVERS.items()
        }
        download = stack.enter_context(Download(context.download))
        for number in range(context.report.rounds):
            for way in ("thumbnail", *PROFILES):
                speeds.setdefault(f"floor {way}", []).append(count / floor_seconds(context, way, threads))
            for profile in PROFILES:
                with sources(context.nginx, context.images, f"misses-{number}-{profile}") as urls:
                    # The first to ask finds the files of the origin colder, so the order rotates.
                    order = [list(servers)[(number + at) % len(servers)] for at in range(len(servers))]
                    for name in order:
                        one_pass(servers[name], name, profile, urls, speeds, cpu)
                    if profile == "fast":
                        process_costs(download, "download", [download.url(url) for url in urls], cpu)
            with sources(context.nginx, small, f"misses-{number}-small") as urls:
                for name in ("default", "no disk"):
                    process_costs(servers[name], f"small {name}", [servers[name].url(url) for url in urls], cpu)
                process_costs(download, "small download", [download.url(url) for url in urls], cpu)
    report(context, speeds, cpu)
    context.report.end()


def one_pass(
    server: Darkroom, name: str, profile: str, urls: list[str], speeds: dict[str, list[float]], cpu: dict[str, list[float]]
) -> None:
    asked = [server.url(url, resample=profile) for url in urls]
    seconds = process_costs(server, name, asked, cpu if profile == "fast" else {})
    speeds.setdefault(f"{name} {profile}", []).append(len(urls) / seconds)
    if name == "default" and profile == "fast":
        again = [server.url(url, resample=profile, w=WIDTH * 3 // 4) for url in urls]
        speeds.setdefault("second", []).append(len(urls) / fetch_all(again, CONCURRENCY)[0])


def process_costs(server: Darkroom | Download, name: str, asked: list[str], costs: dict[str, list[float]]) -> float:
    """Requests every URL once, adds the costs of one to `costs`, and returns the wall-clock seconds."""
    before, steps = server.settled_cpu(), Steps.of(server.pid)
    seconds = fetch_all(asked, CONCURRENCY)[0]
    after, more = server.settled_cpu(), Steps.of(server.pid)
    for part, new, old in zip(("server", "workers"), after, before):
        costs.setdefault(f"{name} {part}", []).append((new - old) / len(asked) * 1000)
    for step in STEPS:
        costs.setdefault(f"{name} {step}", []).append((getattr(more, step) - getattr(steps, step)) / len(asked))
    return seconds


def report(context: Context, speeds: dict[str, list[float]], cpu: dict[str, list[float]]) -> None:
    add, unit, thumbnail = context.report.add, "images/s", speeds["floor thumbnail"]
    add("floor thumbnail", "vips_thumbnail_buffer baseline", thumbnail, unit)
    for profile in PROFILES:
        own, service = speeds[f"floor {profile}"], speeds[f"default {profile}"]
        is_fast = profile == "fast"
        add(f"speed {profile}", f"Darkroom, {profile}", service, unit)
        add(f"thumbnail {profile}", f"Darkroom, {profile}", ratios(service, thumbnail),
            compared_to="vips_thumbnail_buffer baseline", goal=at_least(1.2) if is_fast else None)
        add(f"own {profile}", f"Darkroom, {profile}", ratios(service, own), compared_to=f"{profile} baseline",
            goal=at_least(0.93) if is_fast else None)
        add(f"floors {profile}", f"{profile} baseline", ratios(own, thumbnail),
            compared_to="vips_thumbnail_buffer baseline")
    fast = speeds["default fast"]
    add("no disk", "Darkroom, fast, without disk tier", ratios(speeds["no disk fast"], thumbnail),
        compared_to="vips_thumbnail_buffer baseline")
    for profile in PROFILES:
        add(f"isolation {profile}", f"Darkroom, {profile}, in worker processes",
            ratios(speeds[f"default {profile}"], speeds[f"in process {profile}"]), compared_to=f"Darkroom, {profile}, in the server process")
    add("second", f"w={WIDTH * 3 // 4} of a cached original", ratios(speeds["second"], fast),
        compared_to=f"w={WIDTH} of a new source")
    # Means of all rounds: the kernel counts in ticks of 10 ms, which the median of single rounds would show.
    mean = {part: sum(values) / len(values) for part, values in cpu.items()}
    for key, name, part, goal in (
        ("cpu disk", "fast, CPU time of the server process", "default server", at_most(1.6)),
        ("cpu no disk", "fast without disk tier, CPU time of the server process", "no disk server", at_most(1.3)),
        ("cpu small", "fast, source of 0.25 MP, CPU time of the server process", "small default server", at_most(0.9)),
        ("cpu small no disk", "the same without disk tier", "small no disk server", None),
        ("cpu workers", "fast, CPU time of the worker processes", "default workers", None),
        ("cpu in process", "fast without worker processes, CPU time", "in process server", None),
        ("cpu download", "only a download, CPU time", "download server", None),
        ("cpu small download", "only a download of 0.25 MP, CPU time", "small download server", None),
    ):
        add(key, name, [mean[part]], "ms/image", goal=goal)
    for key, name, size, goal in (
        ("share download", "fast, CPU time of the server process", "", at_most(2)),
        ("share small download", "fast, source of 0.25 MP, CPU time of the server process", "small ", at_most(2)),
    ):
        # A short run may take less than a tick of the kernel's clock.
        least = max(mean[f"{size}download server"], 0.01)
        add(key, name, [mean[f"{size}default server"] / least], compared_to="the download alone", goal=goal)
    for step, name in STEPS.items():
        goal = at_most(8) if step == "switches" else None
        for part, means in (
            ("default", "fast, server process"), ("no disk", "fast without disk tier, server process"),
            ("download", "only a download"),
        ):
            add(f"{step} {part}", f"{means}, {name}", [mean[f"{part} {step}"]], "/image",
                goal=goal if part == "default" else None)


def floor_seconds(context: Context, way: str, threads: int) -> float:
    command = [context.floor, str(context.images[0].parent), way, str(threads), str(WIDTH)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
