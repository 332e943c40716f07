"""Runs the attacks and prints the results."""

import argparse
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

from attack import judge
from attack.judge import Check
from attack.lab import Lab
from ssrf import namespace

Attack = Callable[[Lab], Iterator[Check]]
THEMES = [
    "rotation", "drawings", "expensive", "steps", "hosts", "shares", "readers", "access", "signatures", "origins",
    "process", "store", "connections", "disks", "streams", "configuration",
]
NAMES = "names"
"""The theme that needs a network namespace."""


class NotSupported(Exception):
    """Why a theme cannot run on this machine."""


def run(arguments: argparse.Namespace) -> int:
    if arguments.list:
        return listed()
    wanted = set(filter(None, arguments.only.split(",")))
    if unknown := wanted - known():
        print(f"attack: unknown: {', '.join(sorted(unknown))}; --list shows all", file=sys.stderr)
        return 2
    if arguments.inside:
        namespace.prepare(options="")
        return status([breaches_of(NAMES, wanted, arguments)])
    if not judge.sees():
        return 1
    broken = [breaches_of(theme, wanted, arguments) for theme in THEMES]
    if not wanted or wanted & {NAMES, *attacks(NAMES)}:
        broken.append(breaches_of_names(wanted, arguments))
    return status(broken)


def status(breaches: list[int | None]) -> int:
    """77 if a theme could not run and no other one found a breach."""
    if any(breaches):
        return 1
    return namespace.CANNOT_RUN if None in breaches else 0


def attacks(theme: str) -> dict[str, Attack]:
    return {attack.__name__: attack for attack in import_module(f"attack.{theme}").ATTACKS}


def known() -> set[str]:
    return {name for theme in [*THEMES, NAMES] for name in (theme, *attacks(theme))}


def listed() -> int:
    for theme in [*THEMES, NAMES]:
        print(theme)
        for name, attack in attacks(theme).items():
            print(f"  {name:26} {' '.join(attack.__doc__.split())}")
    return 0


def breaches_of(theme: str, wanted: set[str], arguments: argparse.Namespace) -> int | None:
    """The number of exceeded bounds of a theme; None if it cannot run here."""
    chosen = {name: attack for name, attack in attacks(theme).items() if not wanted or wanted & {theme, name}}
    if not chosen:
        return 0
    with tempfile.TemporaryDirectory(prefix="darkroom-attack-", ignore_cleanup_errors=True) as folder:
        lab = Lab(arguments.server, Path(folder), arguments.settings.split())
        try:
            return sum(breaches(theme, name, attack, lab) for name, attack in chosen.items())
        except NotSupported as error:
            print(f"attack: {theme} not run: {error}", file=sys.stderr, flush=True)
            return None
        finally:
            lab.close()


def breaches(theme: str, name: str, attack: Attack, lab: Lab) -> int:
    """Runs one attack. One that cannot be completed, such as against a server that ended, is a breach."""
    print(f"attack: {theme}/{name}: {' '.join(attack.__doc__.split())}", flush=True)
    broken, began = 0, time.monotonic()
    try:
        for check in attack(lab):
            print(f"attack:   {'pass' if check.holds else 'FAIL'}  {check.seen}", flush=True)
            broken += not check.holds
    except NotSupported:
        raise
    except Exception as error:
        traceback.print_exc()
        print(f"attack:   FAIL  could not be completed: {error!r}", flush=True)
        broken += 1
    print(f"attack:   {time.monotonic() - began:.0f} s", flush=True)
    return broken


def breaches_of_names(wanted: set[str], arguments: argparse.Namespace) -> int | None:
    only = wanted & set(attacks(NAMES)) or {NAMES}
    command = [sys.argv[0], f"--server={arguments.server}", "attack", f"--only={','.join(sorted(only))}"]
    code = namespace.enter([*command, f"--settings={arguments.settings}"])
    return None if code == namespace.CANNOT_RUN else code
