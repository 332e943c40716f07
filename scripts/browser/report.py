"""The report of a comparison: agreement by folder, and each difference by its cause."""

from collections import Counter
from typing import NamedTuple

from differences import CAUSES

AGREES, NOT_SHOWN = "agrees", "not shown"


class Outcome(NamedTuple):
    group: str
    name: str
    cause: str
    """One of `CAUSES`, `AGREES` or `NOT_SHOWN`."""
    detail: str
    row: str
    """The row of the table that excuses the difference; empty if none does."""

    @property
    def is_fault(self) -> bool:
        return self.cause in CAUSES and not self.row

    @property
    def path(self) -> str:
        return f"{self.group.partition('/')[0]}/{self.name}"


def printed(outcomes: list[Outcome], title: str) -> None:
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(outcome.group, []).append(outcome)
    width = max(map(len, groups))
    print(f"{title}\n\n{'':{width}}  shown exceptions  agree       ", *(f"{cause:>8}" for cause in CAUSES), sep="")
    for group, part in [*groups.items(), ("all", outcomes)]:
        causes = Counter(one.cause for one in part if not one.row)
        shown = sum(one.cause != NOT_SHOWN for one in part)
        if not shown:
            continue
        counted = shown - sum(bool(one.row) for one in part)
        percent = f"{100 * causes[AGREES] // counted} %" if counted else "–"
        columns = f"{shown:7} {shown - counted:10} {causes[AGREES]:6} {percent:>6}"
        print(f"{group:{width}}{columns}", *(f"{causes[cause]:8}" for cause in CAUSES), sep="")
    for cause in CAUSES:
        if faults := [one for one in outcomes if one.cause == cause and one.is_fault]:
            print(f"\n{cause}:", *(f"  {one.path}: {one.detail}" for one in faults), sep="\n")
    if excused := [one for one in outcomes if one.row]:
        print("\nexceptions:", *(f"  {one.path}: {one.cause}, {one.detail} ({one.row})" for one in excused), sep="\n")


def tabulated(outcomes: list[Outcome]) -> str:
    return "".join("\t".join([one.group, one.name, one.cause, one.row, one.detail]) + "\n" for one in outcomes)
