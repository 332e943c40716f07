"""Compares Darkroom with headless Chromium: each file of a folder as the browser shows it, and our PNG of it in full size.

Both are drawn to small canvases of one size. They agree if size, alpha and premultiplied color do; for drawings, the ratio of
the sides counts instead of the size. A file that the browser does not show does not count. Differences that a row of the
table in docs/browsers.md states are exceptions. Exit status: 0 all agree, 1 a difference, 2 wrong usage.
"""

import argparse
import os
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parent.parent.parent
# A server, and requests to it.
sys.path.append(str(ROOT / "scripts/proofs"))

import differences  # noqa: E402
import references  # noqa: E402
from comparison import compared, misses, png_of, reduced, side_by_side  # noqa: E402
from origin import Origin  # noqa: E402
from report import AGREES, NOT_SHOWN, Outcome, printed, tabulated  # noqa: E402
from server import Answer, Server  # noqa: E402
from service import File, Service, has_ratio, size_of  # noqa: E402
from viewers import STORED_SIDE, Browser, NotShown, Shown, Stored  # noqa: E402

SETTINGS = ("--allow-networks=127.0.0.0/8", "--log-level=error")
AHEAD = 4
"""Results that are requested before the browser needs them."""
Item, Value = TypeVar("Item"), TypeVar("Value")


def main() -> int:
    options = parse_arguments()
    if missed := misses():
        print(f"browser: the comparison misses {', '.join(missed)}", file=sys.stderr)
        return 1
    with ExitStack() as running:
        folder = running.enter_context(tempfile.TemporaryDirectory(prefix="darkroom-browser-"))
        server = Server(options.server, Path(folder), *SETTINGS, *options.settings.split())
        running.callback(server.stop)
        server.wait_until_it_listens()
        service = Service(server, Origin())
        viewer = chosen_viewer(service, options)
        running.callback(viewer.stop)
        began = time.monotonic()
        judge = Judge(viewer, options.pictures)
        outcomes = [judge.judged(file, answer) for file, answer in ahead(service.ask, found(options))]
        seconds = time.monotonic() - began
    if not outcomes:
        print("browser: no files", file=sys.stderr)
        return 2
    if options.table:
        options.table.write_text(tabulated(outcomes))
    if options.store:
        references.write(options.store, judge.references)
    printed(outcomes, f"{len(outcomes)} files, {viewer.name}, {seconds:.0f} s")
    return 1 if any(outcome.is_fault for outcome in outcomes) else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="browser", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="*", help="folders or files (default: Fixtures/images)")
    parser.add_argument("--server", type=Path, default=ROOT / ".build/debug/darkroom", help="path of the executable")
    parser.add_argument("--settings", default="", help="further settings of the server, separated by spaces")
    parser.add_argument("--only", metavar="PATTERN", help="only files whose name or path matches, such as '*.avif'")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="a sample: one of N files")
    parser.add_argument("--table", type=Path, metavar="FILE", help="writes a line for each file: folder, name, cause, row, figures")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="writes what differs: left as the browser shows it, right our result")
    parser.add_argument("--references", type=Path, metavar="FOLDER", help="compares with stored references, without a browser")
    parser.add_argument("--store", type=Path, metavar="FOLDER", help="stores how the browser shows the files as references")
    options = parser.parse_args()
    options.folders = options.folders or [ROOT / "Fixtures/images"]
    if missing := [path for path in options.folders if not path.exists()]:
        parser.error(f"{missing[0]} does not exist")
    if not os.access(options.server, os.X_OK):
        parser.error(f"no executable at {options.server}; build it with `swift build --product darkroom`")
    if options.references and options.store:
        parser.error("--store needs the browser, --references replaces it")
    return options


def found(options: argparse.Namespace) -> Iterator[File]:
    number = 0
    for folder in options.folders:
        for path in sorted(folder.rglob("*")) if folder.is_dir() else [folder]:
            name = str(path.relative_to(folder if folder.is_dir() else folder.parent))
            is_named = not options.only or fnmatchcase(name, options.only) or fnmatchcase(path.name, options.only)
            if not is_named or not path.is_file():
                continue
            number += 1
            if number % options.every == 0:
                yield File.read(number, f"{folder.name}/{name.partition('/')[0]}" if "/" in name else folder.name, name, path)


def ahead(work: Callable[[Item], Value], items: Iterable[Item]) -> Iterator[tuple[Item, Value]]:
    """The results of work in order, a few of them begun before they are needed."""
    with ThreadPoolExecutor(2) as pool:
        begun: deque[tuple[Item, Future[Value]]] = deque()
        for item in items:
            begun.append((item, pool.submit(work, item)))
            if len(begun) > AHEAD:
                done, future = begun.popleft()
                yield done, future.result()
        for done, future in begun:
            yield done, future.result()


def chosen_viewer(service: Service, options: argparse.Namespace) -> Browser | Stored:
    if options.references:
        return Stored(service, options.references)
    return Browser(service, STORED_SIDE) if options.store else Browser(service)


class Judge:
    def __init__(self, viewer: Browser | Stored, pictures: Path | None) -> None:
        self.viewer, self.pictures = viewer, pictures
        self.rows = differences.rows()
        self.references: dict[str, references.Picture | None] = {}
        """How the browser shows the files so far."""

    def judged(self, file: File, answer: Answer) -> Outcome:
        try:
            return self._judged(file, answer, self.viewer.shows(file, answer))
        except NotShown as reason:
            self.references[file.name] = None
            return Outcome(file.group, file.name, NOT_SHOWN, str(reason), "")
        finally:
            self.viewer.service.withdraw(file)

    def _judged(self, file: File, answer: Answer, shown: Shown) -> Outcome:
        if not shown.pixels.any() and answer.status != 200:
            raise NotShown(f"blank; {answer.status} {answer.problem}")
        cause, detail = difference(file, answer, shown)
        if self.pictures and cause != AGREES:
            path = self.pictures / cause / f"{file.name}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(png_of(side_by_side(shown.pixels, shown.result_pixels)))
        is_damaged = answer.status == 422 and self.viewer.finds_damage(file) and self.viewer.service.finds_damage(file)
        row = next((row.name for row in self.rows if row.covers(file.name, file.body, cause, is_damaged)), "")
        self.references[file.name] = references.Picture(shown.size, png_of(reduced(shown.pixels)), row)
        return Outcome(file.group, file.name, cause, detail, row)


def difference(file: File, answer: Answer, shown: Shown) -> tuple[str, str]:
    size = size_of(answer)
    if size is None:
        return "refused", f"{answer.status} {answer.problem}"
    sizes = "" if size == shown.size else "{}×{}, not {}×{}".format(*size, *shown.size)
    if sizes and not (file.is_drawing and has_ratio(size, shown.size)):
        return "size", sizes
    if shown.result_pixels is None:
        return "refused", "the result is not an image to the browser"
    pair = compared(shown.pixels, shown.result_pixels)
    return pair.cause or AGREES, "; ".join(filter(None, [str(pair), sizes]))


if __name__ == "__main__":
    sys.exit(main())
