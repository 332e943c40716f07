#!/usr/bin/env python3
"""Tests the playground in headless Chromium, on a wide and a narrow screen, in light and dark mode.

Starts the built server itself and exits with 1 at the first failure. The browser's console, which also reports
violations of the Content-Security-Policy, must have no messages.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from playground import administration, foreign, image, samples
from playground.person import Person, Screen, browser
from playground.server import ROOT, running

SCREENS = [
    Screen(1280, 900, "light"), Screen(1280, 900, "dark"), Screen(360, 740, "light"), Screen(360, 740, "dark"),
]  # fmt: skip


def main() -> int:
    options = arguments()
    if options.screenshots:
        options.screenshots.mkdir(parents=True, exist_ok=True)
    try:
        samples.sees_no_page_that_is_turned_off(options.server)
        samples.sees_what_a_server_with_keys_needs(options.server, SCREENS[0])
        for screen in SCREENS:
            run_scenarios(samples.SCENARIOS, screen, options, local_root=None)
            run_scenarios(image.SCENARIOS + foreign.SCENARIOS + administration.SCENARIOS, screen, options, local_root=ROOT / "Fixtures/images")
    except AssertionError as failure:
        print(f"FAILED {failure}", file=sys.stderr)
        return 1
    return 0


def run_scenarios(
    scenarios: list[Callable[[Person], None]], screen: Screen, options: argparse.Namespace, local_root: Path | None
) -> None:
    with running(options.server, local_root) as address, browser() as driver:
        person = Person(driver, address, screen, options.screenshots)
        for scenario in scenarios:
            try:
                scenario(person)
                person.sees_quiet_console()
            except AssertionError as failure:
                raise AssertionError(f"{scenario.__name__}: {failure}") from None
            print(f"ok {screen.name} {scenario.__name__.replace('_', ' ')}", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", type=Path, default=ROOT / ".build/debug/darkroom", help="path of the executable")
    parser.add_argument("--screenshots", type=Path, metavar="FOLDER", help="directory for screenshots")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
