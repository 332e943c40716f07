"""The table of docs/proofs.md with the figures of a complete run, which other pages link to."""

from collections.abc import Callable
from pathlib import Path

BEGIN, END = "<!-- cluster: make cluster PAGE=docs/proofs.md -->", "<!-- end of cluster -->"

CLAIMS = {
    "kills": "Nodes are killed, paused and restarted at random for 5 minutes. Every request is answered, and no version in the "
             "store is downloaded again.",
    "wiped": "After all disks are wiped, variants are read from the store without a request to the origin.",
    "joined": "When a fourth node is added, about a quarter of the sources moves to it, and the hit ratio stays within 2 points "
              "of one node with as much cache.",
    "outages": "While the store is paused, refuses requests, is full or sends damaged objects, for a minute each, requests are "
               "answered, memory stays flat, and the store is used again afterward.",
    "purges": "During failures, and with nodes that were paused or down, no purged content is served after `purge-poll` "
              "(5 s) and one second.",
    "cold": "300 equal requests for a new image cause one download and process the image once.",
    "slow": "While the store takes 0.5 s and 2 s for each request of a node, the node serves no content for longer than "
            "`purge-poll` and one second after another node has purged it, and learns of each purge.",
    "restarts": "Restarts after a month of purges keep everything that was stored after them.",
    "long": "With 100,000 purges in the log, nodes start at most 1.5 s later than with an empty log, and keep disk and store.",
    "big": "While a node purges 111,000 entries, other nodes know of the purge within `purge-poll` and one second, and get new "
           "images within 5 s.",
    "upgrade": "Nodes of the last release are upgraded one after the other, each with its cache, and one of them goes back. "
               "Purges reach all nodes, and nothing wrong is served.",
}
OPTIONAL = {"upgrade"}
"""Proofs that are left out without a further executable."""


def kills(figures: dict) -> str:
    return (
        f"{figures['answers']:,} answers during {figures['nodes killed']} kills and {figures['nodes paused']} pauses, slowest "
        f"{figures['slowest s']:.1f} s; {figures['downloads']:,} downloads, {figures['repeated, unexplained']} of them "
        f"needless; purged content for at most {figures['purged content served until s']:.1f} s")


def wiped(figures: dict) -> str:
    made = figures["variants made"]
    return (
        f"{figures['variants']} variants: {figures['variants'] - made} from the store, {made} processed again "
        f"because {figures['purged sources']} sources were purged meanwhile; p50 {figures['p50 ms']:.1f} ms; "
        f"{shown(figures['requests for a new variant'])} for each new variant, "
        f"{shown(figures['requests after the wipe'])} after the wipe")


def joined(figures: dict) -> str:
    return (
        f"{figures['sources moved'] * 100:.0f} % of the sources moved; hit ratio {figures['of four, with the store']:.3f} with "
        f"four nodes, {figures['hit ratio of one node']:.3f} with one node")


def outages(figures: dict) -> str:
    def most(ending: str) -> float:
        return max(value for name, value in figures.items() if name.endswith(ending))

    return (
        f"{figures['answers']:,} answers, p99 at most {most(': p99 s'):.2f} s; memory of three nodes "
        f"{figures['memory before MB']} MB before, at most {most(': memory MB')} MB; store used again within "
        f"{most(': used again after s'):.1f} s; purged content for at most {figures['purged content served until s']:.1f} s")


def purges(figures: dict) -> str:
    count = sum(value for name, value in figures.items() if name.startswith("purges by "))
    return (
        f"{figures['answers']:,} answers, {count} purges; purged content for at most "
        f"{figures['purged content served until s']:.1f} s")


def cold(figures: dict) -> str:
    return (
        f"{figures['rounds']} rounds of {figures['requests each']} requests: at most {max(figures['downloads'])} download and "
        f"{max(figures['productions'])} processed image each; slowest answer {figures['slowest s']:.1f} s")


def shown(operations: dict[str, float]) -> str:
    return " + ".join(f"{count:.2f} {operation}" for operation, count in operations.items() if count)


def slow(figures: dict) -> str:
    def of(ending: str) -> list:
        return [value for name, value in figures.items() if name.endswith(ending)]

    return (
        f"{sum(of('answers of the node')):,} answers of the node, {sum(of(': purges'))} purges; purged content for at most "
        f"{max(of('until s')):.1f} s; purges known after {max(of('known after s')):.1f} s")


def restarts(figures: dict) -> str:
    return (
        f"{figures['purges in the log']} purges in the log, {figures['entries']} images: on disk after each restart "
        f"{', '.join(map(str, figures['kept after each restart']))}; {figures['of which purged while the node was down']} were "
        f"purged before the second one")


def long(figures: dict) -> str:
    return (
        f"{figures['purges in the log']:,} purges in the log: start after {figures['first start with them s']:.1f} s at first, "
        f"then {figures['next start s']:.1f} s, without them {figures['start without them s']:.1f} s; "
        f"{figures['kept on disk']} images kept on disk, {figures['found in the store']} in the store")


def big(figures: dict) -> str:
    return (
        f"{figures['entries']:,} entries: status {figures['status']} after {figures['response after s']:.1f} s, done after "
        f"{figures['done after s']:.1f} s; {figures['of which the other node found']} of {figures['new images']} new images "
        f"found; purged content for at most {figures['purged content served until s']:.1f} s")


def upgrade(figures: dict) -> str:
    reached = sum(value for name, value in figures.items() if name.startswith("purges that reached"))
    return f"{figures['answers']:,} answers, {reached} purges reached all nodes; {purges(figures).partition('; ')[2]}"


TEXTS: dict[str, Callable[[dict], str]] = {
    "kills": kills, "wiped": wiped, "joined": joined, "outages": outages, "purges": purges, "cold": cold,
    "slow": slow, "restarts": restarts, "long": long, "big": big, "upgrade": upgrade,
}


def written(page: Path, conditions: str, figures: dict[str, dict], breaches: dict[str, int]) -> None:
    """Replaces the table between the two comments of a page."""
    if missing := TEXTS.keys() - OPTIONAL - figures.keys():
        raise SystemExit(f"{page} stays as it is: it needs one run of all proofs, without {', '.join(sorted(missing))}")
    before, found, rest = page.read_text().partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise SystemExit(f"{page} has no place for the table: {BEGIN} … {END}")
    rows = [
        f"| `ONLY={number}`, {name} | {CLAIMS[name]} | {text(figures[name])} | {breaches[name]} |"
        for number, (name, text) in enumerate(TEXTS.items(), 1)
        if name in figures
    ]
    lines = [conditions, "", "| Proof | Claim | Result | Breaches |", "|---|---|---|---|", *rows]
    page.write_text("\n".join([before + BEGIN, *lines, END + after]))
