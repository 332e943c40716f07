#!/usr/bin/env python3
"""Tries the playground as a person does, in headless Chromium, on a wide and a narrow screen, light and dark.

It starts the built server by itself. The first thing that is not as it should be ends it with 1; the console of the
browser, where breaches of the Content-Security-Policy show too, has to stay quiet.
"""

import argparse
import sys
from pathlib import Path

from playground import administration, picture
from playground.person import Person, Screen, browser
from playground.server import ROOT, running

SCREENS = [
    Screen(1280, 900, "light"), Screen(1280, 900, "dark"), Screen(360, 740, "light"), Screen(360, 740, "dark"),
]  # fmt: skip


def main() -> int:
    options = arguments()
    if options.screenshots:
        options.screenshots.mkdir(parents=True, exist_ok=True)
    for screen in SCREENS:
        try:
            tell_stories(screen, options)
        except AssertionError as breach:
            print(f"FAILED {breach}", file=sys.stderr)
            return 1
    return 0


def tell_stories(screen: Screen, options: argparse.Namespace) -> None:
    with running(options.server) as address, browser() as driver:
        person = Person(driver, address, screen, options.screenshots)
        for story in picture.STORIES + administration.STORIES:
            try:
                story(person)
                person.sees_quiet_console()
            except AssertionError as breach:
                raise AssertionError(f"{story.__name__}: {breach}") from None
            print(f"ok {screen.name} {story.__name__.replace('_', ' ')}", flush=True)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--server", type=Path, default=ROOT / ".build/debug/darkroom", help="the executable")
    parser.add_argument("--screenshots", type=Path, metavar="FOLDER", help="where pictures of the page are put")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
