"""Cache misses: images per second against the same work without a service, and the CPU time of each image."""

import os
import subprocess
from contextlib import ExitStack

from context import Context
from figures import at_least, at_most, ratios
from load import fetch_all
from servers import WIDTH, Darkroom, sources

PROFILES = ("fast", "accurate", "linear")
SERVERS = {"default": (), "no disk": ("--cache-disk-bytes=0",), "in process": ("--isolation=none",)}
CONCURRENCY = 4


def measure(context: Context) -> None:
    count, threads = len(context.images), os.cpu_count() or 1
    context.report.begin(
        "misses", f"{count} JPEGs of 2–3 MP to w={WIDTH} q80, {CONCURRENCY} requests at a time, {threads} processors; "
        "default settings unless named; a baseline is the same work in one process without a service, with the profile of its name or with libvips' own vips_thumbnail_buffer")
    speeds: dict[str, list[float]] = {}
    cpu: dict[str, list[float]] = {}
    with ExitStack() as stack:
        servers = {
            name: stack.enter_context(Darkroom(context.darkroom, context.folder(f"misses {name}"), *settings))
            for name, settings in SERVERS.items()
        }
        for number in range(context.report.rounds):
            for way in ("thumbnail", *PROFILES):
                speeds.setdefault(f"floor {way}", []).append(count / floor_seconds(context, way, threads))
            for profile in PROFILES:
                with sources(context.nginx, context.images, f"misses-{number}-{profile}") as urls:
                    # The first to ask finds the files of the origin colder, so the order rotates.
                    order = [list(servers)[(number + at) % len(servers)] for at in range(len(servers))]
                    for name in order:
                        one_pass(servers[name], name, profile, urls, speeds, cpu)
    report(context, speeds, cpu)
    context.report.end()


def one_pass(
    server: Darkroom, name: str, profile: str, urls: list[str], speeds: dict[str, list[float]], cpu: dict[str, list[float]]
) -> None:
    asked = [server.url(url, resample=profile) for url in urls]
    before = server.settled_cpu()
    speeds.setdefault(f"{name} {profile}", []).append(len(urls) / fetch_all(asked, CONCURRENCY)[0])
    after = server.settled_cpu()
    if profile == "fast":
        for part, seconds in zip(("server", "workers"), (new - old for new, old in zip(after, before))):
            cpu.setdefault(f"{name} {part}", []).append(seconds / len(urls) * 1000)
    if name == "default" and profile == "fast":
        again = [server.url(url, resample=profile, w=WIDTH * 3 // 4) for url in urls]
        speeds.setdefault("second", []).append(len(urls) / fetch_all(again, CONCURRENCY)[0])


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
    for key, name, part, goal in (
        ("cpu disk", "fast, CPU time of the server process", "default server", at_most(1.5)),
        ("cpu no disk", "fast without disk tier, CPU time of the server process", "no disk server", at_most(1.0)),
        ("cpu workers", "fast, CPU time of the worker processes", "default workers", None),
        ("cpu in process", "fast without worker processes, CPU time", "in process server", None),
    ):
        add(key, name, [sum(cpu[part]) / len(cpu[part])], "ms/image", goal=goal)


def floor_seconds(context: Context, way: str, threads: int) -> float:
    command = [context.floor, str(context.images[0].parent), way, str(threads), str(WIDTH)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
